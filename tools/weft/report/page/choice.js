// SPDX-License-Identifier: Apache-2.0
// The place that the reader looks at. The table, the timeline and the advice choose it; whoever shows it listens.

const listeners = [];
let current = null;

export function chosen() {
  return current;
}

export function choose(site) {
  if (!site || site === current) return;
  current = site;
  for (const listener of listeners) listener(site);
}

export function onChoice(listener) {
  listeners.push(listener);
}

// Brings the details of the chosen place before the reader's eyes and keys.
export function goToDetails() {
  const details = document.getElementById("place");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  details.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "nearest" });
  details.focus({ preventScroll: true });
}
