// SPDX-License-Identifier: Apache-2.0
// How long the pieces of work at a place were, and what each has cost beside that.

import { chart } from "./charts.js";
import { h, table } from "./dom.js";
import { count, percent, seconds } from "./figures.js";
import { aPieceOf, overheadPerPiece, pieceOf } from "./data.js";
import { colour } from "./theme.js";

function bins(histogram) {
  const first = histogram.findIndex((n) => n > 0);
  const last = histogram.findLastIndex((n) => n > 0);
  if (first < 0) return [];
  const from = Math.max(0, first - 1);
  const to = Math.min(39, last + 1);
  const found = [];
  for (let i = from; i <= to; i++) {
    found.push({ low: 2 ** i * 1e-9, high: 2 ** (i + 1) * 1e-9, count: histogram[i] ?? 0 });
  }
  return found;
}

// Where a length lies on the axis of the bins, which is logarithmic; 0 is the middle of the first.
function position(length, shown) {
  return Math.log2(length / shown[0].low) - 0.5;
}

// A line across the bars at the overhead of a piece.
function marker(cost, shown) {
  return {
    id: "overhead",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea: area, scales } = chart;
      const step = area.width / shown.length;
      const x = scales.x.getPixelForValue(0) + position(cost, shown) * step;
      if (!(x >= area.left - 1 && x <= area.right + 1)) return;
      ctx.save();
      ctx.strokeStyle = colour("ink");
      ctx.setLineDash([5, 3]);
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.moveTo(x, area.top - 14);
      ctx.lineTo(x, area.bottom);
      ctx.stroke();
      ctx.fillStyle = colour("ink");
      ctx.font = `600 12px ${Chart.defaults.font.family}`;
      const text = `overhead ${seconds(cost)}`;
      const left = x + 6 + ctx.measureText(text).width < area.right;
      ctx.textAlign = left ? "left" : "right";
      ctx.fillText(text, x + (left ? 6 : -6), area.top - 5);
      ctx.restore();
    },
  };
}

function sentence(site, cost) {
  const { mean, timed } = site.lengths;
  const piece = aPieceOf(site);
  const begin = `${piece[0].toUpperCase()}${piece.slice(1)} takes ${seconds(mean)} on average`;
  const end = `(${count(timed)} ${timed === 1 ? "was" : "were"} timed).`;
  if (cost === null || cost === 0) return `${begin} ${end}`;
  const part = cost / (cost + mean);
  return (
    `${begin}, and costs ${seconds(cost)} in the runtime: ${percent(part)} of both together ${end}`
  );
}

// {elements, draw}; null: no piece was timed.
export function histogramOf(site) {
  const shown = bins(site.lengths.histogram ?? []);
  if (!(site.lengths.timed > 0) || shown.length === 0) return null;
  const cost = overheadPerPiece(site);
  const many = pieceOf(site);
  const made = chart(`Bars: how many ${many} took how long. ${sentence(site, cost)} A table follows.`, 210, () => ({
    type: "bar",
    data: {
      labels: shown.map((bin) => seconds(bin.low)),
      datasets: [
        {
          data: shown.map((bin) => bin.count),
          // Shorter than what they cost: not worth it.
          backgroundColor: shown.map((bin) => colour(cost !== null && bin.high <= cost ? "imbalance" : "useful")),
          barPercentage: 1,
          categoryPercentage: 0.92,
          borderRadius: 2,
        },
      ],
    },
    options: {
      layout: { padding: { top: 18 } },
      scales: {
        x: {
          title: { display: true, text: `length of ${aPieceOf(site)}` },
          grid: { display: false },
          ticks: { maxRotation: 60, autoSkipPadding: 10 },
        },
        y: { beginAtZero: true, title: { display: true, text: many }, ticks: { maxTicksLimit: 5 } },
      },
      plugins: {
        tooltip: {
          callbacks: {
            title: ([item]) => `${seconds(shown[item.dataIndex].low)} to ${seconds(shown[item.dataIndex].high)}`,
            label: (item) => `${count(item.raw)} ${many}`,
          },
        },
      },
    },
    plugins: cost ? [marker(cost, shown)] : [],
  }));
  const rows = shown
    .filter((bin) => bin.count > 0)
    .map((bin) => [`${seconds(bin.low)} to ${seconds(bin.high)}`, count(bin.count)]);
  return {
    elements: [
      h("h4", {}, `Length of ${many}`),
      h("p", {}, sentence(site, cost)),
      made.box,
      h(
        "details",
        {},
        h("summary", {}, "These bars as a table"),
        table(`How many ${many} took how long`, ["Length", { text: many, number: true }], rows),
      ),
    ],
    draw: made.draw,
  };
}
