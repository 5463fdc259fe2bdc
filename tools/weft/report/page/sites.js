// SPDX-License-Identifier: Apache-2.0
// The table of places: flat or as a tree, sorted by any column, filtered by kind and text. Its rows follow the arrow
// keys as WAI-ARIA's tree grids do.

import { choose, chosen, goToDetails, onChoice } from "./choice.js";
import { columnsFor, textOf } from "./columns.js";
import { by, h, say, show } from "./dom.js";
import { count, counted } from "./figures.js";

// More rows are drawn when the reader asks for them.
const AT_FIRST = 500;

export class SitesTable {
  constructor(report) {
    this.sites = report.sites;
    this.own = columnsFor(this.sites, false);
    this.sums = columnsFor(this.sites, true);
    this.texts = this.sites.map(textOf);
    this.sort = { key: "lost", down: true };
    this.tree = false;
    this.text = "";
    this.kind = "";
    this.closed = new Set();
    this.limit = AT_FIRST;
    this.rows = new Map();  // by number of the site: what is in the table
    this.build();
    onChoice((site) => this.mark(site));
  }

  // In a tree, times are sums: a closed row stands for all that is in it.
  get columns() {
    return this.tree ? this.sums : this.own;
  }

  build() {
    const kinds = [...new Set(this.sites.map((site) => site.kind))].sort();
    const search = h("input", {
      type: "search",
      id: "filter-text",
      placeholder: "file, function or library",
      autocomplete: "off",
    });
    search.addEventListener("input", () => this.change(() => (this.text = search.value.trim().toLowerCase())));
    const kind = h(
      "select",
      { id: "filter-kind" },
      h("option", { value: "" }, "all kinds"),
      kinds.map((name) => h("option", { value: name }, name)),
    );
    kind.addEventListener("change", () => this.change(() => (this.kind = kind.value)));
    const view = (tree, word, title) => {
      const id = tree ? "as-tree" : "as-list";
      const button = h("button", { type: "button", id, title, "aria-pressed": String(tree === this.tree) }, word);
      button.addEventListener("click", () =>
        this.change(() => {
          this.tree = tree;
          by("as-tree").setAttribute("aria-pressed", String(tree));
          by("as-list").setAttribute("aria-pressed", String(!tree));
        }),
      );
      return button;
    };
    const reasons = h("input", { type: "checkbox", id: "all-reasons" });
    reasons.addEventListener("change", () => this.box.classList.toggle("reasons", reasons.checked));
    this.head = h("tr", {}, this.columns.map((column) => this.headOf(column)));
    this.body = h("tbody");
    this.caption = h("caption", {}, "");
    this.table = h("table", { id: "sites-table" }, this.caption, h("thead", {}, this.head), this.body);
    this.foot = h("div", { class: "more", hidden: true });
    this.box = h("div", { class: "sites" }, this.table, this.foot);
    this.body.addEventListener("click", (event) => this.clicked(event));
    this.body.addEventListener("keydown", (event) => this.pressed(event));
    show(
      "places-content",
      h(
        "div",
        { class: "tools", role: "search", "aria-label": "Places" },
        h("label", {}, "Find ", search),
        h("label", {}, "Kind ", kind),
        h("span", { class: "group", role: "group", "aria-label": "Order of the places" },
          view(false, "List", "All places in the order of the sorted column"),
          view(true, "Tree", "Each place under the one that it was met in; times are sums with the places within")),
        h("label", {}, reasons, "All reasons"),
      ),
      this.box,
    );
    by("places-words").replaceChildren(
      ...this.columns.flatMap((column) => [h("dt", {}, column.label), h("dd", {}, column.means)]),
    );
    this.draw();
  }

  headOf(column) {
    const button = h(
      "button",
      { type: "button", title: column.means },
      h("span", { class: "label-text" }, column.label),
      column.unit && h("span", { class: "unit" }, column.unit),
    );
    button.addEventListener("click", () =>
      this.change(() => {
        const down = this.sort.key === column.key ? !this.sort.down : !column.text;
        this.sort = { key: column.key, down };
        say(`Sorted by ${column.label.toLowerCase()}, ${down ? "descending" : "ascending"}.`);
      }),
    );
    const kind = [column.text ? "" : "number", column.reason ? "reason" : ""].filter(Boolean).join(" ");
    return h("th", { scope: "col", class: kind || undefined, "data-key": column.key }, button);
  }

  // Does what changes the order or the choice of rows, and draws them anew.
  change(what) {
    what();
    this.limit = AT_FIRST;
    this.draw();
  }

  matches(site) {
    return (!this.kind || site.kind === this.kind) && (!this.text || this.texts[site.number].includes(this.text));
  }

  compare() {
    const { key, down } = this.sort;
    const { value, text } = this.columns.find((column) => column.key === key);
    return (a, b) => {
      const [x, y] = [value(a), value(b)];
      const difference = text ? x.localeCompare(y, "en", { numeric: true }) : x - y;
      return (down ? -difference : difference) || a.number - b.number;
    };
  }

  // The sites to be shown, from the top: [site, depth].
  visible() {
    const order = this.compare();
    if (!this.tree) return this.sites.filter((site) => this.matches(site)).sort(order).map((site) => [site, 0]);
    // A place that is shown keeps those around it, or nobody would know where it is.
    const needed = new Set();
    for (const site of this.sites) {
      if (!this.matches(site)) continue;
      for (let at = site; at && !needed.has(at); at = at.above) needed.add(at);
    }
    const found = [];
    const add = (site, depth) => {
      found.push([site, depth]);
      if (this.closed.has(site)) return;
      for (const child of site.children.filter((c) => needed.has(c)).sort(order)) add(child, depth + 1);
    };
    if (needed.has(this.sites[0])) add(this.sites[0], 0);
    return found;
  }

