// SPDX-License-Identifier: Apache-2.0
// The part of the run that the timeline shows, as a table: the same for those who do not see the picture.

import { h, scrolled, table } from "../dom.js";
import { percent, seconds } from "../figures.js";
import { DOINGS } from "../words.js";

export function rangeTable(tracks, sites, view) {
  const content = h("div");
  const summary = h("summary", {}, "This part of the timeline as a table");
  const element = h("details", { id: "timeline-table" }, summary, content);
  let waiting = null;
  const fill = () => {
    const length = view.to - view.from;
    const [from, to] = [view.from, view.to].map((moment) => seconds(moment * tracks.tick));
    const rows = tracks.cpus.map((_, cpu) => {
      const { byDoing, most } = tracks.sums(cpu, view.from, view.to);
      return [
        tracks.name(cpu),
        ...[1, 2, 3, 4, 0].map((doing) => percent(byDoing[doing] / length)),
        most >= 0 ? sites[most].label : "–",
      ];
    });
    content.replaceChildren(
      scrolled(
        "Timeline as a table",
        table(
          `What each CPU did from ${from} to ${to}, in parts of that time`,
          ["CPU", ...[1, 2, 3, 4, 0].map((doing) => ({ text: DOINGS[doing].word, number: true })), "Most in"],
          rows,
        ),
      ),
    );
  };
  element.addEventListener("toggle", () => element.open && fill());
  return {
    element,
    // Behind the last of many moves.
    draw() {
      if (!element.open) return;
      clearTimeout(waiting);
      waiting = setTimeout(fill, 150);
    },
  };
}
