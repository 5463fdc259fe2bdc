// SPDX-License-Identifier: Apache-2.0
// Waits for messages of other processes, by call and peer. Programs without MPI have none.

import { bars } from "./charts.js";
import { by, h, scrolled, show, table } from "./dom.js";
import { count, seconds } from "./figures.js";

export function showMessages({ messages }) {
  if (messages.length === 0) return;
  by("messages").hidden = false;
  by("to-messages").hidden = false;
  const byCall = new Map();
  for (const row of messages) byCall.set(row.call, (byCall.get(row.call) ?? 0) + row.waited);
  const calls = [...byCall]
    .map(([word, value]) => ({ word, value, key: "transfer" }))
    .sort((a, b) => b.value - a.value)
    .slice(0, 12);
  const made = bars("Bars: time that each call of MPI waited. The table beside has it by peer.", calls, seconds);
  const byRank = messages.some((row) => row.rank >= 0);
  const sorted = [...messages].sort((a, b) => b.waited - a.waited);
  show(
    "messages-content",
    h(
      "div",
      { class: "two" },
      h("div", { class: "card" }, h("h3", {}, "By call"), made.box),
      h(
        "div",
        { class: "card" },
        h("h3", {}, byRank ? "By call, rank and peer" : "By call and peer"),
        scrolled(
          "Messages by call and peer",
          table(
            "A peer is the rank that the message came from or went to",
            ["Call", ...(byRank ? ["Rank"] : []), "Peer", ...["Count", "Waited", "Mean"].map((text) => ({ text, number: true }))],
            sorted.map((row) => [
              row.call,
              ...(byRank ? [row.rank >= 0 ? String(row.rank) : "–"] : []),
              row.peer < 0 ? "any or all" : `rank ${row.peer}`,
              count(row.count),
              seconds(row.waited),
              row.count > 0 ? seconds(row.waited / row.count) : "–",
            ]),
            { id: "messages-table" },
          ),
        ),
      ),
    ),
  );
  made.draw();
}
