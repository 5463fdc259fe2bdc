# SPDX-License-Identifier: Apache-2.0
"""The page of `weft report` for everybody: keys, screen readers, contrast, colours, narrow screens, paper."""

import base64
import itertools
import math
import pathlib
import re
import unittest

from browser import Keys, PageTest, main

HERE = pathlib.Path(__file__).parent
COLOURS = HERE.parents[1] / "tools/weft/report/page/colours.css"
PARTS = ["useful", "serial", "imbalance", "synchronisation", "overhead", "few_threads", "transfer", "blocked"]
# How colours look to those who lack a kind of cones, for linear RGB (Machado, Oliveira, Fernandes 2009, severity 1).
SIGHTS = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red cones": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green cones": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue cones": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
# In OKLab black and white are 1 apart; what is nearer than that is hard to tell apart in a small bar.
APART = 0.08


def linear(text):
    parts = [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def luminance(text):
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(text)))


def contrast(a, b):
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def oklab(rgb):
    r, g, b = (max(0, part) for part in rgb)
    long, middle, short = (
        math.cbrt(x * r + y * g + z * b)
        for x, y, z in (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        )
    )
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


class Palette(unittest.TestCase):
    def setUp(self):
        light, dark = COLOURS.read_text().split('[data-theme="dark"]')
        self.themes = {
            name: dict(re.findall(r"--([\w-]+): (#\w{6});", text)) for name, text in (("light", light), ("dark", dark))
        }

    def test_the_parts_can_be_told_apart_by_everybody(self):
        for theme, colours in self.themes.items():
            for sight, matrix in SIGHTS.items():
                seen = {
                    part: oklab([sum(m * c for m, c in zip(row, linear(colours[part]))) for row in matrix])
                    for part in PARTS
                }
                for a, b in itertools.combinations(PARTS, 2):
                    self.assertGreater(math.dist(seen[a], seen[b]), APART, f"{theme}, {sight}: {a} and {b}")

    def test_bars_stand_out(self):
        for theme, colours in self.themes.items():
            for name in (*PARTS, "line-strong", "outside", *(f"region-{i}" for i in range(8))):
                self.assertGreaterEqual(contrast(colours[name], colours["card"]), 3, f"{theme}: {name}")


class Contrast(PageTest):
    def test_of_texts_in_both_themes(self):
        for dark in (False, True):
            self.browser.open("small", dark=dark)
            self.browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
            looked, found = self.browser.js((HERE / "page_contrasts.js").read_text())
            self.assertGreater(looked, 500)
            self.assertEqual(found, [], "dark" if dark else "light")


class Theme(PageTest):
    def ground(self):
        return self.browser.js("return getComputedStyle(document.body).backgroundColor")

    def drawn(self):
        """The colour of useful work in the bar and in the timeline's strip."""
        return self.browser.js(
            "return Chart.getChart(document.querySelector('#factors-content canvas')).data.datasets[0].backgroundColor"
        )

    def test_follows_the_system_until_the_reader_chooses(self):
        self.browser.open("small")
        light, light_bar = self.ground(), self.drawn()
        self.browser.look(dark=True)
        self.browser.settle()
        dark, dark_bar = self.ground(), self.drawn()
        self.assertNotEqual(light, dark)
        self.assertNotEqual(light_bar, dark_bar, "canvases too")
        self.assertEqual(self.browser.find("#theme").get_attribute("aria-pressed"), "true")
        self.browser.click("#theme")
        self.assertEqual((self.ground(), self.drawn()), (light, light_bar))
        self.assertEqual(self.browser.find("#theme").get_attribute("aria-pressed"), "false")
        self.browser.driver.refresh()
        self.browser.until("return document.documentElement.dataset.drawn === 'all'")
        self.assertEqual(self.ground(), light, "the choice stays")

    def test_nothing_moves_for_those_who_want_it_so(self):
        self.browser.open("small", still=True)
        self.assertIs(self.browser.js("return Chart.defaults.animation"), False)
        self.assertEqual(self.browser.js("return getComputedStyle(document.documentElement).scrollBehavior"), "auto")
        self.assertEqual(
            self.browser.js("return getComputedStyle(document.querySelector('#theme')).transitionDuration"), "0s"
        )
        self.browser.open("small", still=False)
        self.assertEqual(self.browser.js("return Chart.defaults.animation.duration"), 300)


