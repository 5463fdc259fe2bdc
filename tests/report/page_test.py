# SPDX-License-Identifier: Apache-2.0
"""The page of `weft report` in a browser: what it shows, and what it does."""

import json
import random
import sys
import unittest

import sample
from browser import Keys, PageTest, main
from sample import LOSSES

WORDS = {
    "Useful work": "useful",
    "Serial parts": "serial",
    "Imbalance": "imbalance",
    "Synchronisation": "synchronisation",
    "Overhead": "overhead",
    "Few threads": "few_threads",
    "Transfer": "transfer",
    "Blocked": "blocked",
}
# Of the timeline's canvas (tools/weft/report/page/timeline).
LEFT, AXIS = 34, 22


def lost_in_all(site):
    return sum(site["lost"].values())


def inside(sites, root):
    found = {root}
    for number, site in enumerate(sites):
        if site["parent"] in found or (number and root == 0):
            found.add(number)
    return found


class Figures(PageTest):
    """All figures on the page are those of the report."""

    def rows(self):
        return self.browser.js(
            "return [...document.querySelectorAll('#sites-table tbody tr')].map(row => [Number(row.dataset.site),"
            " Object.fromEntries([...row.querySelectorAll('td')].map(cell => [cell.dataset.key, cell.textContent]))])")

    def check_time(self, report, number, cells, sites):
        parts = [report["sites"][i] for i in sites]
        self.shows(cells["lost"], sum(map(lost_in_all, parts)), f"lost of {number}")
        self.shows(cells["useful"], sum(part["useful"] for part in parts), f"useful of {number}")
        for loss in LOSSES:
            self.shows(cells[loss], sum(part["lost"][loss] for part in parts), f"{loss} of {number}")

    def test_headline(self):
        for name in ("small", "big", "quiet"):
            report = self.browser.open(name)
            run, useful = report["run"], report["factors"]["parallel_efficiency"]
            claim = self.browser.find("#claim").text
            part, cpus, seconds = claim.replace(" did the program's work.", "").replace(" of ", "|").replace(" × ", "|").split("|")
            self.shows(part, useful, claim)
            self.assertEqual(cpus, f"{run['cpus']} CPUs")
            self.shows(seconds, run["seconds"], claim)
            worst = min(LOSSES, key=lambda loss: report["factors"][loss])
            word = next(word for word, key in WORDS.items() if key == worst)
            self.assertIn(f"The largest loss is {word.lower()}", self.browser.find("#headline").text)

    def test_factors(self):
        for name in ("small", "big", "quiet"):
            report = self.browser.open(name)
            run, factors = report["run"], report["factors"]
            rows = self.browser.table("#factors-table")
            self.assertEqual({WORDS[row[0]] for row in rows}, {"useful", *LOSSES})
            parts = []
            for word, part, cpu_seconds, cpus, *_ in rows:
                key = WORDS[word]
                value = factors["parallel_efficiency"] if key == "useful" else 1 - factors[key]
                parts.append(value)
                self.shows(part, value, f"{name}: {word}")
                self.shows(cpu_seconds, value * run["cpus"] * run["seconds"], f"{name}: {word}")
                self.shows(cpus, value * run["cpus"], f"{name}: {word}")
            self.assertAlmostEqual(sum(parts), 1, places=6)
            self.assertEqual(parts[1:], sorted(parts[1:], reverse=True))
            drawn = self.browser.js("return Chart.getChart(document.querySelector('#factors-content canvas')).data.datasets"
                                    ".map(set => [set.label, set.data[0]])")
            for word, percent in drawn:
                key = WORDS[word]
                self.assertAlmostEqual(percent / 100, factors["parallel_efficiency"] if key == "useful" else 1 - factors[key])

    def test_list_of_places(self):
        for name in ("small", "big"):
            report = self.browser.open(name)
            rows = self.rows()
            self.assertEqual({number for number, _ in rows}, set(range(len(report["sites"]))))
            for number, cells in rows:
                site = report["sites"][number]
                self.check_time(report, number, cells, [number])
                self.assertEqual(cells["kind"], site["kind"])
                for key in ("count", "pieces", "stolen"):
                    self.shows(cells[key], site[key], f"{key} of {number}")
                if site["lengths"]["timed"]:
                    self.shows(cells["mean"], site["lengths"]["mean"], f"mean of {number}")
                else:
                    self.assertEqual(cells["mean"], "–")
                self.assertEqual(cells["members"], str(site["members"] or "–"))

    def test_tree_of_places_has_sums(self):
        for name in ("small", "big"):
            report = self.browser.open(name)
            self.browser.click("#as-tree")
            rows = self.rows()
            self.assertEqual(len(rows), len(report["sites"]))
            for number, cells in rows:
                self.check_time(report, number, cells, inside(report["sites"], number))

    def test_chosen_place(self):
        for name in ("small", "big"):
            report = self.browser.open(name)
            numbers = range(len(report["sites"]))
            for number in numbers if name == "small" else random.Random(4).sample(numbers, 12):
                self.browser.click(f"tr[data-site='{number}']")
                self.check_place(report["sites"][number])

    def check_place(self, site):
        self.assertEqual(self.browser.find("#place-title").text, site["name"])
        shown = dict(self.browser.js(
            "return [...document.querySelectorAll('#place .figures > div')].map(d => [d.children[0].textContent, d.children[1].textContent])"))
        self.shows(shown["Useful work"], site["useful"])
        self.shows(shown["Lost"], lost_in_all(site))
        self.shows(shown["Elapsed"], site["wall"])
        self.shows(shown["Count"], site["count"])
        for word, key in (("Members", "members"), ("Threads asked for", "requested"), ("Iterations", "iterations"), ("Stolen", "stolen")):
            self.assertEqual(word in shown, site[key] > 0)
            if site[key]:
                self.shows(shown[word], site[key])
        piece = {"task": "task", "taskloop": "task", "region": "execution"}.get(site["kind"], "chunk")
        if site["pieces"]:
            self.shows(shown[f"{piece.capitalize()}s"], site["pieces"])
        pieces = site["pieces"] or (site["count"] if site["kind"] == "region" else 0)
        if pieces and site["lost"]["overhead"]:
            self.shows(shown[f"Overhead per {piece}"], site["lost"]["overhead"] / pieces)
        tables = self.browser.js(
            "return [...document.querySelectorAll('#place table')].map(t => [t.caption.textContent,"
            " [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent))])")
        by_kind = {caption.split()[0]: rows for caption, rows in tables}
        lost = {key: value for key, value in site["lost"].items() if value > 0}
        self.assertEqual({WORDS[row[0]] for row in by_kind.get("CPU", [])}, set(lost))
        for word, value, _ in by_kind.get("CPU", []):
            self.shows(value, lost[WORDS[word]], word)
        histogram = [n for n in site["lengths"]["histogram"] if n > 0]
        if site["lengths"]["timed"]:
            rows = by_kind["How"]
            self.assertEqual([int(row[1].replace(",", "")) for row in rows], [round(n) for n in histogram])
            low, high = rows[0][0].split(" to ")
            first = next(i for i, n in enumerate(site["lengths"]["histogram"]) if n > 0)
            self.shows(low, 2**first * 1e-9)
            self.shows(high, 2 ** (first + 1) * 1e-9)
            bars = self.browser.js(
                "return [...document.querySelectorAll('#place canvas')].map(c => Chart.getChart(c).data.datasets[0].data)")
            self.assertIn(histogram, [[n for n in bar if n > 0] for bar in bars])
        self.assertEqual("Parts" in by_kind, bool(site.get("factors")))
        for word, part, factor in by_kind.get("Parts", []):
            key = WORDS[word]
            self.shows(part, site["factors"]["parallel_efficiency"] if key == "useful" else 1 - site["factors"][key], word)
            if key != "useful":
                self.shows(factor, site["factors"][key], word)

    def test_advice(self):
        report = self.browser.open("small")
        cards = self.browser.driver.find_elements("css selector", "#advice article")
        self.assertEqual(len(cards), len(report["advice"]))
        for card, advice in zip(cards, report["advice"]):
            for key in ("title", "evidence", "action", "command"):
                self.assertIn(advice[key], card.text)
            if advice["gain"]:
                self.shows(card.text.split("saves about ")[1], advice["gain"])
                self.shows(card.text.split("(")[1], advice["gain"] / report["run"]["seconds"])
            else:
                self.assertIn("gain not known", card.text)

    def test_threads_and_messages(self):
        for name in ("small", "big"):
            report = self.browser.open(name)
            whole = report["run"]["cpus"] * report["run"]["seconds"]
            rows = self.browser.table("table.threads")
            shown = sorted(row[0] for row in rows)
            self.assertEqual(shown, sorted(thread["name"] for thread in report["threads"]))
            by_name = {thread["name"]: thread for thread in report["threads"]}
            for thread, cpu, part in rows:
                self.shows(cpu, by_name[thread]["cpu"], thread)
                self.shows(part, by_name[thread]["cpu"] / whole, thread)
            heads = self.browser.js("return [...document.querySelectorAll('#threads h3')].map(e => e.textContent)")
            for whose in ("other", "program", "weft"):
                mine = [thread["cpu"] for thread in report["threads"] if thread["whose"] == whose]
                head = next(head for head in heads if head.startswith(f"{whose}: "))
                self.assertEqual(head.split()[1], str(len(mine)))
                self.shows(head.split(", ")[1], sum(mine), head)
            rows = self.browser.table("#messages-table")
            messages = sorted(report["messages"], key=lambda row: -row["waited"])
            self.assertEqual(len(rows), len(messages))
            for (call, peer, count, waited, mean), row in zip(rows, messages):
                self.assertEqual((call, peer), (row["call"], "any or all" if row["peer"] < 0 else f"rank {row['peer']}"))
                self.shows(count, row["count"])
                self.shows(waited, row["waited"])
                self.shows(mean, row["waited"] / row["count"])

    def test_settings_and_notes(self):
        report = self.browser.open("small")
        self.assertEqual(dict(self.browser.table("#settings-table")), report["run"]["settings"])
        notes = self.browser.js("return [...document.querySelectorAll('#notes li')].map(e => e.textContent)")
        self.assertEqual(notes, report["run"]["notes"])
        self.assertIn(report["run"]["version"], self.browser.find("footer").text)

    def test_a_run_without_faults_or_messages(self):
        self.browser.open("quiet")
        self.assertIn("No advice", self.browser.find("#advice").text)
        self.assertFalse(self.browser.find("#messages").is_displayed())
        self.assertFalse(self.browser.find("#to-messages").is_displayed())

    def test_a_run_that_was_too_short(self):
        self.browser.open("empty")
        for part in ("#headline", "#advice", "#factors", "#timeline"):
            self.assertIn("too short", self.browser.find(part).text)
        self.assertIn("exit code 1", self.browser.find("#headline").text)


