// SPDX-License-Identifier: Apache-2.0
// Colours of the timeline: a colour for each of the regions with most CPU time, a shade for what a CPU does there.

import { DOINGS } from "../words.js";
import { colour } from "../theme.js";

const REGIONS = 8;

export function rgbOf(text) {
  const number = Number.parseInt(text.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

function mix(a, b, part) {
  return a.map((value, i) => Math.round(value * (1 - part) + b[i] * part));
}

export class Palette {
  constructor(sites, tracks) {
    this.sites = sites;
    const time = new Map();
    for (const { starts, sites: numbers, doings, length } of tracks.cpus) {
      for (let i = 0; i < length; i++) {
        const site = sites[numbers[i]];
        if (doings[i] === 0 || !site?.region) continue;
        const ticks = starts[i + 1] - starts[i];
        for (const region of new Set([site.region, site.outer])) time.set(region, (time.get(region) ?? 0) + ticks);
      }
    }
    const ordered = [...time].sort((a, b) => b[1] - a[1]).map(([region]) => region);
    this.regions = ordered.slice(0, REGIONS);
    this.more = ordered.length - this.regions.length;
    this.names = new Map(this.regions.map((region, i) => [region, `region-${i}`]));
    this.read();
  }

  // Takes the theme's colours.
  read() {
    const ground = rgbOf(colour("card"));
    const ink = rgbOf(colour("ink"));
    const idle = rgbOf(colour("idle"));
    const blocked = rgbOf(colour("blocked"));
    this.ground = ground;
    this.shades = (base) => [idle, base, mix(base, ink, 0.5), mix(base, ground, 0.66), blocked];
    this.inner = this.tableOf((site) => site.region);
    this.outer = this.tableOf((site) => site.outer);
  }

  nameOf(region) {
    if (!region) return "outside";
    return this.names.get(region) ?? "others";
  }

  // Three bytes for each site and doing.
  tableOf(regionOf) {
    const colours = new Uint8Array(this.sites.length * DOINGS.length * 3);
    this.sites.forEach((site, number) => {
      const shades = this.shades(rgbOf(colour(this.nameOf(regionOf(site)))));
      shades.forEach((shade, doing) => colours.set(shade, (number * DOINGS.length + doing) * 3));
    });
    return colours;
  }

  // The table with everything but the sites for which `keeps` is true made pale.
  dimmed(colours, keeps) {
    const made = colours.slice();
    this.sites.forEach((site, number) => {
      if (keeps(site)) return;
      for (let doing = 0; doing < DOINGS.length; doing++) {
        const at = (number * DOINGS.length + doing) * 3;
        made.set(mix([...colours.subarray(at, at + 3)], this.ground, 0.85), at);
      }
    });
    return made;
  }
}
