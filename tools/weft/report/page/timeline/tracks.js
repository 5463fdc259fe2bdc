// SPDX-License-Identifier: Apache-2.0
// The tracks of the CPUs in arrays: a track has thousands of spans, and all are looked at for each picture.

import { DOINGS } from "../words.js";

export class Tracks {
  constructor({ tick, cpus }, ranks) {
    this.tick = tick;
    this.label(cpus.length, ranks);
    this.cpus = cpus.map((spans) => {
      const starts = new Float64Array(spans.length + 1);
      const sites = new Int32Array(spans.length);
      const doings = new Uint8Array(spans.length);
      spans.forEach(([ticks, site, doing], i) => {
        starts[i + 1] = starts[i] + ticks;
        sites[i] = site;
        doings[i] = doing;
      });
      return { starts, sites, doings, length: spans.length };
    });
    this.ticks = Math.max(0, ...this.cpus.map(({ starts }) => starts.at(-1)));
  }

  // Of several ranks each has its CPUs behind those of the one before.
  label(count, ranks) {
    this.labels = Array.from({ length: count }, (_, cpu) => ({ short: String(cpu), long: `CPU ${cpu}` }));
    if (ranks.length < 2) return;
    let next = 0;
    for (const { rank, cpus } of ranks) {
      for (let cpu = 0; cpu < cpus && next < count; ++cpu) {
        this.labels[next++] = { short: cpu === 0 ? `r${rank}` : String(cpu), long: `rank ${rank}, CPU ${cpu}` };
      }
    }
  }

  name(cpu) {
    const { long } = this.labels[cpu];
    return long[0].toUpperCase() + long.slice(1);
  }

  // The number of the span at a moment; -1: the track is empty there.
  at(cpu, moment) {
    const { starts, length } = this.cpus[cpu];
    if (length === 0 || moment < 0 || moment >= starts[length]) return -1;
    let low = 0;
    let high = length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= moment) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // {from, to, site, doing} of the span at a moment; null: there is none.
  span(cpu, moment) {
    const i = this.at(cpu, moment);
    if (i < 0) return null;
    const track = this.cpus[cpu];
    return { from: track.starts[i], to: track.starts[i + 1], site: track.sites[i], doing: track.doings[i] };
  }

  // Calls back with (site, doing, from, to) for all that a CPU does in a part of the run, cut to that part.
  each(cpu, from, to, callback) {
    const { starts, sites, doings, length } = this.cpus[cpu];
    for (let i = Math.max(0, this.at(cpu, from)); i < length && starts[i] < to; i++) {
      if (starts[i + 1] > from) callback(sites[i], doings[i], Math.max(from, starts[i]), Math.min(to, starts[i + 1]));
    }
  }

  // Ticks of a CPU in a part of the run, by doing, and the site that it did most for, idle time aside.
  sums(cpu, from, to) {
    const byDoing = new Float64Array(DOINGS.length);
    const bySite = new Map();
    this.each(cpu, from, to, (site, doing, begin, end) => {
      byDoing[doing] += end - begin;
      if (doing !== 0) bySite.set(site, (bySite.get(site) ?? 0) + end - begin);
    });
    let most = -1;
    for (const [site, ticks] of bySite) if (most < 0 || ticks > bySite.get(most)) most = site;
    return { byDoing, most };
  }
}
