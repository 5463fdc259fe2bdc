// SPDX-License-Identifier: Apache-2.0
// The whole run as a strip above the tracks: how many CPUs did what, and which part of it the tracks show.

import { h } from "../dom.js";
import { seconds, wholePercent } from "../figures.js";
import { colour } from "../theme.js";
import { DOINGS } from "../words.js";
import { usage } from "./picture.js";

const HEIGHT = 64;
// From the bottom: doing, and the colour's name.
export const LAYERS = [
  [1, "useful"],
  [2, "overhead"],
  [3, "imbalance"],
  [4, "blocked"],
];

export class Overview {
  constructor(tracks, view, left) {
    this.tracks = tracks;
    this.view = view;
    this.left = left;
    this.canvas = h("canvas", { role: "img", "aria-label": this.label() });
    this.box = h("div", { class: "overview" }, this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => this.grab(event));
  }

  label() {
    const { tracks } = this;
    const sums = usage(tracks, 1);
    const parts = DOINGS.map((doing, i) => `${doing.word} ${wholePercent(sums[i][0] / tracks.cpus.length)}`);
    const time = seconds(tracks.ticks * tracks.tick);
    return `How many CPUs did what over the run's ${time}: on average ${parts.join(", ")}.`;
  }

  // The moment under a pointer.
  moment(event) {
    const { left, width } = this.canvas.getBoundingClientRect();
    return ((event.clientX - left - this.left) / (width - this.left)) * this.tracks.ticks;
  }

  // The window follows the pointer; from outside of it, it comes first.
  grab(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.moment(event);
    const { from, to, length } = this.view;
    const inside = at >= from && at <= to && !this.view.isWhole;
    const offset = inside ? at - from : length / 2;
    const move = (e) => {
      const begin = this.moment(e) - offset;
      this.view.set(begin, begin + length);
    };
    if (!inside) move(event);
    const end = () => {
      this.canvas.removeEventListener("pointermove", move);
      this.canvas.removeEventListener("pointerup", end);
      this.canvas.removeEventListener("pointercancel", end);
    };
    this.canvas.addEventListener("pointermove", move);
    this.canvas.addEventListener("pointerup", end);
    this.canvas.addEventListener("pointercancel", end);
  }

  draw(width, ratio) {
    const { canvas, left } = this;
    const columns = Math.max(1, Math.round((width - left) * ratio));
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    canvas.style.height = `${HEIGHT}px`;
    if (this.columns !== columns) {
      this.sums = usage(this.tracks, columns);
      this.columns = columns;
    }
    const context = canvas.getContext("2d");
    const cpus = Math.max(1, this.tracks.cpus.length);
    const offset = Math.round(left * ratio);
    context.fillStyle = colour("idle");
    context.fillRect(offset, 0, columns, canvas.height);
    const under = new Float32Array(columns);
    for (const [doing, name] of LAYERS) {
      context.fillStyle = colour(name);
      for (let x = 0; x < columns; x++) {
        const height = (this.sums[doing][x] / cpus) * canvas.height;
        if (height > 0) context.fillRect(offset + x, canvas.height - under[x] - height, 1, height);
        under[x] += height;
      }
    }
    context.scale(ratio, ratio);
    context.fillStyle = colour("quiet");
    context.font = `11px ${getComputedStyle(canvas).fontFamily}`;
    context.textAlign = "right";
    context.fillText(String(this.tracks.cpus.length), left - 6, 10);
    context.fillText("0", left - 6, HEIGHT - 2);
    if (this.view.isWhole) return;
    const x = (moment) => left + (moment / this.tracks.ticks) * (width - left);
    const [from, to] = [x(this.view.from), Math.max(x(this.view.from) + 3, x(this.view.to))];
    context.globalAlpha = 0.72;
    context.fillStyle = colour("card");
    context.fillRect(left, 0, from - left, HEIGHT);
    context.fillRect(to, 0, width - to, HEIGHT);
    context.globalAlpha = 1;
    context.strokeStyle = colour("ink");
    context.lineWidth = 2;
    context.strokeRect(from, 1, to - from, HEIGHT - 2);
  }
}