class Places(PageTest):
    """The table of places."""

    def order(self):
        return self.browser.js("return [...document.querySelectorAll('#sites-table tbody tr')].map(row => Number(row.dataset.site))")

    def focused(self):
        return self.browser.js("return Number(document.activeElement.dataset?.site ?? -1)")

    def chosen(self):
        rows = self.browser.js("return [...document.querySelectorAll('#sites-table tr[aria-selected=true]')].map(row => Number(row.dataset.site))")
        self.assertEqual(len(rows), 1)
        return rows[0]

    def test_the_largest_loss_is_first(self):
        report = self.browser.open("big")
        lost = [lost_in_all(report["sites"][number]) for number in self.order()]
        self.assertEqual(lost, sorted(lost, reverse=True))

    def test_each_column_sorts_both_ways(self):
        report = self.browser.open("small")
        sites = report["sites"]
        self.browser.click("#all-reasons")
        values = {
            "lost": lost_in_all,
            **{loss: lambda site, loss=loss: site["lost"][loss] for loss in LOSSES},
            **{key: lambda site, key=key: site[key] for key in ("useful", "count", "members", "pieces", "stolen", "kind")},
            "mean": lambda site: site["lengths"]["mean"] if site["lengths"]["timed"] else 0,
        }
        for key, value in values.items():
            directions = []
            for _ in range(2):
                self.browser.click(f"#sites-table th[data-key='{key}'] button")
                shown = [value(sites[number]) for number in self.order()]
                direction = self.browser.find(f"#sites-table th[data-key='{key}']").get_attribute("aria-sort")
                self.assertEqual(shown, sorted(shown, reverse=direction == "descending"), key)
                self.assertEqual(self.browser.js("return document.querySelectorAll('#sites-table [aria-sort]').length"), 1)
                directions.append(direction)
            self.assertEqual(sorted(directions), ["ascending", "descending"])
        self.browser.click("#sites-table th[data-key='name'] button")
        names = [sites[number]["name"] for number in self.order()]
        self.assertLess(names.index("solver.c:45"), names.index("solver.c:61"))
        self.assertLess(names.index("assemble.f90:91"), names.index("assemble.f90:120"), "numbers count as numbers")

    def test_filters(self):
        report = self.browser.open("big")
        sites = report["sites"]
        field = self.browser.find("#filter-text")
        field.send_keys("MODULE_03")
        expected = {n for n, site in enumerate(sites) if "module_03" in site["place"]["file"]}
        self.assertEqual(set(self.order()), expected)
        self.assertIn(f"{len(expected)} of {len(sites)} places", self.browser.find("#sites-table caption").text)
        self.browser.js("const e = document.querySelector('#filter-kind'); e.value = 'loop'; e.dispatchEvent(new Event('change'))")
        loops = {n for n in expected if sites[n]["kind"] == "loop"}
        self.assertEqual(set(self.order()), loops)
        self.browser.click("#as-tree")
        around = {0} | loops | {sites[n]["parent"] for n in loops}
        self.assertEqual(set(self.order()), around)
        field.send_keys("nothing has this name")
        self.assertEqual(self.order(), [])

    def test_arrow_keys_in_the_list(self):
        self.browser.open("small")
        order = self.order()
        self.browser.js("document.querySelector('#sites-table tbody tr[tabindex=\"0\"]').focus()")
        self.browser.keys(Keys.HOME)
        self.assertEqual((self.focused(), self.chosen()), (order[0], order[0]))
        self.browser.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        self.assertEqual((self.focused(), self.chosen()), (order[2], order[2]))
        self.browser.keys(Keys.ARROW_UP)
        self.assertEqual(self.focused(), order[1])
        self.browser.keys(Keys.END)
        self.assertEqual(self.focused(), order[-1])
        self.assertEqual(self.browser.js("return document.querySelectorAll('#sites-table tbody tr[tabindex=\"0\"]').length"), 1)
        self.browser.keys(Keys.ENTER)
        self.assertEqual(self.browser.js("return document.activeElement.id"), "place")

    def test_arrow_keys_in_the_tree(self):
        report = self.browser.open("small")
        sites = report["sites"]
        self.browser.click("#as-tree")
        before = self.order()
        parent = next(n for n in before if n and any(site["parent"] == n for site in sites))
        self.browser.click(f"tr[data-site='{parent}']")
        row = f"tr[data-site='{parent}']"
        self.assertEqual(self.browser.find(row).get_attribute("aria-expanded"), "true")
        self.browser.keys(Keys.ARROW_LEFT)
        self.assertEqual(self.browser.find(row).get_attribute("aria-expanded"), "false")
        self.assertEqual(set(before) - set(self.order()), inside(sites, parent) - {parent})
        self.browser.keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.order(), before)
        self.browser.keys(Keys.ARROW_RIGHT)
        self.assertEqual(sites[self.focused()]["parent"], parent)
        self.assertEqual(self.browser.find(f"tr[data-site='{self.focused()}']").get_attribute("aria-level"),
                         str(int(self.browser.find(row).get_attribute("aria-level")) + 1))
        self.browser.keys(Keys.ARROW_LEFT if not any(s["parent"] == self.focused() for s in sites) else Keys.ARROW_UP)
        self.assertEqual(self.focused(), parent)

    def test_advice_leads_to_its_place(self):
        report = self.browser.open("small")
        for number, advice in enumerate(report["advice"]):
            self.browser.js("document.querySelectorAll('#advice .foot button')[arguments[0]].click()", number)
            self.assertEqual(self.browser.find("#place-title").text, report["sites"][advice["site"]]["name"])
            self.assertEqual(self.browser.js("return document.activeElement.id"), "place")

    def test_a_command_can_be_copied(self):
        report = self.browser.open("small")
        self.browser.js("document.querySelector('#advice .try button').focus()")
        self.browser.keys(Keys.ENTER)
        self.browser.until("return document.querySelector('#advice .try button').textContent === 'Copied'", seconds=5)
        self.browser.js("document.querySelector('#filter-text').focus()")
        self.browser.driver.switch_to.active_element.send_keys(Keys.CONTROL, "v")
        self.assertEqual(self.browser.find("#filter-text").get_property("value"), report["advice"][0]["command"])


