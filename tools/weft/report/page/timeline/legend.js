// SPDX-License-Identifier: Apache-2.0
// What the colours and shades of the timeline stand for, and its keys.

import { choose } from "../choice.js";
import { h } from "../dom.js";
import { colour, onTheme } from "../theme.js";
import { DOINGS } from "../words.js";
import { LAYERS } from "./overview.js";
import { rgbOf } from "./palette.js";

export function legendOf(palette) {
  const swatch = (name) => h("span", { class: "chip", style: { background: `var(--${name})` } });
  const regions = palette.regions.map((region) =>
    h(
      "li",
      {},
      swatch(palette.nameOf(region)),
      h("button", { type: "button", class: "plain", on: { click: () => choose(region) } }, region.label),
    ),
  );
  const shades = DOINGS.map((doing) => [h("span", { class: "shade" }), doing]);
  const paint = () => {
    const base = palette.shades(rgbOf(colour("region-0")));
    shades.forEach(([box], i) => box.style.setProperty("background", `rgb(${base[i].join(" ")})`));
  };
  paint();
  onTheme(paint);
  const strip = { useful: "at work", overhead: "in the runtime", imbalance: "waiting", blocked: "without a CPU" };
  return h(
    "div",
    {},
    h(
      "ul",
      { class: "legend", "aria-label": "Colours: regions" },
      h("li", { class: "title" }, "Regions"),
      regions,
      palette.more > 0 && h("li", {}, swatch("others"), `${palette.more} other regions`),
      h("li", {}, swatch("outside"), "outside of regions"),
    ),
    h(
      "ul",
      { class: "legend", "aria-label": "Shades: what a CPU does" },
      h("li", { class: "title" }, "Shades"),
      shades.map(([box, doing]) => h("li", {}, box, doing.word)),
    ),
    h(
      "ul",
      { class: "legend", "aria-label": "The strip above: how many CPUs do what" },
      h("li", { class: "title" }, "Strip"),
      LAYERS.map(([, name]) => h("li", {}, swatch(name), strip[name])),
      h("li", {}, swatch("idle"), "idle"),
    ),
  );
}

export function keysHelp() {
  const keys = [
    [["drag"], "zoom to a part of the run; with Shift, move along it"],
    [["wheel"], "zoom, when the timeline was clicked or Ctrl is held; with Shift, move"],
    [["click", "Enter"], "choose the place that the CPU is in"],
    [["←", "→"], "the span before or behind; with Shift, move along the run"],
    [["↑", "↓"], "the CPU above or below"],
    [["+", "−", "0"], "zoom in, zoom out, the whole run"],
    [["Home", "End"], "the start or the end of the run"],
    [["Page Up", "Page Down"], "an earlier or later part of the run"],
  ];
  return h(
    "details",
    { class: "hint-keys" },
    h("summary", {}, "Keys and mouse"),
    h(
      "dl",
      { class: "keys", id: "timeline-keys" },
      keys.map(([names, what]) => [
        h("dt", {}, names.map((name, i) => [i > 0 ? " " : "", h("kbd", {}, name)])),
        h("dd", {}, what),
      ]),
    ),
  );
}
