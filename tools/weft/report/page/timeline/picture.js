// SPDX-License-Identifier: Apache-2.0
// Tracks as pixels. A pixel that has several spans gets their colours in the parts of time that they have, so that a
// picture of a minute shows as much idle time as there is.

import { DOINGS } from "../words.js";

// A canvas with a row of pixels for each CPU.
export function rowsOf(tracks, view, width, colours) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = Math.max(1, tracks.cpus.length);
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, canvas.height);
  const scale = width / (view.to - view.from);
  const red = new Float32Array(width);
  const green = new Float32Array(width);
  const blue = new Float32Array(width);
  const covered = new Float32Array(width);
  tracks.cpus.forEach((_, cpu) => {
    for (const array of [red, green, blue, covered]) array.fill(0);
    tracks.each(cpu, view.from, view.to, (site, doing, from, to) => {
      const at = (site * DOINGS.length + doing) * 3;
      const left = (from - view.from) * scale;
      const right = Math.min(width, (to - view.from) * scale);
      for (let x = Math.floor(left); x < right; x++) {
        const part = Math.min(right, x + 1) - Math.max(left, x);
        red[x] += part * colours[at];
        green[x] += part * colours[at + 1];
        blue[x] += part * colours[at + 2];
        covered[x] += part;
      }
    });
    for (let x = 0, i = cpu * width * 4; x < width; x++, i += 4) {
      if (covered[x] === 0) continue;
      image.data[i] = red[x] / covered[x];
      image.data[i + 1] = green[x] / covered[x];
      image.data[i + 2] = blue[x] / covered[x];
      image.data[i + 3] = 255 * Math.min(1, covered[x]);
    }
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

// How many CPUs did what: for each of `width` parts of the run, a number of CPUs for each doing.
export function usage(tracks, width) {
  const sums = DOINGS.map(() => new Float32Array(width));
  const scale = width / Math.max(1, tracks.ticks);
  tracks.cpus.forEach((_, cpu) => {
    tracks.each(cpu, 0, tracks.ticks, (_site, doing, from, to) => {
      const left = from * scale;
      const right = Math.min(width, to * scale);
      for (let x = Math.floor(left); x < right; x++) sums[doing][x] += Math.min(right, x + 1) - Math.max(left, x);
    });
  });
  return sums;
}

// Moments for the marks of an axis: [tick, label], at most about `most`.
export function marksOf(view, tick, most) {
  const span = (view.to - view.from) * tick;
  if (!(span > 0)) return [];
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const last = view.to * tick;
  const [size, unit] = last >= 1 ? [1, "s"] : last >= 1e-3 ? [1e-3, "ms"] : [1e-6, "µs"];
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  const marks = [];
  for (let n = Math.ceil((view.from * tick) / step - 1e-9); n * step <= last * (1 + 1e-9); n++) {
    marks.push([(n * step) / tick, `${((n * step) / size).toFixed(decimals)} ${unit}`]);
  }
  return marks;
}