class Timeline(PageTest):
    def setUp(self):
        super().setUp()
        self.report = self.browser.open("small")
        self.tracks = self.report["timeline"]["cpus"]
        self.ticks = sum(span[0] for span in self.tracks[0])
        self.browser.js("document.querySelector('#tracks').scrollIntoView({block: 'center', behavior: 'instant'})")
        self.browser.settle()

    def view(self):
        self.browser.settle()
        canvas = self.browser.find("#tracks")
        return float(canvas.get_attribute("data-from")), float(canvas.get_attribute("data-to"))

    def box(self):
        return self.browser.js("const r = document.querySelector('#tracks').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")

    def point(self, cpu, moment, lane=0.75):
        """Where on the screen a CPU is at a moment."""
        left, top, width, height = self.box()
        start, end = self.view()
        row = (height - AXIS) / len(self.tracks)
        return left + LEFT + (moment - start) / (end - start) * (width - LEFT), top + AXIS + (cpu + lane) * row

    def long_span(self, wanted, least=20):
        """(cpu, moment of the middle, site) of a span of at least so many ticks for which wanted(site, doing)."""
        for cpu, track in enumerate(self.tracks):
            at = 0
            for ticks, site, doing in track:
                if ticks >= least and wanted(site, doing):
                    return cpu, at + ticks / 2, site
                at += ticks
        self.fail("the sample has no such span")

    def pixel(self, cpu, moment, lane=0.7):
        left, top, _, _ = self.box()
        x, y = self.point(cpu, moment, lane)
        return self.browser.js(
            "const c = document.querySelector('#tracks'); return [...c.getContext('2d').getImageData(arguments[0], arguments[1], 1, 1).data].slice(0, 3)",
            round(x - left), round(y - top))

    def legend(self, name):
        """The colour beside a name in the legend."""
        text = self.browser.js(
            "const all = [...document.querySelectorAll('.legend')[0].children];"
            "return getComputedStyle(all.find(e => e.textContent === arguments[0]).querySelector('.chip')).backgroundColor", name)
        return [int(part) for part in text[4:-1].split(", ")]

    def region_of(self, number, outermost=False):
        sites, found = self.report["sites"], None
        while number > 0:
            if sites[number]["kind"] == "region":
                found = number
                if not outermost:
                    return found
            number = sites[number]["parent"]
        return found

    def test_colours_are_those_of_the_regions(self):
        cpu, moment, _ = self.long_span(lambda site, doing: doing == 1 and not self.region_of(site))
        self.assertEqual(self.pixel(cpu, moment), self.legend("outside of regions"))
        regions = {self.region_of(site) for site in range(len(self.report["sites"]))} - {None}
        self.assertEqual(len(regions), 4)
        for region in regions:
            site = self.report["sites"][region]
            cpu, moment, number = self.long_span(lambda s, doing: doing == 1 and self.region_of(s) == region, least=6)
            self.assertEqual(self.pixel(cpu, moment), self.legend(site["name"]), site["name"])
            outer = self.report["sites"][self.region_of(number, outermost=True)]
            self.assertEqual(self.pixel(cpu, moment, lane=0.12), self.legend(outer["name"]), outer["name"])

    def test_only_the_chosen_place(self):
        cpu, moment, site = self.long_span(lambda s, doing: doing == 1 and self.region_of(s))
        other = next(n for n in range(1, len(self.report["sites"])) if self.region_of(n) != self.region_of(site))
        vivid = self.pixel(cpu, moment)
        self.browser.click(f"tr[data-site='{other}']")
        self.browser.click("#only-chosen")
        self.browser.js("document.querySelector('#tracks').scrollIntoView({block: 'center'})")
        pale = self.pixel(cpu, moment)
        self.assertGreater(min(pale), 180)
        self.browser.click(f"tr[data-site='{site}']")
        self.browser.js("document.querySelector('#tracks').scrollIntoView({block: 'center'})")
        self.assertEqual(self.pixel(cpu, moment), vivid)

    def test_a_click_chooses_the_place(self):
        for wanted in (lambda s, d: d == 1 and self.region_of(s), lambda s, d: d == 1 and not self.region_of(s)):
            cpu, moment, site = self.long_span(wanted)
            self.browser.js("document.querySelector('#tracks').scrollIntoView({block: 'center', behavior: 'instant'})")
            x, y = self.point(cpu, moment)
            self.browser.mouse("mousePressed", x, y, buttons=1)
            self.browser.mouse("mouseReleased", x, y)
            self.browser.settle()
            self.assertEqual(self.browser.find("#place-title").text, self.report["sites"][site]["name"])
            self.assertIn(f"CPU {cpu} ", self.browser.find("#readout").text)
            self.assertIn(self.report["sites"][site]["name"], self.browser.find("#readout").text)

    def test_the_tip_says_what_is_under_the_mouse(self):
        cpu, moment, site = self.long_span(lambda s, d: d == 1 and self.region_of(s))
        x, y = self.point(cpu, moment)
        self.browser.mouse("mouseMoved", x, y, button="none")
        self.browser.settle()
        tip = self.browser.find(".tip").text
        self.assertIn(self.report["sites"][site]["name"], tip)
        self.assertIn(f"CPU {cpu}, ", tip)
        self.assertIn("at work", tip)

    def test_keys(self):
        self.browser.js("document.querySelector('#tracks').focus()")
        self.browser.keys(Keys.HOME)
        self.assertEqual(self.view(), (0, self.ticks))
        self.browser.keys("+")
        start, end = self.view()
        self.assertAlmostEqual(end - start, self.ticks / 2, places=3)
        self.browser.keys("+", Keys.END)
        start, end = self.view()
        self.assertAlmostEqual(end - start, self.ticks / 4, places=3)
        self.assertEqual(end, self.ticks)
        self.browser.keys(Keys.PAGE_UP)
        self.assertAlmostEqual(self.view()[0], start - 0.8 * self.ticks / 4, places=3)
        self.browser.keys("-")
        self.assertAlmostEqual(self.view()[1] - self.view()[0], self.ticks / 2, places=3)
        self.browser.keys("0")
        self.assertEqual(self.view(), (0, self.ticks))
        for _ in range(30):
            self.browser.keys("+")
        self.assertGreaterEqual(self.view()[1] - self.view()[0], 7.99)

    def test_the_cursor_follows_the_arrow_keys(self):
        self.browser.js("document.querySelector('#tracks').focus()")
        self.browser.keys(Keys.HOME, "+", "+", "+", Keys.HOME)
        self.browser.keys(Keys.ARROW_DOWN)
        self.assertIn("CPU 1 from 0 s: idle", self.browser.find("#readout").text)
        self.browser.keys(Keys.ARROW_RIGHT)
        first, second = self.tracks[1][:2]
        self.assertIn(f"CPU 1 from {first[0]} ms", self.browser.find("#readout").text)
        self.assertIn(self.report["sites"][second[1]]["name"], self.browser.find("#readout").text)
        self.browser.keys(Keys.ENTER)
        self.assertEqual(self.browser.find("#place-title").text, self.report["sites"][second[1]]["name"])
        self.browser.keys(Keys.ARROW_LEFT)
        self.assertIn("CPU 1 from 0 s: idle", self.browser.find("#readout").text)

    def test_buttons(self):
        self.browser.click("#zoom-in")
        self.browser.click("#zoom-in")
        start, end = self.view()
        self.assertAlmostEqual(end - start, self.ticks / 4, places=3)
        self.browser.click("#pan-right")
        self.assertAlmostEqual(self.view()[0], start + 0.4 * self.ticks / 4, places=3)
        self.browser.click("#zoom-whole")
        self.assertEqual(self.view(), (0, self.ticks))
        self.assertTrue(self.browser.find("#zoom-whole").get_property("disabled"))

    def test_dragging_shows_that_part(self):
        (x, y), (to_x, _) = self.point(2, 800), self.point(2, 1600)
        self.browser.mouse("mousePressed", x, y, buttons=1)
        self.browser.mouse("mouseMoved", (x + to_x) / 2, y, buttons=1)
        self.browser.mouse("mouseMoved", to_x, y, buttons=1)
        self.browser.mouse("mouseReleased", to_x, y)
        start, end = self.view()
        self.assertAlmostEqual(start, 800, delta=5)
        self.assertAlmostEqual(end, 1600, delta=5)
        (x, y), (to_x, _) = self.point(2, 1200), self.point(2, 1400)
        self.browser.mouse("mousePressed", x, y, buttons=1, modifiers=8)
        self.browser.mouse("mouseMoved", to_x, y, buttons=1, modifiers=8)
        self.browser.mouse("mouseReleased", to_x, y, modifiers=8)
        self.assertAlmostEqual(self.view()[0], 600, delta=5)

    def test_the_wheel_zooms_once_the_timeline_was_clicked(self):
        x, y = self.point(2, 1000)
        scrolled = self.browser.js("return scrollY")
        self.browser.js("document.activeElement.blur()")
        self.browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-120, button="none")
        self.assertEqual(self.view(), (0, self.ticks))
        self.browser.js("scrollTo({top: arguments[0], behavior: 'instant'}); document.querySelector('#tracks').focus({preventScroll: true})", scrolled)
        self.browser.settle()
        x, y = self.point(2, 1000)
        self.browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240, button="none")
        self.browser.until("return Number(document.querySelector('#tracks').dataset.from) > 0", seconds=5)
        start, end = self.view()
        self.assertLess(end - start, self.ticks * 0.9)
        self.assertAlmostEqual((1000 - start) / (end - start), 1000 / self.ticks, delta=0.01)

    def check_table(self, first, last):
        rows = self.browser.table("#timeline-table table")
        self.assertEqual(len(rows), len(self.tracks))
        for cpu, row in enumerate(rows):
            sums, at = [0.0] * 5, 0
            for ticks, _, doing in self.tracks[cpu]:
                sums[doing] += max(0, min(last, at + ticks) - max(first, at))
                at += ticks
            for doing, text in zip((1, 2, 3, 4, 0), row[1:6]):
                self.shows(text, sums[doing] / (last - first), f"CPU {cpu}, doing {doing}")

    def test_the_table_has_what_the_picture_shows(self):
        self.browser.js("document.querySelector('#timeline-table').open = true")
        self.browser.until("return document.querySelector('#timeline-table table')", seconds=5)
        self.check_table(0, self.ticks)
        self.browser.click("#zoom-in")
        first, last = self.view()
        self.browser.until("return document.querySelector('#timeline-table caption').textContent.includes('from 800 ms to 2.40 s')", seconds=5)
        self.check_table(first, last)

    def test_the_strip_moves_what_is_shown(self):
        for _ in range(3):
            self.browser.click("#zoom-in")
        left, top, width = self.browser.js("const r = document.querySelector('.overview canvas').getBoundingClientRect(); return [r.left, r.top, r.width]")
        x = left + LEFT + 0.25 * (width - LEFT)
        self.browser.mouse("mousePressed", x, top + 20, buttons=1)
        self.browser.mouse("mouseReleased", x, top + 20)
        start, end = self.view()
        self.assertAlmostEqual((start + end) / 2, self.ticks / 4, delta=5)


