// SPDX-License-Identifier: Apache-2.0
// What is large is drawn after the first paint, one part at a time, so that the page answers in between.

const waiting = [];

export function later(draw) {
  waiting.push(draw);
}

// Starts with what waits; `done` is called behind the last.
export function startLater(done) {
  const next = () => {
    const draw = waiting.shift();
    if (!draw) return done();
    draw();
    setTimeout(next);
  };
  // A hidden page paints nothing: the time-out starts there.
  let started = false;
  const start = () => {
    if (started) return;
    started = true;
    setTimeout(next);
  };
  requestAnimationFrame(() => requestAnimationFrame(start));
  setTimeout(start, 200);
}
