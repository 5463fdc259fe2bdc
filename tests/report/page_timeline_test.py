# SPDX-License-Identifier: Apache-2.0
"""The timeline of `weft report`'s page in a browser: what it draws, and what the mouse and the keys do with it."""

import sys

from browser import Keys, PageTest, main

# Of the canvas (tools/weft/report/page/timeline).
LEFT, AXIS = 34, 22


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
        return self.browser.js(
            "const r = document.querySelector('#tracks').getBoundingClientRect();"
            "return [r.left, r.top, r.width, r.height]"
        )

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
            "const c = document.querySelector('#tracks').getContext('2d');"
            "return [...c.getImageData(arguments[0], arguments[1], 1, 1).data].slice(0, 3)",
            round(x - left),
            round(y - top),
        )

    def legend(self, name):
        """The colour beside a name in the legend."""
        text = self.browser.js(
            "const all = [...document.querySelectorAll('.legend')[0].children];"
            "const entry = all.find(e => e.textContent === arguments[0]);"
            "return getComputedStyle(entry.querySelector('.chip')).backgroundColor",
            name,
        )
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
            cpu, moment, number = self.long_span(
                lambda s, doing, region=region: doing == 1 and self.region_of(s) == region, least=6
            )
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
        self.browser.js(
            "scrollTo({top: arguments[0], behavior: 'instant'});"
            "document.querySelector('#tracks').focus({preventScroll: true})",
            scrolled,
        )
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
        self.browser.until(
            "return document.querySelector('#timeline-table caption').textContent.includes('from 800 ms to 2.40 s')",
            seconds=5,
        )
        self.check_table(first, last)

    def test_the_strip_moves_what_is_shown(self):
        for _ in range(3):
            self.browser.click("#zoom-in")
        left, top, width = self.browser.js(
            "const r = document.querySelector('.overview canvas').getBoundingClientRect();"
            "return [r.left, r.top, r.width]"
        )
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
                "return [performance.getEntriesByName('first-contentful-paint')[0].startTime,"
                " document.querySelector('#claim').textContent]"
            )
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
            "requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));"
        )
        print(f"a zoom of 192 CPUs: {milliseconds:.0f} ms", file=sys.stderr)
        colours = self.browser.js(
            "const c = document.querySelector('#tracks');"
            "const d = c.getContext('2d').getImageData(40, 30, c.width - 50, c.height - 40).data;"
            "const found = new Set();"
            "for (let i = 0; i < d.length; i += 4) found.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);"
            "return found.size"
        )
        self.assertGreater(colours, 30)


if __name__ == "__main__":
    main()
