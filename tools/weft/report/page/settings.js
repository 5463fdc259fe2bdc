// SPDX-License-Identifier: Apache-2.0
// How the run was set up and measured, and what a reader has to know of the figures.

import { by, h, show, table } from "./dom.js";
import { count, percent, seconds } from "./figures.js";

export function showSettings({ run }) {
  by("version").textContent = run.version;
  const settings = Object.entries(run.settings ?? {}).map(([name, value]) => [name, h("code", {}, value)]);
  const measured = run.is_trace
    ? [["Made of", "a trace: each event is known"]]
    : [
        ["Samples", count(run.samples)],
        ["Time between two samples", seconds(run.period)],
      ];
  measured.push(["Version", run.version]);
  if (run.own_seconds > 0) {
    measured.push(["Time under its own OpenMP runtime", seconds(run.own_seconds)]);
    measured.push(["CPU time under that", seconds(run.own_cpu_seconds)]);
  }
  if (run.others_cpu > 0) measured.push(["CPU time of other processes meanwhile", seconds(run.others_cpu)]);
  if (run.node?.others > 0) {
    const { share, lent, borrowed, waited } = run.node;
    measured.push(["CPU time that was its share of the node", seconds(share)]);
    measured.push(["of which it lent", seconds(lent)]);
    measured.push(["CPU time of other processes' shares that it had", seconds(borrowed)]);
    measured.push(["Time in which it had less than its share and wanted more", seconds(waited)]);
  }
  if (run.memory_nodes > 1) {
    measured.push(["Nodes of memory", count(run.memory_nodes)]);
    const part = run.memory_on_one_node > 0 ? percent(run.memory_on_one_node) : "not known";
    measured.push(["Largest part of the pages on one node", part]);
  }
  show(
    "settings-content",
    run.notes?.length > 0 &&
      h("ul", { class: "notes", id: "notes", "aria-label": "Notes" }, run.notes.map((note) => h("li", {}, note))),
    h(
      "div",
      { class: "two" },
      h(
        "div",
        { class: "card" },
        h("h3", {}, "Settings"),
        settings.length > 0
          ? table("Variables that say how OpenMP runs", ["Variable", "Value"], settings, { id: "settings-table" })
          : h("p", { class: "hint" }, "No variable of OpenMP or weft was set."),
      ),
      h(
        "div",
        { class: "card" },
        h("h3", {}, "Measurement"),
        table("How the figures were made", ["What", "Value"], measured),
      ),
    ),
  );
}
