// SPDX-License-Identifier: Apache-2.0
// Elements of the page. Texts of the report become text nodes and nothing else, so that no name can be markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "style") {
      for (const [property, setting] of Object.entries(value)) element.style.setProperty(property, setting);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

// An element with attributes, listeners (`on`), properties of style (`style`) and children: elements or texts.
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function by(id) {
  return document.getElementById(id);
}

// Puts the children in place of what the element with this id has.
export function show(id, ...children) {
  const element = by(id);
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return element;
}

// Says something to those who hear the page.
export function say(text) {
  by("said").textContent = text;
}

// A table from a caption, heads and rows of cells. A head is a text, or {text, number, title}; the first cell of a row
// is its head. `attributes` go to the table.
export function table(caption, heads, rows, attributes = {}) {
  const columns = heads.map((head) => (typeof head === "string" ? { text: head } : head));
  const kind = (column) => (column.number ? "number" : undefined);
  return h(
    "table",
    attributes,
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, columns.map((c) => h("th", { scope: "col", class: kind(c), title: c.title }, c.text)))),
    h(
      "tbody",
      {},
      rows.map((cells) =>
        h(
          "tr",
          {},
          cells.map((cell, i) =>
            i === 0
              ? h("th", { scope: "row", class: kind(columns[i]) }, cell)
              : h("td", { class: kind(columns[i]) }, cell),
          ),
        ),
      ),
    ),
  );
}

// A table that scrolls by itself where the page is narrower, which keyboards can reach too.
export function scrolled(label, element) {
  return h("div", { class: "scrolled", tabindex: 0, role: "region", "aria-label": label }, element);
}
