// SPDX-License-Identifier: Apache-2.0
// Draws the page: what is to be read first at once, what is large behind the first paint.

import { showAdvice } from "./advice.js";
import { startCharts } from "./charts.js";
import { readReport } from "./data.js";
import { by } from "./dom.js";
import { showFactors } from "./factors.js";
import { showHeadline } from "./headline.js";
import { later, startLater } from "./later.js";
import { showMessages } from "./messages.js";
import { startPlace } from "./place.js";
import { showRanks } from "./ranks.js";
import { showSettings } from "./settings.js";
import { SitesTable } from "./sites.js";
import { startTheme } from "./theme.js";
import { showThreads } from "./threads.js";
import { showTimeline } from "./timeline/timeline.js";

function draw() {
  startTheme();
  let report;
  try {
    report = readReport();
  } catch (problem) {
    for (const section of document.querySelectorAll("main > section")) section.hidden = true;
    by("unreadable").hidden = false;
    by("unreadable").textContent = problem.message;
    return;
  }
  showHeadline(report);
  showAdvice(report);
  later(() => {
    startCharts();
    showFactors(report);
  });
  later(() => showRanks(report));
  later(() => new SitesTable(report));
  later(() => startPlace(report));
  later(() => showTimeline(report));
  later(() => showThreads(report));
  later(() => showMessages(report));
  later(() => showSettings(report));
  startLater(() => (document.documentElement.dataset.drawn = "all"));
}

draw();
