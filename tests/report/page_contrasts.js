// SPDX-License-Identifier: Apache-2.0
// For page_access_test.py, within the page: how many texts are to be seen, and those whose contrast with what is behind
// them is below WCAG's AA: 4.5, or 3 for large ones.
const numbers = (colour) => {
  const parts = colour.match(/[\d.]+/g).map(Number);
  const scale = colour.startsWith("color(srgb") ? 255 : 1;
  return [...parts.slice(0, 3).map((part) => part * scale), parts[3] ?? 1];
};
const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
const behind = (element) => {
  const grounds = [];
  for (let at = element; at; at = at.parentElement) grounds.unshift(numbers(getComputedStyle(at).backgroundColor));
  return grounds.reduce((under, top) => over(top, under), [255, 255, 255, 1]);
};
const luminance = (colour) => {
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = colour.map((value) => linear(value / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const found = new Set();
let looked = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const text = walker.currentNode.data.trim();
  const element = walker.currentNode.parentElement;
  const aside = element.closest("script, style, noscript, svg, option, :disabled");
  if (!text || aside || !element.checkVisibility()) continue;
  looked++;
  const style = getComputedStyle(element);
  const ground = behind(element);
  const ink = over(numbers(style.color), ground);
  const [light, dark] = [luminance(ink), luminance(ground)].sort((a, b) => b - a);
  const ratio = (light + 0.05) / (dark + 0.05);
  const size = Number.parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  if (ratio < (large ? 3 : 4.5)) found.add(`${element.tagName}.${element.className} "${text}" ${ratio.toFixed(2)}`);
}
return [looked, [...found]];
