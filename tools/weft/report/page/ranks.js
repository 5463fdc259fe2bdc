// SPDX-License-Identifier: Apache-2.0
// The ranks of an MPI program, where the report is about several.

import { by, h, scrolled, show, table } from "./dom.js";
import { column, count, percent, seconds } from "./figures.js";
import { LOSSES } from "./words.js";

// What a program would use of its ranks if all had as much work as the one that has most.
function balanceOf(ranks) {
  const most = Math.max(...ranks.map((rank) => rank.useful));
  return most > 0 ? ranks.reduce((sum, rank) => sum + rank.useful, 0) / ranks.length / most : 1;
}

export function showRanks({ ranks }) {
  if (ranks.length < 2) return;
  by("ranks").hidden = false;
  by("to-ranks").hidden = false;
  const useful = column(ranks.map((rank) => rank.useful));
  const waited = column(ranks.map((rank) => rank.waited));
  const losses = LOSSES.filter(({ key }) => ranks.some((rank) => rank.lost?.[key] > 0));
  const lost = column(ranks.flatMap((rank) => LOSSES.map(({ key }) => rank.lost?.[key] ?? 0)));
  const number = (text, title) => ({ text, number: true, title });
  const list = scrolled(
    "Ranks",
    table(
      "What each rank did with its CPUs: CPU seconds, but for the time",
      [
        "Rank",
        "Host",
        number("Time"),
        number("CPUs"),
        number("Efficiency", "Parallel efficiency: the part of the rank's CPUs × time that was the program's work."),
        number("Useful"),
        number("Waited in MPI", "Seconds in calls of MPI that wait, of all threads and tasks together."),
        ...losses.map(({ word, brief }) => number(word, brief)),
      ],
      ranks.map((rank) => [
        String(rank.rank),
        rank.host + (rank.exit_code ? ` (exit code ${rank.exit_code})` : ""),
        seconds(rank.seconds),
        count(rank.cpus),
        percent(rank.parallel_efficiency ?? 1),
        useful(rank.useful),
        waited(rank.waited ?? 0),
        ...losses.map(({ key }) => lost(rank.lost?.[key] ?? 0)),
      ]),
      { id: "ranks-table" },
    ),
  );
  const sorted = [...ranks].sort((a, b) => b.useful - a.useful);
  const most = sorted[0];
  const least = sorted.at(-1);
  const text =
    `Rank ${most.rank} worked most (${seconds(most.useful)} of CPU time), rank ${least.rank} least ` +
    `(${seconds(least.useful)}). The balance of the ranks is ${percent(balanceOf(ranks))}: the work of a rank on ` +
    "average, as a part of the most that a rank had.";
  show("ranks-content", h("div", { class: "card" }, h("p", { id: "ranks-claim" }, text), list));
}