class Big(PageTest):
    def test_first_paint(self):
        page = self.browser.page("big")
        self.browser.look()
        self.browser.size(1600)
        times = []
        for _ in range(3):
            self.browser.driver.get("about:blank")
            self.browser.driver.get(page.as_uri())
            self.browser.until("return document.documentElement.dataset.drawn === 'all'")
            paint, claim = self.browser.js(
                "return [performance.getEntriesByName('first-contentful-paint')[0].startTime, document.querySelector('#claim').textContent]")
            self.assertIn("192 CPUs", claim)
            times.append(paint)
        size = page.stat().st_size / 1e6
        print(f"first paint of a page of {size:.1f} MB: {min(times):.0f} to {max(times):.0f} ms", file=sys.stderr)

    def test_192_cpus_are_drawn_and_zoomed(self):
        report = self.browser.open("big")
        self.assertEqual(len(report["timeline"]["cpus"]), 192)
        self.browser.js("document.querySelector('#tracks').focus()")
        milliseconds = self.browser.driver.execute_async_script(
            "const done = arguments[0], begin = performance.now(); document.querySelector('#zoom-in').click();"
            "requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));")
        print(f"a zoom of 192 CPUs: {milliseconds:.0f} ms", file=sys.stderr)
        colours = self.browser.js(
            "const c = document.querySelector('#tracks'); const d = c.getContext('2d').getImageData(40, 30, c.width - 50, c.height - 40).data;"
            "const found = new Set(); for (let i = 0; i < d.length; i += 4) found.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return found.size")
        self.assertGreater(colours, 30)