class Structure(PageTest):
    """What screen readers tell."""

    def test_headings_and_landmarks(self):
        self.browser.open("small")
        levels = self.browser.js(
            "return [...document.querySelectorAll('h1, h2, h3, h4')].filter(e => e.checkVisibility())"
            ".map(e => Number(e.tagName[1]))"
        )
        self.assertEqual(levels[0], 1)
        self.assertEqual(levels.count(1), 1)
        for above, below in itertools.pairwise(levels):
            self.assertLessEqual(below, above + 1)
        for landmark in ("main", "header", "footer", "nav"):
            self.assertEqual(
                len(
                    self.browser.driver.find_elements("css selector", f"body > {landmark}, body > header > {landmark}")
                ),
                1,
            )
        self.assertEqual(self.browser.js("return document.documentElement.lang"), "en")
        order = self.browser.js("return [...document.querySelectorAll('main > section')].map(e => e.id)")
        self.assertEqual(
            order, ["headline", "advice", "factors", "ranks", "places", "timeline", "threads", "messages", "settings"]
        )

    def test_everything_has_a_name(self):
        for name in ("small", "odd", "big"):
            self.browser.open(name)
            self.browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
            self.browser.until("return document.querySelector('#timeline-table table')")
            problems = self.browser.js((HERE / "page_names.js").read_text())
            self.assertEqual(problems, [], name)

    def test_each_picture_has_a_table(self):
        self.browser.open("small")
        for region in range(len(self.browser.reports["small"]["sites"])):
            self.browser.click(f"tr[data-site='{region}']")
            without = self.browser.js(
                "return [...document.querySelectorAll('#place .chart')]"
                ".filter(e => !e.nextElementSibling?.querySelector?.('table')).length"
            )
            self.assertEqual(without, 0)
        for part in ("#factors-content", "#timeline-content", "#messages-content"):
            self.assertTrue(
                self.browser.js(
                    "const e = document.querySelector(arguments[0]);"
                    "return Boolean(e.querySelector('canvas') && (e.querySelector('table, #timeline-table')))",
                    part,
                )
            )

    def test_the_browser_tells_the_tables_as_tables(self):
        for width in (1600, 360):
            self.browser.open("small", width=width)
            nodes = self.browser.cdp("Accessibility.getFullAXTree")["nodes"]
            roles = {}
            for node in nodes:
                role = node.get("role", {}).get("value")
                if not node.get("ignored"):
                    roles.setdefault(role, []).append(node.get("name", {}).get("value", ""))
            self.assertIn("grid", roles)
            self.assertTrue(any("CPU time by what became of it" in name for name in roles["table"]), width)
            heads = [name for name in roles["rowheader"] if name == "Synchronisation"]
            self.assertTrue(heads, width)
            # Chromium takes rows that are laid out as grids for rows by itself; other browsers do not.
            self.assertEqual(
                self.browser.js(
                    "return document.querySelectorAll('#factors-table tbody tr[role=row] > [role=cell]').length"
                ),
                40,
            )
            self.assertTrue(any(name.startswith("Timeline of 8 CPUs") for name in roles["application"]))

    def test_changes_are_said(self):
        self.browser.open("small")
        self.assertEqual(self.browser.find("#said").get_attribute("role"), "status")
        self.browser.click("#sites-table th[data-key='useful'] button")
        self.assertEqual(
            self.browser.js("return document.querySelector('#said').textContent"), "Sorted by useful, descending."
        )
        self.browser.find("#filter-text").send_keys("solver")
        self.assertIn("of 15 places", self.browser.js("return document.querySelector('#said').textContent"))


