// SPDX-License-Identifier: Apache-2.0
// How bars look, and that they follow the theme. Everything that the page draws with Chart.js is made here.

import { h } from "./dom.js";
import { colour, onTheme } from "./theme.js";

const charts = new Map();

// Makes a box with a chart. `configure` gives Chart.js's configuration in the colours of the moment; `label` says what
// a reader who does not see it is told. The box has to be in the page when `draw` is called.
export function chart(label, height, configure) {
  const canvas = h("canvas", { role: "img", "aria-label": label });
  const box = h("div", { class: "chart", style: { height: `${height}px` } }, canvas);
  return {
    box,
    draw() {
      charts.set(canvas, { configure, chart: new Chart(canvas, configure()) });
    },
  };
}

// Ends the charts inside of an element that will be emptied.
export function endCharts(element) {
  for (const [canvas, { chart }] of charts) {
    if (!element.contains(canvas)) continue;
    chart.destroy();
    charts.delete(canvas);
  }
}

export function startCharts() {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const set = () => {
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    Chart.defaults.color = colour("quiet");
    Chart.defaults.borderColor = colour("line");
    Chart.defaults.animation = still.matches ? false : { duration: 300 };
    Chart.defaults.maintainAspectRatio = false;
    Chart.defaults.plugins.legend.display = false;
    Object.assign(Chart.defaults.plugins.tooltip, {
      backgroundColor: colour("ink"),
      titleColor: colour("card"),
      bodyColor: colour("card"),
      padding: 10,
      cornerRadius: 8,
      displayColors: false,
    });
  };
  set();
  onTheme(() => {
    set();
    for (const [canvas, entry] of charts) {
      entry.chart.destroy();
      const configuration = entry.configure();
      // At once: paper does not wait.
      configuration.options.animation = false;
      entry.chart = new Chart(canvas, configuration);
    }
  });
  addEventListener("beforeprint", () => {
    for (const { chart } of charts.values()) chart.resize();
  });
}

// A text in each segment of a stacked bar that has the room.
export function labelled(texts) {
  return {
    id: "labels",
    afterDatasetsDraw(chart) {
      const { ctx } = chart;
      ctx.save();
      ctx.textBaseline = "middle";
      chart.data.datasets.forEach((dataset, i) => {
        const { x, y, base } = chart.getDatasetMeta(i).data[0].getProps(["x", "y", "base"], true);
        const [word, figure] = texts[i];
        const room = x - base - 16;
        const middle = (x + base) / 2;
        ctx.fillStyle = readableOn(dataset.backgroundColor);
        ctx.textAlign = "center";
        ctx.font = `600 12px ${Chart.defaults.font.family}`;
        const wide = ctx.measureText(word).width;
        if (wide <= room) {
          ctx.fillText(word, middle, y - 8);
          ctx.font = `12px ${Chart.defaults.font.family}`;
          ctx.fillText(figure, middle, y + 9);
        } else if (ctx.measureText(figure).width <= room) {
          ctx.fillText(figure, middle, y);
        }
      });
      ctx.restore();
    },
  };
}

// Black or white: what can be read on a colour, as WCAG reckons.
function readableOn(hex) {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const part = Number.parseInt(hex.slice(i, i + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

// Horizontal bars, one for each row of {word, value, key}: `key` names the colour, `shown` makes the text of a value.
export function bars(label, rows, shown, maximum) {
  return chart(label, 30 * rows.length + 34, () => ({
    type: "bar",
    data: {
      labels: rows.map((row) => row.word),
      datasets: [
        {
          data: rows.map((row) => row.value),
          backgroundColor: rows.map((row) => colour(row.key)),
          borderRadius: 3,
          maxBarThickness: 18,
        },
      ],
    },
    options: {
      indexAxis: "y",
      scales: {
        x: {
          beginAtZero: true,
          max: maximum,
          grid: { color: colour("line") },
          ticks: { maxTicksLimit: 5, callback: (v) => shown(v) },
        },
        y: { grid: { display: false }, ticks: { color: colour("ink"), autoSkip: false } },
      },
      plugins: { tooltip: { callbacks: { label: (item) => shown(item.raw) } } },
    },
  }));
}
