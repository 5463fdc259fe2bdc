# SPDX-License-Identifier: Apache-2.0
"""The page of `weft report` in a browser: what it shows, and what it does."""

import json
import random

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
            " Object.fromEntries([...row.querySelectorAll('td')].map(cell => [cell.dataset.key, cell.textContent]))])"
        )

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
            part, cpus, seconds = (
                claim.replace(" did the program's work.", "").replace(" of ", "|").replace(" × ", "|").split("|")
            )
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
            drawn = self.browser.js(
                "return Chart.getChart(document.querySelector('#factors-content canvas')).data.datasets"
                ".map(set => [set.label, set.data[0]])"
            )
            for word, percent in drawn:
                key = WORDS[word]
                self.assertAlmostEqual(
                    percent / 100, factors["parallel_efficiency"] if key == "useful" else 1 - factors[key]
                )

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
        shown = dict(
            self.browser.js(
                "return [...document.querySelectorAll('#place .figures > div')]"
                ".map(d => [d.children[0].textContent, d.children[1].textContent])"
            )
        )
        self.shows(shown["Useful work"], site["useful"])
        self.shows(shown["Lost"], lost_in_all(site))
        self.shows(shown["Elapsed"], site["wall"])
        self.shows(shown["Count"], site["count"])
        for word, key in (
            ("Members", "members"),
            ("Threads asked for", "requested"),
            ("Iterations", "iterations"),
            ("Stolen", "stolen"),
        ):
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
            " [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent))])"
        )
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
                "return [...document.querySelectorAll('#place canvas')]"
                ".map(c => Chart.getChart(c).data.datasets[0].data)"
            )
            self.assertIn(histogram, [[n for n in bar if n > 0] for bar in bars])
        self.assertEqual("Parts" in by_kind, bool(site.get("factors")))
        for word, part, factor in by_kind.get("Parts", []):
            key = WORDS[word]
            self.shows(
                part, site["factors"]["parallel_efficiency"] if key == "useful" else 1 - site["factors"][key], word
            )
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
                self.assertEqual(
                    (call, peer), (row["call"], "any or all" if row["peer"] < 0 else f"rank {row['peer']}")
                )
                self.shows(count, row["count"])
                self.shows(waited, row["waited"])
                self.shows(mean, row["waited"] / row["count"])

    def test_ranks(self):
        report = self.browser.open("ranks")
        rows = self.browser.table("#ranks-table")
        self.assertEqual(len(rows), len(report["ranks"]))
        for (number, host, time, cpus, efficiency, useful, waited, transfer), rank in zip(rows, report["ranks"]):
            self.assertEqual((number, host), (str(rank["rank"]), rank["host"]))
            self.shows(time, rank["seconds"])
            self.shows(cpus, rank["cpus"])
            self.shows(efficiency, rank["parallel_efficiency"])
            self.shows(useful, rank["useful"])
            self.shows(waited, rank["waited"])
            self.shows(transfer, rank["lost"]["transfer"])
        claim = self.browser.find("#ranks-claim").text
        self.assertIn("Rank 0 worked most (8.00 s of CPU time), rank 1 least (6.00 s)", claim)
        self.assertIn("87.5 %", claim)
        self.assertEqual({row[1] for row in self.browser.table("#messages-table")}, {"1"})
        self.assertIn("MPI_Waitall", self.browser.find("#sites-table").text)
        tracks = self.browser.js(
            "document.getElementById('timeline-table').open = true;"
            "document.getElementById('timeline-table').dispatchEvent(new Event('toggle'));"
            "return [...document.querySelectorAll('#timeline-table tbody th')].map(e => e.textContent)"
        )
        self.assertEqual(tracks, [f"Rank {rank}, CPU {cpu}" for rank in range(2) for cpu in range(4)])
        self.browser.open("small")
        self.assertFalse(self.browser.find("#ranks").is_displayed())

    def test_settings_and_notes(self):
        report = self.browser.open("small")
        self.assertEqual(dict(self.browser.table("#settings-table")), report["run"]["settings"])
        notes = self.browser.js("return [...document.querySelectorAll('#notes li')].map(e => e.textContent)")
        self.assertEqual(notes, report["run"]["notes"])
        self.assertIn(report["run"]["version"], self.browser.find("footer").text)

    def test_a_run_without_faults_or_messages(self):
        self.browser.open("quiet")
        self.assertIn("No advice: no fault", self.browser.find("#advice").text)
        self.assertFalse(self.browser.find("#messages").is_displayed())
        self.assertFalse(self.browser.find("#to-messages").is_displayed())

    def test_a_run_whose_cpus_others_had(self):
        self.browser.open("busy")
        text = self.browser.find("#advice").text
        self.assertIn("Other processes used 3.80 s", text)
        self.assertIn("!", text)
        self.assertNotIn("✓", text)

    def test_lines_of_the_source(self):
        report = self.browser.open("quiet")
        (number,) = [i for i, site in enumerate(report["sites"]) if "excerpt" in site["place"]]
        self.browser.click(f"tr[data-site='{number}']")
        excerpt = report["sites"][number]["place"]["excerpt"]
        lines = [f"{excerpt['first'] + i}  {line}" for i, line in enumerate(excerpt["lines"])]
        shown = self.browser.js("return document.querySelector('#place .source').textContent")
        self.assertEqual(shown, "".join(f"{line}\n" for line in lines))
        marked = self.browser.js("return document.querySelector('#place .source mark').textContent")
        self.assertEqual(marked.strip(), lines[1])

    def test_a_run_that_hung(self):
        report = self.browser.open("hung")
        lines = [line.strip() for line in report["run"]["deadlock"]]
        self.assertEqual(self.browser.find("#deadlock").text.split("\n"), lines)
        self.assertEqual(self.browser.find("#use").text, report["headline"])

    def test_a_run_that_was_too_short(self):
        self.browser.open("empty")
        for part in ("#headline", "#advice", "#factors", "#timeline"):
            self.assertIn("too short", self.browser.find(part).text)
        self.assertIn("exit code 1", self.browser.find("#headline").text)