class KeysOnly(PageTest):
    def test_the_tab_key_reaches_everything_and_shows_where(self):
        self.browser.open("small")
        self.browser.js("document.body.tabIndex = -1; document.body.focus()")
        seen = []
        for _ in range(120):
            self.browser.driver.switch_to.active_element.send_keys(Keys.TAB)
            place, visible, ring = self.browser.js("""
                const e = document.activeElement;
                if (e === document.body) return ['end', true, true];
                const style = getComputedStyle(e);
                const shadows = [...(e.cells ?? [])].map((c) => getComputedStyle(c).boxShadow);
                const cells = shadows.filter((s) => s !== 'none');
                return [e.id || (e.dataset.site ? 'row' : e.textContent.trim().slice(0, 40)), e.checkVisibility(),
                        (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2) || cells.length > 1];""")
            if place == "end" or (seen and place == seen[0]):
                break
            self.assertTrue(visible, place)
            self.assertTrue(ring, f"{place} does not show that it has the focus")
            seen.append(place)
        self.assertEqual(seen[0], "Skip to the report")
        wanted = [
            "theme",
            "See the figures of assemble.f90:91",
            "Copy",
            "filter-text",
            "filter-kind",
            "as-tree",
            "row",
            "zoom-in",
            "lanes",
            "only-chosen",
            "tracks",
            "Keys and mouse",
        ]
        at = [seen.index(place) for place in wanted if place in seen]
        self.assertEqual(len(at), len(wanted), seen)
        self.assertEqual(seen.count("row"), 1, "one stop in a table of many rows")

    def test_the_skip_link_leads_to_the_report(self):
        self.browser.open("small")
        self.browser.js("document.body.tabIndex = -1; document.body.focus()")
        self.browser.keys(Keys.TAB, Keys.ENTER)
        self.assertEqual(self.browser.js("return document.activeElement.id"), "main")


class Widths(PageTest):
    def test_the_page_is_no_wider_than_the_screen(self):
        for name, widths in (("small", (360, 768, 1024, 1600)), ("odd", (360, 480, 900)), ("big", (360, 1240))):
            for width in widths:
                self.browser.open(name, width=width)
                self.assertLessEqual(self.browser.js("return document.documentElement.scrollWidth"), width, name)
                cut = self.browser.js(
                    "return [...document.querySelectorAll('main h2, main h3, .claim, button, select')]"
                    ".filter(e => e.checkVisibility() && !e.closest('.sites, .scrolled'))"
                    ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.textContent)"
                )
                self.assertEqual(cut, [], f"{name} at {width}")


class Paper(PageTest):
    def test_a_dark_page_is_printed_light_and_stays_dark(self):
        self.browser.open("small", dark=True)
        self.browser.js(
            "addEventListener('beforeprint', () => (window.printed = document.documentElement.dataset.theme))"
        )
        printed = self.browser.cdp("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        paper = base64.b64decode(printed["data"])
        self.assertTrue(paper.startswith(b"%PDF"))
        self.assertGreater(len(paper), 20_000)
        self.assertEqual(
            self.browser.js("return [window.printed, document.documentElement.dataset.theme]"), ["light", "dark"]
        )

    def test_nothing_is_rolled_up_or_to_be_pressed(self):
        self.browser.open("big", width=740)
        self.assertTrue(
            self.browser.js("const e = document.querySelector('.sites'); return e.scrollHeight > e.clientHeight + 2")
        )
        self.browser.look(media="print")
        self.browser.settle()
        self.assertFalse(self.browser.find("header.top").is_displayed())
        self.assertFalse(self.browser.find("#places .tools").is_displayed())
        self.assertTrue(
            self.browser.js("const e = document.querySelector('.sites'); return e.scrollHeight <= e.clientHeight + 2")
        )
        self.assertLessEqual(self.browser.js("return document.documentElement.scrollWidth"), 740)
        self.browser.look()


if __name__ == "__main__":
    main()
