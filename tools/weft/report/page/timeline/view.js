// SPDX-License-Identifier: Apache-2.0
// The part of the run that the timeline shows, in ticks.

// Spans are whole ticks: nothing is to be seen nearer.
const NEAREST = 8;

export class View {
  constructor(ticks, changed) {
    this.ticks = Math.max(1, ticks);
    this.changed = changed;
    this.from = 0;
    this.to = this.ticks;
  }

  get length() {
    return this.to - this.from;
  }

  get isWhole() {
    return this.from === 0 && this.to === this.ticks;
  }

  set(from, to) {
    const length = Math.min(this.ticks, Math.max(Math.min(NEAREST, this.ticks), to - from));
    const begin = Math.max(0, Math.min(this.ticks - length, from));
    if (begin === this.from && begin + length === this.to) return;
    this.from = begin;
    this.to = begin + length;
    this.changed();
  }

  // Around a moment that stays where it is.
  zoom(factor, moment = (this.from + this.to) / 2) {
    const length = Math.min(this.ticks, Math.max(Math.min(NEAREST, this.ticks), this.length * factor));
    const part = (moment - this.from) / this.length;
    this.set(moment - part * length, moment + (1 - part) * length);
  }

  // By a part of what is shown.
  pan(part) {
    this.set(this.from + part * this.length, this.to + part * this.length);
  }

  whole() {
    this.set(0, this.ticks);
  }

  // Moves as far as needed to have a moment inside.
  reveal(moment) {
    if (moment < this.from) this.set(moment - 0.1 * this.length, moment + 0.9 * this.length);
    if (moment >= this.to) this.set(moment - 0.9 * this.length, moment + 0.1 * this.length);
  }
}
