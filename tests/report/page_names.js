// SPDX-License-Identifier: Apache-2.0
// For page_access_test.py, within the page: what screen readers could not name or place.
const wrong = [];
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const expect = (holds, what, element) => {
  if (!holds) wrong.push([what, element.outerHTML ?? element]);
};
for (const e of all("button, a, select, input, summary")) {
  expect(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.[0]?.textContent.trim(), "no name", e);
}
for (const e of all("canvas")) expect(e.getAttribute("aria-label") && e.getAttribute("role"), "canvas", e);
for (const e of all("svg")) expect(e.getAttribute("aria-hidden") === "true", "svg", e);
for (const table of all("table")) {
  expect(table.caption?.textContent.trim(), "caption", table.id);
  for (const head of all("th", table)) expect(["col", "row"].includes(head.scope), "scope", head);
  for (const row of table.tBodies[0].rows) expect(row.cells[0].scope === "row", "row head", row);
}
for (const e of all("main section")) expect(e.getAttribute("aria-labelledby"), "section", e.id);
for (const name of ["aria-labelledby", "aria-describedby"]) {
  for (const e of all(`[${name}]`)) {
    for (const id of e.getAttribute(name).split(" ")) expect(document.getElementById(id), "no such id", id);
  }
}
const ids = all("[id]").map((e) => e.id);
expect(new Set(ids).size === ids.length, "an id twice", ids.join(" "));
for (const e of all('a[href^="#"]')) expect(document.querySelector(e.getAttribute("href")), "leads nowhere", e);
return wrong;
