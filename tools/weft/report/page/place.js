// SPDX-License-Identifier: Apache-2.0
// All that is known of the chosen place.

import { bars, endCharts } from "./charts.js";
import { choose, onChoice } from "./choice.js";
import { fileAndLine, overheadPerPiece, pathTo, pieceOf } from "./data.js";
import { by, h, show, table } from "./dom.js";
import { count, percent, seconds } from "./figures.js";
import { partsOf } from "./headline.js";
import { histogramOf } from "./histogram.js";
import { KINDS, LOSSES } from "./words.js";

function link(site) {
  return h("button", { type: "button", class: "plain", on: { click: () => choose(site) } }, site.label);
}

function path(site) {
  const above = pathTo(site).slice(0, -1);
  if (above.length === 0) return null;
  return h(
    "nav",
    { "aria-label": "The places around it" },
    h("ol", { class: "path" }, above.map((outer) => h("li", {}, link(outer)))),
  );
}

function binary({ object, offset }) {
  if (!object) return "";
  return `${object.split("/").pop()} + 0x${Number(offset ?? 0).toString(16)}`;
}

function figures(site) {
  const cost = overheadPerPiece(site);
  const many = pieceOf(site);
  const stolen = site.pieces > 0 ? ` (${percent(site.stolen / site.pieces)})` : "";
  const rows = [
    ["Useful work", `${seconds(site.useful)}`, "CPU time of the program's own work here, without the places within"],
    ["Lost", seconds(site.lostInAll), "CPU time that this place is to blame for"],
    ["Elapsed", seconds(site.wall), "Time in which any thread was in it"],
    ["Count", count(site.count), "How often it was executed"],
    site.members > 0 && ["Members", count(site.members), "Threads of the largest team"],
    site.requested > 0 && ["Threads asked for", count(site.requested), "The largest number that the program asked for"],
    site.iterations > 0 && ["Iterations", count(site.iterations), "Of the loop, all executions together"],
    site.pieces > 0 && [
      many[0].toUpperCase() + many.slice(1),
      count(site.pieces),
      "Parts in which the work was dealt out",
    ],
    site.stolen > 0 && [
      "Stolen",
      count(site.stolen) + stolen,
      "Taken by another member than the one they were meant for",
    ],
    cost > 0 && [`Overhead per ${pieceOf(site, false)}`, seconds(cost), "CPU time of the runtime for each"],
    site.schedule && ["Schedule", site.schedule, "How iterations are dealt out"],
    site.kind === "region" && site.level > 0 && ["Nesting", `level ${site.level}`, "Regions around it"],
  ];
  return h(
    "dl",
    { class: "figures" },
    rows.filter(Boolean).map(([word, value, title]) => h("div", { title }, h("dt", {}, word), h("dd", {}, value))),
  );
}

function losses(site) {
  const rows = LOSSES.map((loss) => ({ ...loss, value: site.lost[loss.key] ?? 0 }))
    .filter((row) => row.value > 0)
    .sort((a, b) => b.value - a.value);
  if (rows.length === 0) return null;
  const made = bars(`Bars: CPU time lost here, by reason. A table follows.`, rows, seconds);
  return {
    elements: [
      h("h4", {}, "CPU time lost here"),
      made.box,
      h(
        "details",
        {},
        h("summary", {}, "These bars as a table"),
        table(
          "CPU time that this place is to blame for",
          ["Reason", { text: "CPU time", number: true }, "Meaning"],
          rows.map((row) => [row.word, seconds(row.value), row.brief]),
        ),
      ),
    ],
    draw: made.draw,
  };
}

function factorsOf(site) {
  if (!site.factors || !("parallel_efficiency" in site.factors)) return null;
  const [useful, ...lost] = partsOf(site.factors);
  const rows = [useful, ...lost.filter((part) => part.part > 0)].map((part) => ({ ...part, value: part.part }));
  const made = bars(
    `Bars: the parts of the region's CPU time, which make up 100 %. A table follows.`,
    rows,
    percent,
    1,
  );
  return {
    elements: [
      h("h4", {}, "Parallel efficiency of the region"),
      h(
        "p",
        {},
        `${percent(useful.part)} of the CPU time of this region, with all that is in it, was useful work.`,
      ),
      made.box,
      h(
        "details",
        {},
        h("summary", {}, "These bars as a table"),
        table(
          "Parts of the region's CPU time. A factor is 1 less the part that was lost.",
          ["What", { text: "Part", number: true }, { text: "Factor", number: true }],
          rows.map((row) => [row.word, percent(row.part), row.key === "useful" ? "" : percent(1 - row.part)]),
        ),
      ),
    ],
    draw: made.draw,
  };
}

// What is within, the largest loss first.
function placesWithin(site) {
  if (site.children.length === 0) return null;
  const children = [...site.children].sort((a, b) => b.within.lostInAll - a.within.lostInAll);
  return [
    h("h4", {}, "Places within"),
    h(
      "ul",
      {},
      children.slice(0, 12).map((child) => {
        const about = ` ${child.word}, ${seconds(child.within.lostInAll)} lost`;
        return h("li", {}, link(child), h("span", { class: "hint" }, about));
      }),
    ),
  ];
}

// The function, and where it is in which file of the program.
function code({ place }) {
  if (!place.function && !place.object) return null;
  const callee = place.function && ["in ", h("code", {}, place.function), " "];
  return h("p", { class: "break" }, callee, h("span", { class: "hint" }, binary(place)));
}

// The lines around it, as they were when the program ran.
function source({ place }) {
  const { first, lines } = place.excerpt ?? {};
  if (!lines?.length) return null;
  const width = String(first + lines.length - 1).length;
  return h(
    "pre",
    { class: "source", tabindex: 0, "aria-label": "Lines of the source" },
    lines.map((line, index) => {
      const number = first + index;
      const text = `${String(number).padStart(width)}  ${line}\n`;
      return number === place.line ? h("mark", { "aria-current": "true" }, text) : h("span", {}, text);
    }),
  );
}

function showPlace(site, advice) {
  const content = by("place-content");
  endCharts(content);
  by("place-title").textContent = site.name;
  const parts = [losses(site), histogramOf(site), factorsOf(site)].filter(Boolean);
  const about = advice.filter((row) => row.site === site.number);
  show(
    "place-content",
    path(site),
    h("p", { class: "break" }, h("span", { class: "kind" }, site.word), " ", KINDS[site.kind] ?? "", "."),
    fileAndLine(site) && h("p", { class: "break" }, h("code", {}, fileAndLine(site))),
    code(site),
    source(site),
    about.map((row) => h("p", { class: "notice" }, row.title, " ", h("a", { href: "#advice" }, "See the advice."))),
    figures(site),
    parts.map((part) => part.elements),
    placesWithin(site),
  );
  for (const part of parts) part.draw();
}

export function startPlace({ advice, sites }) {
  onChoice((site) => showPlace(site, advice));
  const worst = sites.reduce((a, b) => (b.lostInAll > (a?.lostInAll ?? -1) ? b : a), null);
  choose(sites[advice[0]?.site] ?? worst);
}
