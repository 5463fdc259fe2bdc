// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system says until the reader chooses. Paper is light.

import { by } from "./dom.js";

const KEY = "weft-report-theme";
const listeners = [];
let cache = null;

// The colours of colours.css by name, for canvases.
export function colour(name) {
  cache ??= new Map();
  if (!cache.has(name)) {
    cache.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return cache.get(name);
}

// Calls back when colours change.
export function onTheme(listener) {
  listeners.push(listener);
}

function set(theme) {
  document.documentElement.dataset.theme = theme;
  by("theme").setAttribute("aria-pressed", String(theme === "dark"));
  cache = null;
  for (const listener of listeners) listener();
}

function kept() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const current = () => document.documentElement.dataset.theme;
  by("theme").setAttribute("aria-pressed", String(current() === "dark"));
  by("theme").addEventListener("click", () => {
    const theme = current() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // It is the reader's for as long as the page is open.
    }
    set(theme);
  });
  system.addEventListener("change", () => {
    if (!kept()) set(system.matches ? "dark" : "light");
  });
  let screen = null;
  addEventListener("beforeprint", () => {
    screen = current();
    if (screen !== "light") set("light");
  });
  addEventListener("afterprint", () => {
    if (screen && screen !== current()) set(screen);
    screen = null;
  });
}
