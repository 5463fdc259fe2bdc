// SPDX-License-Identifier: Apache-2.0
// The tracks themselves: which lanes a CPU has, how high they are, and how they are drawn.

import { colour } from "../theme.js";
import { marksOf, rowsOf } from "./picture.js";

export const AXIS = 22;
// Together, at most about so high where there are many CPUs.
const HIGH = 460;
export const LANES = {
  inner: { word: "the innermost region", lanes: ["inner"] },
  outer: { word: "the outermost region", lanes: ["outer"] },
  both: { word: "both, in two lanes", lanes: ["outer", "inner"] },
};

export function rowHeight(cpus, lanes) {
  const least = 3 * lanes;
  return Math.max(least, Math.min(14 + 10 * lanes, Math.floor(HIGH / Math.max(1, cpus))));
}

// Draws all of it. `state`: tracks, view, palette, lanes, keeps (null: all sites), cursor, drag.
export function drawLanes(canvas, state, width, ratio, left) {
  const { tracks, view, palette } = state;
  const lanes = LANES[state.lanes].lanes;
  const row = rowHeight(tracks.cpus.length, lanes.length);
  const height = AXIS + row * Math.max(1, tracks.cpus.length);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.imageSmoothingEnabled = false;
  const columns = Math.max(1, Math.round((width - left) * ratio));
  const gap = row >= 8 ? 2 : 0;
  lanes.forEach((lane, i) => {
    const colours = state.keeps ? palette.dimmed(palette[lane], state.keeps) : palette[lane];
    const picture = rowsOf(tracks, view, columns, colours);
    // The outer lane is a thin band above the inner one.
    const parts = lanes.length === 1 ? [0, 1] : i === 0 ? [0, 0.32] : [0.32, 1];
    const top = (row - gap) * parts[0];
    const high = (row - gap) * (parts[1] - parts[0]);
    tracks.cpus.forEach((_, cpu) => {
      context.drawImage(picture, 0, cpu, columns, 1, left, AXIS + cpu * row + top, width - left, high);
    });
  });
  axis(context, state, width, height, left);
  labels(context, tracks.labels, row, left);
  cursorAndDrag(context, state, width, height, left, row);
  return row;
}

function axis(context, { view, tracks }, width, height, left) {
  context.font = `11px ${getComputedStyle(context.canvas).fontFamily}`;
  context.textAlign = "center";
  context.fillStyle = colour("quiet");
  context.strokeStyle = colour("line-strong");
  context.lineWidth = 1;
  for (const [moment, label] of marksOf(view, tracks.tick, (width - left) / 90)) {
    const x = left + ((moment - view.from) / view.length) * (width - left);
    context.beginPath();
    context.moveTo(x, AXIS - 5);
    context.lineTo(x, AXIS);
    context.stroke();
    const half = context.measureText(label).width / 2;
    context.fillText(label, Math.max(left + half, Math.min(width - half, x)), AXIS - 9);
    context.globalAlpha = 0.18;
    context.beginPath();
    context.moveTo(x, AXIS);
    context.lineTo(x, height);
    context.stroke();
    context.globalAlpha = 1;
  }
}

function labels(context, words, row, left) {
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillStyle = colour("quiet");
  const step = [1, 2, 4, 8, 16, 32, 64].find((n) => n * row >= 13) ?? 128;
  for (let cpu = 0; cpu < words.length; cpu += step) context.fillText(words[cpu].short, left - 6, AXIS + (cpu + 0.5) * row);
  context.textBaseline = "alphabetic";
}

function cursorAndDrag(context, { view, cursor, drag }, width, height, left, row) {
  const x = (moment) => left + ((moment - view.from) / view.length) * (width - left);
  if (drag) {
    const [a, b] = [x(drag.from), x(drag.to)].sort((p, q) => p - q);
    context.fillStyle = colour("accent");
    context.globalAlpha = 0.22;
    context.fillRect(a, AXIS, b - a, height - AXIS);
    context.globalAlpha = 1;
    context.fillRect(a, AXIS, 2, height - AXIS);
    context.fillRect(b - 2, AXIS, 2, height - AXIS);
  }
  if (cursor && cursor.to > view.from && cursor.from < view.to) {
    const [a, b] = [Math.max(left, x(cursor.from)), Math.min(width, x(cursor.to))];
    context.strokeStyle = colour("ink");
    context.lineWidth = 2;
    context.strokeRect(a - 1, AXIS + cursor.cpu * row - 1, Math.max(4, b - a + 2), Math.max(4, row));
  }
}
