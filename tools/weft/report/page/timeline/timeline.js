// SPDX-License-Identifier: Apache-2.0
// The timeline: its canvases, and what the mouse, fingers and keys do with them.

import { choose, chosen, onChoice } from "../choice.js";
import { h, show } from "../dom.js";
import { seconds } from "../figures.js";
import { onTheme } from "../theme.js";
import { DOINGS } from "../words.js";
import { AXIS, LANES, drawLanes } from "./lanes.js";
import { keysHelp, legendOf } from "./legend.js";
import { Overview } from "./overview.js";
import { Palette } from "./palette.js";
import { rangeTable } from "./range_table.js";
import { Tracks } from "./tracks.js";
import { View } from "./view.js";

const LEFT = 34;
// Nearer than that a press is a click, not a drag.
const CLICK = 4;

class Timeline {
  constructor(report) {
    this.sites = report.sites;
    this.tracks = new Tracks(report.timeline, report.ranks);
    this.palette = new Palette(this.sites, this.tracks);
    this.view = new View(this.tracks.ticks, () => this.redraw());
    this.overview = new Overview(this.tracks, this.view, LEFT);
    const isNested = (number) => this.sites[number]?.region !== this.sites[number]?.outer;
    const nested = this.tracks.cpus.some(({ sites }) => sites.some(isNested));
    this.lanes = nested && this.tracks.cpus.length <= 64 ? "both" : "inner";
    this.onlyChosen = false;
    this.cursor = null;
    this.drag = null;
    this.build();
    onChoice(() => this.onlyChosen && this.redraw());
    onTheme(() => {
      this.palette.read();
      this.drawAll();
    });
    new ResizeObserver(() => this.drawAll()).observe(this.box);
    addEventListener("beforeprint", () => this.drawAll());
  }

  build() {
    this.canvas = h("canvas", {
      id: "tracks",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "timeline",
      "aria-label": `Timeline of ${this.tracks.cpus.length} CPUs`,
      "aria-describedby": "timeline-keys",
    });
    this.tip = h("div", { class: "tip", hidden: true });
    this.box = h("div", { class: "tracks" }, this.canvas, this.tip);
    this.readout = h("output", { class: "readout", "aria-live": "polite", id: "readout" }, "");
    const button = (id, word, title, click) =>
      h("button", { type: "button", id, title, "aria-label": title, on: { click } }, word);
    const lanes = h(
      "select",
      { id: "lanes" },
      Object.entries(LANES).map(([key, { word }]) => h("option", { value: key, selected: key === this.lanes }, word)),
    );
    lanes.addEventListener("change", () => {
      this.lanes = lanes.value;
      this.redraw();
    });
    const only = h("input", { type: "checkbox", id: "only-chosen" });
    only.addEventListener("change", () => {
      this.onlyChosen = only.checked;
      this.redraw();
    });
    this.wholeButton = button("zoom-whole", "Whole run", "Show the whole run", () => this.view.whole());
    this.table = rangeTable(this.tracks, this.sites, this.view);
    const card = h(
      "div",
      { class: "card timeline-card" },
      h(
        "div",
        { class: "tools" },
        h(
          "span",
          { class: "group", role: "group", "aria-label": "Part of the run" },
          button("pan-left", "◀", "Earlier", () => this.view.pan(-0.4)),
          button("zoom-in", "+", "Zoom in", () => this.view.zoom(0.5)),
          button("zoom-out", "−", "Zoom out", () => this.view.zoom(2)),
          button("pan-right", "▶", "Later", () => this.view.pan(0.4)),
          this.wholeButton,
        ),
        h("label", {}, "Colour by ", lanes),
        h("label", {}, only, "Only the chosen place"),
        h("span", { class: "hint", id: "range" }, ""),
      ),
      this.overview.box,
      this.box,
      this.readout,
      legendOf(this.palette),
      keysHelp(),
      this.table.element,
    );
    show("timeline-content", card);
    this.range = card.querySelector("#range");
    this.listen();
    this.drawAll();
  }

