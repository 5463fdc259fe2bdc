// SPDX-License-Identifier: Apache-2.0
// Runs before anything is painted, so that a dark page is never white first.
(() => {
  let kept = null;
  try {
    kept = localStorage.getItem("weft-report-theme");
  } catch {
    // A browser may refuse to keep anything for a file.
  }
  const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
