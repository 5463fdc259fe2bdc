// SPDX-License-Identifier: Apache-2.0
// What the run was, and how well it used its CPUs, in one sentence.

import { isMeasured } from "./data.js";
import { h, show, svg } from "./dom.js";
import { count, counted, percent, seconds, shellWord, wholePercent } from "./figures.js";
import { LOSSES, USEFUL } from "./words.js";

// The parts of CPUs x time, which make up one: useful work first, then the losses, the largest first.
export function partsOf(factors) {
  const losses = LOSSES.map((loss) => ({ ...loss, part: Math.max(0, 1 - (factors[loss.key] ?? 1)) }));
  losses.sort((a, b) => b.part - a.part);
  return [{ ...USEFUL, part: factors.parallel_efficiency ?? 1 }, ...losses];
}

// The sentence below says the same, so that those who hear the page miss nothing.
function ring(parts) {
  const radius = 42;
  const around = 2 * Math.PI * radius;
  const gap = parts.filter((p) => p.part > 0).length > 1 ? 1.2 : 0;
  let at = 0;
  const arcs = parts
    .filter((p) => p.part * around > gap)
    .map((p) => {
      const length = p.part * around;
      const arc = svg("circle", {
        cx: 50,
        cy: 50,
        r: radius,
        "stroke-dasharray": `${length - gap} ${around - length + gap}`,
        "stroke-dashoffset": -at - gap / 2,
        transform: "rotate(-90 50 50)",
        style: { stroke: `var(--${p.key})` },
      });
      at += length;
      return arc;
    });
  return svg(
    "svg",
    { class: "ring", viewBox: "0 0 100 100", "aria-hidden": "true" },
    svg("circle", { cx: 50, cy: 50, r: radius, style: { stroke: "var(--sunk)" } }),
    arcs,
    svg("text", { x: 50, y: 54 }, wholePercent(parts[0].part)),
    svg("text", { x: 50, y: 65, class: "small" }, "useful work"),
  );
}

function fact(word, value, title) {
  return h("div", { title }, h("dt", {}, word), h("dd", {}, value));
}

function began(run) {
  const date = new Date(run.began);
  return Number.isNaN(date.getTime()) ? run.began : `${run.began.slice(0, 16).replace("T", " ")} UTC`;
}

export function showHeadline({ run, headline, factors, ranks }) {
  const parts = partsOf(factors);
  const [useful, worst] = parts;
  const lost = run.cpus * run.seconds * (1 - useful.part);
  const cpus = counted(run.cpus, "CPU");
  const measured = isMeasured({ run });
  const rest = measured
    ? `The other ${wholePercent(1 - useful.part)} (${seconds(lost)} of CPU time) were lost. ` +
      (worst.part > 0
        ? `The largest loss is ${worst.word.toLowerCase()} with ${percent(worst.part)}: ` +
          `${worst.brief[0].toLowerCase()}${worst.brief.slice(1)}`
        : "")
    : "The run was too short to say where its time went.";
  const facts = [
    fact("Time", seconds(run.seconds), "From the program's start to its end."),
    fact("CPUs", count(run.cpus), "CPUs that the program could use."),
    fact("CPU time lost", measured ? seconds(lost) : "not known", "CPUs × time, less useful work."),
    ranks.length > 1 &&
      fact("Ranks", count(ranks.length), "Processes of the MPI program that this report is about."),
    run.rank >= 0 &&
      fact("Rank", `${run.rank} of ${run.ranks}`, "The process's number among those of the MPI program."),
    fact("Host", run.host),
    fact("Began", began(run)),
    ranks.length < 2 && fact("Process", String(run.process)),
    run.exit_code !== 0 && fact("Exit code", String(run.exit_code), "What the program ended with. 0 is success."),
  ];
  show(
    "headline-content",
    h("p", { class: "command", id: "command" }, h("code", {}, run.command.map(shellWord).join(" "))),
    run.exit_code !== 0 && h("p", { class: "notice" }, `The program ended with exit code ${run.exit_code}.`),
    run.deadlock?.length > 0 &&
      h(
        "div",
        { class: "notice", id: "deadlock" },
        run.deadlock.map((line) => h("p", {}, line.trim())),
      ),
    h(
      "div",
      { class: "hero card" },
      measured ? ring(parts) : h("span"),
      h(
        "div",
        {},
        h(
          "p",
          { class: "claim", id: "claim" },
          measured
            ? `${wholePercent(useful.part)} of ${cpus} × ${seconds(run.seconds)} did the program's work.`
            : `${cpus}, ${seconds(run.seconds)}.`,
        ),
        headline && h("p", { id: "use" }, headline),
        h("p", {}, rest),
        run.notes?.length > 0 &&
          h(
            "p",
            {},
            h("a", { href: "#settings" }, counted(run.notes.length, "note")),
            " on how these figures were made.",
          ),
      ),
      h("dl", { class: "facts" }, facts),
    ),
  );
}
