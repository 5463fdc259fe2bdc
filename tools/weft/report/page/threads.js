// SPDX-License-Identifier: Apache-2.0
// The threads of the process, by whom they belong to: other libraries' first, since those take CPUs.

import { h, scrolled, show, table } from "./dom.js";
import { column, counted, percent } from "./figures.js";
import { OWNERS } from "./words.js";

export function showThreads({ run, threads }) {
  if (threads.length === 0) {
    show("threads-content", h("p", { class: "card" }, "No thread was seen."));
    return;
  }
  const whole = run.cpus * run.seconds;
  const cpuSeconds = column(threads.map((thread) => thread.cpu));
  const owners = [...new Set([...Object.keys(OWNERS), ...threads.map((thread) => thread.whose)])];
  const groups = owners
    .map((whose) => ({ whose, rows: threads.filter((t) => t.whose === whose).sort((a, b) => b.cpu - a.cpu) }))
    .filter((group) => group.rows.length > 0);
  show(
    "threads-content",
    h(
      "div",
      { class: "two" },
      groups.map(({ whose, rows }) => {
        const sum = rows.reduce((all, row) => all + row.cpu, 0);
        const list = scrolled(
          `Threads: ${whose}`,
          table(
            "CPU seconds, and their part of CPUs × time",
            [{ text: "Thread" }, { text: "CPU seconds", number: true }, { text: "Part", number: true }],
            rows.map((row) => [row.name, cpuSeconds(row.cpu), whole > 0 ? percent(row.cpu / whole) : "–"]),
            { class: "threads" },
          ),
        );
        const many = rows.length > 12;
        return h(
          "div",
          { class: "card" },
          h("h3", {}, `${OWNERS[whose]?.word ?? whose}: ${counted(rows.length, "thread")}, ` +
            `${cpuSeconds(sum)} CPU seconds`),
          h("p", { class: "hint" }, OWNERS[whose]?.meaning),
          many ? h("details", {}, h("summary", {}, "Each of them"), list) : list,
        );
      }),
    ),
  );
}
