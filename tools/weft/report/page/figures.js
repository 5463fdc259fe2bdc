// SPDX-License-Identifier: Apache-2.0
// Figures as people read them: three digits that count, and units in which they are neither long nor tiny.

const UNITS = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];

function digits(value, count = 3) {
  if (value === 0) return "0";
  const before = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toLocaleString("en", {
    minimumFractionDigits: Math.max(0, Math.min(count - before, 3)),
    maximumFractionDigits: Math.max(0, count - before),
  });
}

// 1.23 s, 45.6 ms, 789 µs
export function seconds(value) {
  if (!value) return "0 s";
  for (const [size, unit] of UNITS) {
    // What would be rounded up to 1000 of a unit is 1 of the next.
    if (Math.abs(value) >= size * 0.9995) return `${digits(value / size)} ${unit}`;
  }
  return `${digits(value / 1e-9)} ns`;
}

// 61 %, 3.4 %: a part of one.
export function percent(part) {
  const value = 100 * part;
  return `${value.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} %`;
}

export function wholePercent(part) {
  return `${Math.round(100 * part)} %`;
}

export function count(value) {
  return Math.round(value).toLocaleString("en");
}

// "1 place", "12 places"
export function counted(value, word) {
  return `${count(value)} ${word}${Math.round(value) === 1 ? "" : "s"}`;
}

// A function for a column of figures that are compared with each other: all have the same number of decimals.
export function column(values) {
  const largest = Math.max(0, ...values);
  const decimals = largest >= 1000 ? 0 : largest >= 100 ? 1 : largest >= 10 ? 2 : 3;
  const least = 10 ** -decimals;
  return (value) => {
    if (value === 0) return "0";
    if (Math.abs(value) < least / 2) return `< ${least.toFixed(decimals)}`;
    return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  };
}

// A word of the command line as a shell would have to be given it.
export function shellWord(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