class Hostile(PageTest):
    """Texts of the report stay texts."""

    def test_no_text_becomes_markup(self):
        self.browser.open("small")
        plain = self.browser.js("return [document.querySelectorAll('script').length, document.querySelectorAll('img').length]")
        report = self.browser.open("odd")
        self.assertEqual(self.browser.js("return [document.querySelectorAll('script').length, document.querySelectorAll('img').length]"), plain)
        self.assertTrue(self.browser.js("return document.title").startswith("weft report: </script>"))
        self.assertEqual(json.loads(self.browser.js("return document.querySelector('#report').textContent")), report)

    def test_names_are_shown_as_they_are(self):
        report = self.browser.open("odd")
        seen = {ord("\u2028"): "\\u2028", ord("\u2029"): "\\u2029", ord("\u202e"): "\\u202e"}
        names = self.browser.js("return [...document.querySelectorAll('#sites-table .name')].map(e => e.textContent)")
        self.assertEqual(sorted(names), sorted(site["name"].translate(seen) for site in report["sites"]))
        for number, site in enumerate(report["sites"]):
            self.browser.click(f"tr[data-site='{number}']")
            self.assertEqual(self.browser.js("return document.querySelector('#place-title').textContent"), site["name"].translate(seen))
        titles = self.browser.js("return [...document.querySelectorAll('#advice h3')].map(e => e.textContent)")
        self.assertEqual(titles, [advice["title"].translate(seen) for advice in report["advice"]])
        notes = self.browser.js("return [...document.querySelectorAll('#notes li')].map(e => e.textContent)")
        self.assertEqual(notes, [note.translate(seen) for note in report["run"]["notes"]])

    def test_another_script_does_not_run(self):
        self.browser.open("small")
        self.browser.js("const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s)")
        self.assertIsNone(self.browser.js("return window.ran"))
        self.assertTrue(any("Content Security Policy" in message for message in self.browser.console()))

    def test_another_format_is_refused(self):
        report = sample.quiet()
        for change, said in (({"format": "weft report 9"}, "weft report 9"), ({"format": None}, "format")):
            page = self.browser.folder / "other.html"
            self.browser.write(page, {**report, **change})
            self.browser.driver.get(page.as_uri())
            self.assertIn(said, self.browser.find("#unreadable").text)
            self.assertFalse(self.browser.find("#factors").is_displayed())

    def test_nothing_is_fetched(self):
        self.browser.open("big")
        self.assertEqual(self.browser.js("return performance.getEntriesByType('resource').map(e => e.name)"), [])


if __name__ == "__main__":
    main()