class Places(PageTest):
    """The table of places."""

    def order(self):
        return self.browser.js(
            "return [...document.querySelectorAll('#sites-table tbody tr')].map(row => Number(row.dataset.site))"
        )

    def focused(self):
        return self.browser.js("return Number(document.activeElement.dataset?.site ?? -1)")

    def chosen(self):
        rows = self.browser.js(
            "return [...document.querySelectorAll('#sites-table tr[aria-selected=true]')]"
            ".map(row => Number(row.dataset.site))"
        )
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
            **{
                key: lambda site, key=key: site[key]
                for key in ("useful", "count", "members", "pieces", "stolen", "kind")
            },
            "mean": lambda site: site["lengths"]["mean"] if site["lengths"]["timed"] else 0,
        }
        for key, value in values.items():
            directions = []
            for _ in range(2):
                self.browser.click(f"#sites-table th[data-key='{key}'] button")
                shown = [value(sites[number]) for number in self.order()]
                direction = self.browser.find(f"#sites-table th[data-key='{key}']").get_attribute("aria-sort")
                self.assertEqual(shown, sorted(shown, reverse=direction == "descending"), key)
                self.assertEqual(
                    self.browser.js("return document.querySelectorAll('#sites-table [aria-sort]').length"), 1
                )
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
        self.browser.js(
            "const e = document.querySelector('#filter-kind'); e.value = 'loop'; e.dispatchEvent(new Event('change'))"
        )
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
        self.assertEqual(
            self.browser.js("return document.querySelectorAll('#sites-table tbody tr[tabindex=\"0\"]').length"), 1
        )
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
        self.assertEqual(
            self.browser.find(f"tr[data-site='{self.focused()}']").get_attribute("aria-level"),
            str(int(self.browser.find(row).get_attribute("aria-level")) + 1),
        )
        self.browser.keys(Keys.ARROW_LEFT if not any(s["parent"] == self.focused() for s in sites) else Keys.ARROW_UP)
        self.assertEqual(self.focused(), parent)

    def test_advice_leads_to_its_place(self):
        report = self.browser.open("small")
        for number, advice in enumerate(report["advice"]):
            self.browser.js("document.querySelectorAll('#advice .foot button')[arguments[0]].click()", number)
            self.assertEqual(self.browser.find("#place-title").text, report["sites"][advice["site"]]["name"])
            self.assertEqual(self.browser.js("return document.activeElement.id"), "place")

    def test_places_of_one_line_are_told_apart(self):
        report = sample.small()
        for loss in ("serial", "imbalance", "overhead", "few_threads"):
            site = max(report["sites"], key=lambda site, loss=loss: site["lost"][loss])
            site["name"] = "one.c:1"
        page = self.browser.folder / "alike.html"
        self.browser.write(page, report)
        self.browser.driver.get(page.as_uri())
        self.browser.until("return document.documentElement.dataset.drawn === 'all'")
        links = {WORDS[row[0]]: row[5] for row in self.browser.table("#factors-table")}
        self.assertEqual(links["serial"], "one.c:1 (serial)")
        self.assertEqual(links["few_threads"], "one.c:1 (region)")
        self.assertEqual(links["imbalance"], "one.c:1 (loop in assemble.f90:88)")
        self.assertEqual(links["overhead"], "one.c:1 (loop in solver.c:42)")
        self.assertEqual(links["synchronisation"], "solver.c:61")

    def test_a_command_can_be_copied(self):
        report = self.browser.open("small")
        self.browser.js("document.querySelector('#advice .try button').focus()")
        self.browser.keys(Keys.ENTER)
        self.browser.until("return document.querySelector('#advice .try button').textContent === 'Copied'", seconds=5)
        self.browser.js("document.querySelector('#filter-text').focus()")
        self.browser.driver.switch_to.active_element.send_keys(Keys.CONTROL, "v")
        self.assertEqual(self.browser.find("#filter-text").get_property("value"), report["advice"][0]["command"])


