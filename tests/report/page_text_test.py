# SPDX-License-Identifier: Apache-2.0
"""The page of `weft report` as a text: what is put into the template, and how the template is made."""

import base64
import hashlib
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import sample
from finished import finished

TEMPLATE = pathlib.Path(os.environ["WEFT_PAGE_TEMPLATE"])
MAKE_PAGE = os.environ["WEFT_MAKE_PAGE"]
SOURCES = pathlib.Path(__file__).parents[2] / "tools/weft/report/page"


class Elements(html.parser.HTMLParser):
    """The elements with their texts, as a browser would find them."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append([tag, dict(attributes), ""])
        self.inside = True

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.found[-1][2] += data


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-page-")))

    def made(self, report, template=TEMPLATE):
        file = self.folder / "report.json"
        file.write_text(report if isinstance(report, str) else json.dumps(report, ensure_ascii=False))
        page = self.folder / "page.html"
        run = subprocess.run([MAKE_PAGE, template, file, page], capture_output=True, text=True, timeout=60)
        return run, page


class PageOf(Folder):
    def page(self, report):
        run, page = self.made(report)
        self.assertEqual(run.returncode, 0, run.stderr)
        return page.read_text()

    def test_the_report_is_in_the_page_as_it_was(self):
        for name in ("small", "odd", "empty"):
            with self.subTest(name):
                report = sample.SAMPLES[name]()
                elements = Elements(self.page(report)).found
                texts = [text for tag, attributes, text in elements if attributes.get("id") == "report"]
                self.assertEqual([json.loads(text) for text in texts], [report])

    def test_no_text_of_the_report_adds_an_element(self):
        def outline(report):
            return [(tag, attributes) for tag, attributes, _ in Elements(self.page(report)).found]

        self.assertEqual(outline(sample.odd()), outline(sample.small()))

    def test_the_title_is_the_command(self):
        report = sample.small()
        for command in (["./a.out"], ["./a b", "<b>&amp;"], sample.HOSTILE):
            report["run"]["command"] = command
            elements = Elements(self.page(report)).found
            titles = [text for tag, _, text in elements if tag == "title"]
            self.assertEqual(titles, [f"weft report: {' '.join(command)}"])

    def test_what_is_no_report_is_refused(self):
        for text in ("", "{", "[]", "3", '{"run": '):
            run, _ = self.made(text)
            self.assertEqual(run.returncode, 1, text)
            self.assertIn("not a JSON object", run.stderr)

    def test_a_template_without_holes_is_refused(self):
        for hole in ("@WEFT_TITLE@", "@WEFT_REPORT@"):
            template = self.folder / "template.html"
            template.write_text(TEMPLATE.read_text().replace(hole, ""))
            run, _ = self.made(sample.empty(), template)
            self.assertEqual(run.returncode, 1)
            self.assertIn(hole, run.stderr)


class Template(Folder):
    def inline(self, page, **files):
        for name, text in {"page.html": page, "chart.js": "", **files}.items():
            (self.folder / name.replace("_js", ".js")).write_text(text)
        output = self.folder / "made.html"
        run = finished(
            [sys.executable, "-B", SOURCES / "inline.py", self.folder / "page.html", self.folder / "chart.js", output],
            timeout=60,
        )
        return run, output

    def refused(self, word, page, **files):
        run, output = self.inline(page + "@WEFT_TITLE@ @WEFT_REPORT@", **files)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn(word, run.stderr)
        self.assertFalse(output.exists())

    def test_nothing_is_fetched(self):
        text = TEMPLATE.read_text()
        head = text[: text.index("</head>")]
        self.assertIn("default-src 'none'", head)
        for tag, attributes, _ in Elements(text).found:
            for name in ("src", "href", "action", "data"):
                if name in attributes and tag != "a":
                    self.assertTrue(attributes[name].startswith("data:"), (tag, attributes))
        self.assertNotIn("@import", text)
        self.assertEqual(re.findall(r"url\((?!data:)", text), [])

    def test_the_policy_names_the_scripts_and_styles(self):
        elements = Elements(TEMPLATE.read_text()).found
        policy = next(a["content"] for _, a, _ in elements if a.get("http-equiv") == "Content-Security-Policy")
        for tag in ("script", "style"):
            hashes = {
                f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
                for name, attributes, text in elements
                if name == tag and attributes.get("type") != "application/json"
            }
            named = set(re.search(rf"{tag}-src ([^;]*)", policy)[1].split())
            self.assertEqual(named, hashes)
            self.assertGreater(len(hashes), 1)

    def test_no_listener_is_an_attribute(self):
        for tag, attributes, _ in Elements(TEMPLATE.read_text()).found:
            self.assertEqual([name for name in attributes if name.startswith("on")], [], tag)

    def test_the_licence_of_what_is_inside_is_there(self):
        text = TEMPLATE.read_text()
        self.assertIn("Chart.js Contributors", text)
        self.assertIn("Permission is hereby granted", text)

    def test_modules_see_what_they_import_and_nothing_else(self):
        run, output = self.inline(
            "<!-- weft:modules main.js -->@WEFT_TITLE@@WEFT_REPORT@",
            main_js='import { twice } from "./other.js";\nconst hidden = 4;\nglobalThis.result = twice(hidden);\n',
            other_js="const hidden = 2;\nexport function twice(n) {\n  return hidden * n;\n}\n",
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        text = output.read_text()
        self.assertNotRegex(text, r"(?m)^(import|export)\b")
        self.assertLess(text.index("function twice"), text.index("twice(hidden)"))

    def test_mistakes_are_refused(self):
        script = "<!-- weft:modules a.js -->"
        self.refused("does not export", script, a_js='import { x } from "./b.js";\n', b_js="const x = 1;\n")
        self.refused(
            "imports itself",
            script,
            a_js='import { x } from "./b.js";\nexport const y = 1;\n',
            b_js='import { y } from "./a.js";\nexport const x = 1;\n',
        )
        self.refused("form", script, a_js='import * as b from "./b.js";\n', b_js="")
        self.refused("</script", script, a_js='const x = "</script>";\n')
        self.refused("not understood", "<!-- weft:picture a.png -->")
        self.refused("absent.js", "<!-- weft:modules absent.js -->")
        self.refused("once", "@WEFT_TITLE@")


if __name__ == "__main__":
    unittest.main(verbosity=2)
