// SPDX-License-Identifier: Apache-2.0
// The report, as the command wrote it into the page, with what all parts of the page need to know of a site.

import { LOSSES } from "./words.js";

const FORMAT = "weft report 1";

// Throws an Error with a text for the reader where there is no report, or one that this page does not know.
export function readReport() {
  const text = document.getElementById("report").textContent;
  let report;
  try {
    report = JSON.parse(text);
  } catch {
    throw new Error("The page has no report inside that can be read. Run weft report again to make a new page.");
  }
  if (report?.format !== FORMAT) {
    throw new Error(`The report's format is "${report?.format}", and this page reads "${FORMAT}".`);
  }
  for (const key of ["sites", "threads", "messages", "ranks", "advice"]) report[key] ??= [];
  report.timeline ??= { tick: 0, cpus: [] };
  report.timeline.cpus ??= [];
  report.factors ??= {};
  report.sites = visible(report.sites);
  for (const key of ["run", "threads", "messages", "ranks", "advice"]) report[key] = visible(report[key]);
  relate(report.sites);
  return report;
}

// Characters that show nothing, or turn the text behind them, are written as numbers: a name is what one sees.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function visible(value) {
  if (typeof value === "string") {
    return value.replace(UNSEEN, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }
  if (Array.isArray(value)) return value.map(visible);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [visible(name), visible(part)]));
  }
  return value;
}

// Whether the samples, or a trace, say anything of the run.
export function isMeasured({ run }) {
  return (run.samples > 0 || run.is_trace) && run.seconds > 0 && run.cpus > 0;
}

// Gives each site its number, children, depth, sums and the regions that it belongs to.
function relate(sites) {
  sites.forEach((site, number) => {
    site.number = number;
    site.children = [];
    site.lost ??= {};
    site.place ??= {};
    site.word = site.callee || site.kind;
    site.lengths ??= { timed: 0, mean: 0, histogram: [] };
    site.lostInAll = LOSSES.reduce((sum, loss) => sum + (site.lost[loss.key] ?? 0), 0);
  });
  for (const site of sites) {
    if (site.number === 0) continue;
    site.above = sites[site.parent] ?? sites[0];
    if (site.above === site) site.above = sites[0];
    site.above.children.push(site);
  }
  label(sites);
  const waiting = sites.length > 0 ? [sites[0]] : [];
  const ordered = [];
  if (waiting.length) Object.assign(sites[0], { depth: 0, region: null, outer: null });
  while (waiting.length) {
    const site = waiting.pop();
    ordered.push(site);
    for (const child of site.children) {
      child.depth = site.depth + 1;
      child.region = child.kind === "region" ? child : site.region;
      child.outer = site.outer ?? (child.kind === "region" ? child : null);
      waiting.push(child);
    }
  }
  for (const site of ordered.reverse()) {
    site.within = { useful: site.useful ?? 0, lost: { ...site.lost }, lostInAll: site.lostInAll };
    for (const { within } of site.children) {
      site.within.useful += within.useful;
      site.within.lostInAll += within.lostInAll;
      for (const { key } of LOSSES) site.within.lost[key] = (site.within.lost[key] ?? 0) + (within.lost[key] ?? 0);
    }
  }
}

// Sites of one line are told apart by their kind, and then by the place around them, where the name stands alone.
function label(sites) {
  const forms = [
    (site) => site.name,
    (site) => `${site.name} (${site.word})`,
    (site) => `${site.name} (${site.word} in ${site.above?.name})`,
  ];
  let left = sites;
  for (const form of forms) {
    const times = new Map();
    for (const site of left) {
      site.label = form(site);
      times.set(site.label, (times.get(site.label) ?? 0) + 1);
    }
    left = left.filter((site) => times.get(site.label) > 1);
  }
}

// From below the program down to the site's own construct.
export function pathTo(site) {
  const path = [];
  for (let at = site; at && at.number !== 0; at = at.above) path.unshift(at);
  return path;
}

// file:line as the sources have it; empty where there is no debug information.
export function fileAndLine(site) {
  return site.place.file ? `${site.place.file}:${site.place.line}` : "";
}

// What a piece of this site's work is called.
export function pieceOf(site, many = true) {
  const word = { task: "task", taskloop: "task", region: "execution" }[site.kind] ?? "chunk";
  return many ? `${word}s` : word;
}

// "a chunk", "an execution"
export function aPieceOf(site) {
  const word = pieceOf(site, false);
  return `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;
}

// CPU seconds of the runtime for each piece; null: there are no pieces.
export function overheadPerPiece(site) {
  const pieces = site.pieces || (site.kind === "region" ? site.count : 0);
  return pieces > 0 ? (site.lost.overhead ?? 0) / pieces : null;
}