class Hostile(PageTest):
    """Texts of the report stay texts."""

    def test_no_text_becomes_markup(self):
        self.browser.open("small")
        plain = self.browser.js(
            "return [document.querySelectorAll('script').length, document.querySelectorAll('img').length]"
        )
        report = self.browser.open("odd")
        self.assertEqual(
            self.browser.js(
                "return [document.querySelectorAll('script').length, document.querySelectorAll('img').length]"
            ),
            plain,
        )
        self.assertTrue(self.browser.js("return document.title").startswith("weft report: </script>"))
        self.assertEqual(json.loads(self.browser.js("return document.querySelector('#report').textContent")), report)

    def test_names_are_shown_as_they_are(self):
        report = self.browser.open("odd")
        seen = {ord("\u2028"): "\\u2028", ord("\u2029"): "\\u2029", ord("\u202e"): "\\u202e"}
        names = self.browser.js("return [...document.querySelectorAll('#sites-table .name')].map(e => e.textContent)")
        self.assertEqual(sorted(names), sorted(site["name"].translate(seen) for site in report["sites"]))
        for number, site in enumerate(report["sites"]):
            self.browser.click(f"tr[data-site='{number}']")
            self.assertEqual(
                self.browser.js("return document.querySelector('#place-title').textContent"),
                site["name"].translate(seen),
            )
        titles = self.browser.js("return [...document.querySelectorAll('#advice h3')].map(e => e.textContent)")
        self.assertEqual(titles, [advice["title"].translate(seen) for advice in report["advice"]])
        notes = self.browser.js("return [...document.querySelectorAll('#notes li')].map(e => e.textContent)")
        self.assertEqual(notes, [note.translate(seen) for note in report["run"]["notes"]])

    def test_another_script_does_not_run(self):
        self.browser.open("small")
        self.browser.js(
            "const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s)"
        )
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
