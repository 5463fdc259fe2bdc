// SPDX-License-Identifier: Apache-2.0
// The whole of CPUs x time as one bar: useful work and the losses make up 100 %.

import { chart, labelled } from "./charts.js";
import { choose, goToDetails } from "./choice.js";
import { isMeasured } from "./data.js";
import { h, show, table } from "./dom.js";
import { column, percent } from "./figures.js";
import { partsOf } from "./headline.js";
import { colour } from "./theme.js";

function bar(parts) {
  const shown = parts.filter((p) => p.part > 0);
  const said = shown.map((p) => `${p.word} ${percent(p.part)}`);
  return chart(`One bar of CPUs × time: ${said.join(", ")}. The table below has the same figures.`, 96, () => ({
    type: "bar",
    data: {
      labels: [""],
      datasets: shown.map((p) => ({
        label: p.word,
        data: [100 * p.part],
        backgroundColor: colour(p.key),
        borderColor: colour("card"),
        borderWidth: { left: 0, right: 2, top: 0, bottom: 0 },
        borderSkipped: false,
        barThickness: 54,
      })),
    },
    options: {
      indexAxis: "y",
      layout: { padding: 0 },
      scales: {
        x: { stacked: true, min: 0, max: 100, grid: { display: false }, ticks: { callback: (v) => `${v} %` } },
        y: { stacked: true, display: false },
      },
      interaction: { mode: "nearest", axis: "x", intersect: true },
      plugins: {
        tooltip: {
          callbacks: { title: () => "", label: (item) => `${item.dataset.label}: ${percent(item.raw / 100)}` },
        },
      },
    },
    plugins: [labelled(shown.map((p) => [p.word, percent(p.part)]))],
  }));
}

// The place that lost most for this reason.
function worstFor(key, sites) {
  let worst = null;
  for (const site of sites) {
    if ((site.lost[key] ?? 0) > (worst?.lost[key] ?? 0)) worst = site;
  }
  return worst;
}

function worstButton(site) {
  if (!site) return "–";
  const click = () => {
    choose(site);
    goToDetails();
  };
  return h("button", { type: "button", class: "plain", on: { click } }, site.label);
}

export function showFactors({ run, factors, sites }) {
  if (!isMeasured({ run })) {
    show("factors-content", h("p", { class: "card" }, "The run was too short to say where its CPU time went."));
    return;
  }
  const parts = partsOf(factors);
  const whole = run.cpus * run.seconds;
  const cpuSeconds = column(parts.map((p) => p.part * whole));
  const cpus = column(parts.map((p) => p.part * run.cpus));
  const made = bar(parts);
  const figures = table(
    "CPU time by what became of it. Average CPUs are the part of all CPUs that this is.",
    [
      { text: "What" },
      { text: "Part", number: true, title: "of CPUs × time" },
      { text: "CPU seconds", number: true },
      { text: "Average CPUs", number: true },
      { text: "Meaning" },
      { text: "Lost most at", title: "The place that is to blame for the largest part" },
    ],
    parts.map((p) => [
      h("span", { class: "word" }, h("span", { class: `chip fill-${p.key}` }), p.word),
      percent(p.part),
      cpuSeconds(p.part * whole),
      cpus(p.part * run.cpus),
      h("details", {}, h("summary", {}, p.brief), h("p", { class: "meaning" }, p.meaning)),
      p.key === "useful" ? "" : worstButton(worstFor(p.key, sites)),
    ]),
    { class: "factors-table", id: "factors-table" },
  );
  keepRoles(figures);
  show("factors-content", h("div", { class: "card" }, made.box, figures));
  made.draw();
}

// Narrow pages lay the rows out in another way, which would make them no rows of a table for screen readers.
function keepRoles(element) {
  const roles = { table: "table", thead: "rowgroup", tbody: "rowgroup", tr: "row", td: "cell" };
  for (const [tag, role] of Object.entries(roles)) {
    for (const part of [element, ...element.querySelectorAll(tag)]) {
      if (part.matches(tag)) part.setAttribute("role", role);
    }
  }
  for (const head of element.querySelectorAll("th")) {
    head.setAttribute("role", head.scope === "col" ? "columnheader" : "rowheader");
  }
}
