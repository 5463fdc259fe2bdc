// SPDX-License-Identifier: Apache-2.0
// The columns of the table of places: what each shows, sorts by, and means.

import { fileAndLine } from "./data.js";
import { h } from "./dom.js";
import { column, count, percent, seconds } from "./figures.js";
import { LOSSES } from "./words.js";

// The reasons of a loss, the largest first.
function reasonsOf({ lost }) {
  return LOSSES.filter(({ key }) => lost[key] > 0).sort((a, b) => lost[b.key] - lost[a.key]);
}

// Losses as a small bar, as long as their part of the largest one.
function miniBar(of, largest) {
  if (!(of.lostInAll > 0)) return null;
  return h(
    "div",
    { class: "mini", "aria-hidden": "true" },
    reasonsOf(of).map(({ key }) =>
      h("span", { class: `fill-${key}`, style: { width: `${(100 * of.lost[key]) / largest}%` } }),
    ),
    h("span", { style: { flex: 1 } }),
  );
}

// Each: key, label, unit, means, value (to sort by), cell (what is shown), title, and whether only `reasons` shows it.
// Times are the site's own, or with `sums` those of all that is within as well.
export function columnsFor(sites, sums) {
  const of = (site) => (sums ? site.within : site);
  const cpuSeconds = column(sites.flatMap((site) => [of(site).lostInAll, of(site).useful]));
  const largest = Math.max(...sites.map((site) => of(site).lostInAll));
  const lostBy = (key) => (site) => of(site).lost[key] ?? 0;
  const loss = ({ key, word, brief }, always) => ({
    key,
    label: word,
    unit: "CPU s",
    means: `CPU time lost here. ${brief}`,
    value: lostBy(key),
    cell: (site) => cpuSeconds(lostBy(key)(site)),
    reason: !always,
  });
  const named = (key) => LOSSES.find((l) => l.key === key);
  return [
    {
      key: "name",
      label: "Place",
      means: "The construct's file and line, or its function and library where there is no debug information.",
      text: true,
      value: (site) => site.name,
    },
    {
      key: "kind",
      label: "Kind",
      means: "What construct it is. The details of a place explain the kind.",
      text: true,
      value: (site) => site.word,
      cell: (site) => h("span", { class: "kind" }, site.word),
    },
    {
      key: "lost",
      label: "Lost",
      unit: "CPU s",
      means: "CPU time that the place is to blame for, by all reasons. The bar has the reasons' colours.",
      value: (site) => of(site).lostInAll,
      cell: (site) => [cpuSeconds(of(site).lostInAll), miniBar(of(site), largest)],
      title: (site) =>
        reasonsOf(of(site))
          .map(({ key, word }) => `${word.toLowerCase()} ${seconds(of(site).lost[key])}`)
          .join(", "),
    },
    loss(named("imbalance"), true),
    loss(named("overhead"), true),
    ...LOSSES.filter(({ key }) => key !== "imbalance" && key !== "overhead").map((l) => loss(l, false)),
    {
      key: "useful",
      label: "Useful",
      unit: "CPU s",
      means: "CPU time of the program's own work. A list has each place's own, a tree the sum with the places within.",
      value: (site) => of(site).useful,
      cell: (site) => cpuSeconds(of(site).useful),
    },
    {
      key: "count",
      label: "Count",
      means: "How often the construct was executed.",
      value: (site) => site.count,
      cell: (site) => count(site.count),
    },
    {
      key: "mean",
      label: "Mean length",
      means: "How long a piece of work is on average: a task, a chunk of a loop, an execution of a region.",
      value: (site) => (site.lengths.timed > 0 ? site.lengths.mean : 0),
      cell: (site) => (site.lengths.timed > 0 ? seconds(site.lengths.mean) : "–"),
    },
    {
      key: "members",
      label: "Members",
      means: "Threads of the largest team that executed it.",
      value: (site) => site.members,
      cell: (site) => (site.members > 0 ? count(site.members) : "–"),
    },
    {
      key: "pieces",
      label: "Chunks or tasks",
      means: "Parts in which the work was dealt out.",
      value: (site) => site.pieces,
      cell: (site) => count(site.pieces),
    },
    {
      key: "stolen",
      label: "Stolen",
      means:
        "Chunks that another member took than the one they were meant for. Many of them are a sign of uneven work.",
      value: (site) => site.stolen,
      cell: (site) => count(site.stolen),
      title: (site) => (site.pieces > 0 ? `${percent(site.stolen / site.pieces)} of the chunks` : undefined),
    },
  ];
}

// Everything of a site that the filter's text may match.
export function textOf(site) {
  const { function: callee, object } = site.place;
  return `${site.name} ${site.kind} ${site.word} ${callee ?? ""} ${fileAndLine(site)} ${object ?? ""}`.toLowerCase();
}