  // Moment and CPU under a pointer.
  where(event) {
    const { left, top, width } = this.canvas.getBoundingClientRect();
    const part = Math.max(0, Math.min(1, (event.clientX - left - LEFT) / (width - LEFT)));
    return {
      moment: this.view.from + part * this.view.length,
      cpu: Math.floor((event.clientY - top - AXIS) / this.row),
    };
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("dblclick", () => this.view.whole());
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => {
      if (!this.cursor && canvas.matches(":focus-visible")) this.moveTo(0, this.view.from);
    });
  }

  // The page scrolls over a timeline that nobody has clicked on.
  wheel(event) {
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.view.pan((event.deltaX || event.deltaY) / 800);
      return;
    }
    if (!event.ctrlKey && document.activeElement !== this.canvas) {
      this.readout.textContent = "Click the timeline first, or hold Ctrl, to zoom with the wheel.";
      return;
    }
    event.preventDefault();
    this.view.zoom(Math.exp(event.deltaY / 500), this.where(event).moment);
  }

  press(event) {
    if (event.button !== 0) return;
    const { canvas } = this;
    canvas.setPointerCapture(event.pointerId);
    const begin = this.where(event);
    const start = { x: event.clientX, from: this.view.from, to: this.view.to };
    const pans = event.shiftKey;
    const move = (e) => {
      if (Math.abs(e.clientX - start.x) < CLICK && !this.drag) return;
      if (pans) {
        const part = (start.x - e.clientX) / (canvas.clientWidth - LEFT);
        const length = start.to - start.from;
        this.view.set(start.from + part * length, start.to + part * length);
      } else {
        this.drag = { from: begin.moment, to: this.where(e).moment };
        this.redraw();
      }
    };
    const end = (e) => {
      canvas.removeEventListener("pointermove", move);
      canvas.removeEventListener("pointerup", end);
      canvas.removeEventListener("pointercancel", end);
      const { drag } = this;
      this.drag = null;
      if (e.type === "pointercancel") return this.redraw();
      if (drag) {
        this.redraw();
        this.view.set(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
      } else if (Math.abs(e.clientX - start.x) < CLICK) {
        this.click(begin);
      }
    };
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
  }

  click({ cpu, moment }) {
    if (cpu < 0 || cpu >= this.tracks.cpus.length) return;
    this.moveTo(cpu, moment);
    this.chooseAtCursor();
  }

  chooseAtCursor() {
    if (this.cursor) choose(this.sites[this.cursor.site]);
  }

  hover(event) {
    const { cpu, moment } = this.where(event);
    const span = cpu >= 0 && cpu < this.tracks.cpus.length ? this.tracks.span(cpu, moment) : null;
    this.tip.hidden = !span || Boolean(this.drag);
    if (this.tip.hidden) return;
    const site = this.sites[span.site];
    this.tip.replaceChildren(
      h("strong", {}, span.doing === 0 ? "idle" : `${site.name}`),
      `${this.tracks.name(cpu)}, ${seconds(moment * this.tracks.tick)}: ${DOINGS[span.doing].says} for ` +
        `${seconds((span.to - span.from) * this.tracks.tick)}`,
      site.outer && span.doing !== 0 ? h("div", {}, `${site.word}, in region ${site.outer.label}`) : "",
    );
    const box = this.box.getBoundingClientRect();
    const x = event.clientX - box.left;
    const right = x + 16 + this.tip.offsetWidth > box.width;
    this.tip.style.left = `${Math.max(0, right ? x - 12 - this.tip.offsetWidth : x + 14)}px`;
    this.tip.style.top = `${event.clientY - box.top + 16}px`;
  }

  // The cursor is on the span at a moment of a CPU.
  moveTo(cpu, moment) {
    const inside = Math.max(0, Math.min(this.tracks.ticks - 1e-6, moment));
    const span = this.tracks.span(cpu, inside);
    if (!span) return;
    this.cursor = { cpu, moment: inside, ...span };
    this.view.reveal(inside);
    const site = this.sites[span.site];
    const at = seconds(span.from * this.tracks.tick);
    const long = seconds((span.to - span.from) * this.tracks.tick);
    this.readout.textContent =
      `${this.tracks.name(cpu)} from ${at}: ${DOINGS[span.doing].says}` +
      (span.doing === 0 ? "" : ` in ${site.name} (${site.word})`) +
      `, for ${long}.`;
    this.redraw();
  }

  // To the next span that is not within the same pixel.
  step(direction) {
    const { cpu, from, to } = this.cursor;
    const pixel = this.view.length / Math.max(1, this.canvas.clientWidth - LEFT);
    this.moveTo(cpu, direction > 0 ? Math.max(to, from + pixel) : Math.min(from - 1e-6, to - pixel));
  }

  key(event) {
    if (event.altKey || event.metaKey || event.ctrlKey || this.tracks.cpus.length === 0) return;
    if (!this.cursor) this.moveTo(0, this.view.from);
    if (!this.cursor) return;
    const { cpu, moment } = this.cursor;
    const last = this.tracks.cpus.length - 1;
    const actions = {
      ArrowLeft: () => (event.shiftKey ? this.view.pan(-0.2) : this.step(-1)),
      ArrowRight: () => (event.shiftKey ? this.view.pan(0.2) : this.step(1)),
      ArrowUp: () => this.moveTo(Math.max(0, cpu - 1), moment),
      ArrowDown: () => this.moveTo(Math.min(last, cpu + 1), moment),
      PageUp: () => this.view.pan(-0.8),
      PageDown: () => this.view.pan(0.8),
      Home: () => this.moveTo(cpu, 0),
      End: () => this.moveTo(cpu, this.tracks.ticks),
      "+": () => this.view.zoom(0.5, moment),
      "=": () => this.view.zoom(0.5, moment),
      "-": () => this.view.zoom(2, moment),
      0: () => this.view.whole(),
      Escape: () => this.view.whole(),
      Enter: () => this.chooseAtCursor(),
      " ": () => this.chooseAtCursor(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  // At most once for each picture of the screen.
  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => this.drawAll());
  }

  drawAll() {
    this.pending = false;
    const width = this.box.clientWidth;
    if (width === 0) return;
    const ratio = devicePixelRatio || 1;
    const { from, to } = this.view;
    const tick = this.tracks.tick;
    this.canvas.dataset.from = from;
    this.canvas.dataset.to = to;
    this.range.textContent = `${seconds(from * tick)} to ${seconds(to * tick)}, ${seconds((to - from) * tick)} long`;
    this.wholeButton.disabled = this.view.isWhole;
    this.overview.draw(width, ratio);
    const wanted = this.onlyChosen ? chosen() : null;
    const keeps = wanted && ((site) => {
      for (let at = site; at; at = at.above) if (at === wanted) return true;
      return false;
    });
    this.row = drawLanes(this.canvas, { ...this, keeps }, width, ratio, LEFT);
    this.table.draw();
  }
}

export function showTimeline(report) {
  const { cpus, tick } = report.timeline;
  if (cpus.length === 0 || !(tick > 0) || cpus.every((spans) => spans.length === 0)) {
    const why = "There is none: the run was too short, or its timeline was not kept.";
    show("timeline-content", h("p", { class: "card" }, why));
    return;
  }
  new Timeline(report);
}
