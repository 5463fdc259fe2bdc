// SPDX-License-Identifier: Apache-2.0
// What to change: a card for each piece of advice, in the order of the report.

import { choose, goToDetails } from "./choice.js";
import { isMeasured } from "./data.js";
import { h, say, show } from "./dom.js";
import { seconds, wholePercent } from "./figures.js";
import { ADVICE } from "./words.js";

// Browsers may refuse the clipboard to a page that was opened from disk; marking the text and copying it works there.
async function copy(text, code) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const range = document.createRange();
    range.selectNodeContents(code);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }
}

function commandOf(advice) {
  const code = h("code", {}, advice.command);
  const button = h("button", { type: "button", "aria-label": `Copy: ${advice.command}` }, "Copy");
  button.addEventListener("click", async () => {
    const done = await copy(advice.command, code);
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    say(done ? "Copied." : "The text is marked. Press Ctrl+C to copy it.");
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return h("div", { class: "try" }, h("pre", {}, code), button);
}

function card(advice, number, { run, sites }) {
  const site = sites[advice.site];
  const known = advice.gain > 0;
  const part = known && run.seconds > 0 ? ` (${wholePercent(advice.gain / run.seconds)})` : "";
  const id = `advice-${number}`;
  return h(
    "li",
    {},
    h(
      "article",
      { class: "card", "aria-labelledby": id },
      h(
        "div",
        { class: "head" },
        h("span", {}, `${number}. ${ADVICE[advice.kind] ?? advice.kind}`),
        h(
          "span",
          { class: known ? "gain" : "gain unknown", title: "How much shorter the run is expected to become." },
          known ? `saves about ${seconds(advice.gain)}${part}` : "gain not known",
        ),
      ),
      h("h3", { id }, advice.title),
      h("p", {}, h("span", { class: "label" }, "Measured"), advice.evidence),
      h("p", {}, h("span", { class: "label" }, "What to do"), advice.action),
      advice.command && commandOf(advice),
      site &&
        h(
          "p",
          { class: "foot" },
          h(
            "button",
            {
              type: "button",
              class: "plain",
              on: {
                click: () => {
                  choose(site);
                  goToDetails();
                },
              },
            },
            `See the figures of ${site.label}`,
          ),
        ),
    ),
  );
}

export function showAdvice(report) {
  if (report.advice.length === 0 && !isMeasured(report)) {
    show("advice-content", h("p", { class: "card" }, "The run was too short for advice."));
    return;
  }
  if (report.advice.length === 0) {
    const { good, text } = report.conclusion ?? { good: false, text: "no fault of a known kind was found." };
    show(
      "advice-content",
      h(
        "div",
        { class: "card nothing" },
        h("span", { class: good ? "mark" : "mark low", "aria-hidden": "true" }, good ? "✓" : "!"),
        h("p", {}, h("strong", {}, "No advice: "), text, " The figures below say where the rest went."),
      ),
    );
    return;
  }
  show(
    "advice-content",
    h("ol", { class: "advices" }, report.advice.map((advice, i) => card(advice, i + 1, report))),
  );
}