  draw() {
    this.table.setAttribute("role", this.tree ? "treegrid" : "grid");
    for (const head of this.head.children) {
      head.removeAttribute("aria-sort");
      if (head.dataset.key === this.sort.key) {
        head.setAttribute("aria-sort", this.sort.down ? "descending" : "ascending");
      }
    }
    const all = this.visible();
    const shown = all.slice(0, this.limit);
    this.rows.clear();
    this.order = shown.map(([site]) => site);
    this.body.replaceChildren(...shown.map(([site, depth]) => this.row(site, depth)));
    const filtered = this.kind || this.text;
    const places = counted(this.sites.length, "place");
    this.caption.textContent =
      (filtered ? `${count(all.length)} of ${places}` : places) +
      (this.tree ? ". Times of a place are sums with the places within." : "");
    if (filtered) say(this.caption.textContent);
    this.foot.hidden = all.length <= shown.length;
    if (!this.foot.hidden) {
      const more = h("button", { type: "button" }, `Show all ${count(all.length)} places`);
      more.addEventListener("click", () => {
        this.limit = Infinity;
        this.draw();
      });
      this.foot.replaceChildren(more);
    }
    const reached = this.rows.has(chosen()?.number) ? chosen() : this.order[0];
    if (reached) this.rows.get(reached.number).tabIndex = 0;
  }

  row(site, depth) {
    const open = !this.closed.has(site);
    const parent = this.tree && site.children.length > 0;
    const twist = parent ? (open ? "▾" : "▸") : "";
    const cells = this.columns.map((column) =>
      column.key === "name" ? this.nameCell(site, depth, twist) : this.cell(site, column),
    );
    const row = h(
      "tr",
      {
        tabindex: -1,
        "data-site": site.number,
        "aria-selected": String(site === chosen()),
        "aria-level": this.tree ? depth + 1 : undefined,
        "aria-expanded": parent ? String(open) : undefined,
      },
      cells,
    );
    this.rows.set(site.number, row);
    return row;
  }

  nameCell(site, depth, twist) {
    const callee = site.place.function;
    return h(
      "th",
      { scope: "row" },
      h(
        "div",
        { class: "place-cell", style: { "padding-left": `${Math.min(depth, 8) * 1.1}rem` } },
        this.tree && h("span", { class: "twist", "aria-hidden": "true" }, twist),
        h(
          "div",
          {},
          h("span", { class: "name" }, site.name),
          callee && !site.name.startsWith(callee) && h("span", { class: "function", title: callee }, callee),
        ),
      ),
    );
  }

  cell(site, column) {
    const kinds = [!column.text && "number", column.reason && "reason", column.value(site) === 0 && "zero"];
    const attributes = {
      class: kinds.filter(Boolean).join(" ") || undefined,
      title: column.title?.(site) || undefined,
      "data-key": column.key,
    };
    return h("td", attributes, column.cell(site));
  }

  mark(site) {
    for (const [number, row] of this.rows) {
      row.setAttribute("aria-selected", String(number === site.number));
      row.tabIndex = number === site.number ? 0 : -1;
    }
    const row = this.rows.get(site.number);
    if (!row && this.order.length > 0) this.rows.get(this.order[0].number).tabIndex = 0;
    if (row && !row.contains(document.activeElement)) this.reveal(row);
  }

  // Scrolls the table, not the page.
  reveal(row) {
    const top = row.offsetTop - this.head.offsetHeight;
    const bottom = row.offsetTop + row.offsetHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (bottom > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = bottom - this.box.clientHeight;
  }

  siteOf(target) {
    const row = target.closest("tr");
    return row ? this.sites[Number(row.dataset.site)] : null;
  }

  toggle(site) {
    if (this.closed.has(site)) this.closed.delete(site);
    else this.closed.add(site);
    this.draw();
    this.go(site);
  }

  clicked(event) {
    const site = this.siteOf(event.target);
    if (!site) return;
    if (event.target.closest(".twist") && site.children.length > 0) this.toggle(site);
    else this.go(site);
  }

  go(site) {
    choose(site);
    const row = this.rows.get(site.number);
    for (const other of this.rows.values()) other.tabIndex = other === row ? 0 : -1;
    row?.focus({ preventScroll: true });
    if (row) this.reveal(row);
  }

  pressed(event) {
    const site = this.siteOf(event.target);
    if (!site || event.ctrlKey || event.altKey || event.metaKey) return;
    const at = this.order.indexOf(site);
    const to = (index) => this.go(this.order[Math.max(0, Math.min(this.order.length - 1, index))]);
    const parent = this.tree && site.children.length > 0;
    const open = parent && !this.closed.has(site);
    const actions = {
      ArrowDown: () => to(at + 1),
      ArrowUp: () => to(at - 1),
      PageDown: () => to(at + 10),
      PageUp: () => to(at - 10),
      Home: () => to(0),
      End: () => to(this.order.length - 1),
      ArrowRight: () => {
        if (!parent) this.sideways(1);
        else if (open) to(at + 1);
        else this.toggle(site);
      },
      ArrowLeft: () => {
        if (open) this.toggle(site);
        else if (this.tree && this.rows.has(site.above?.number)) this.go(site.above);
        else this.sideways(-1);
      },
      Enter: () => {
        this.go(site);
        goToDetails();
      },
      " ": () => this.go(site),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  sideways(direction) {
    this.box.scrollLeft += 120 * direction;
  }
}
