# SPDX-License-Identifier: Apache-2.0
"""Pages of made-up reports in a real browser: Debian's Chromium without a window, driven by Selenium."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import sample

TEMPLATE = os.environ["WEFT_PAGE_TEMPLATE"]
MAKE_PAGE = os.environ["WEFT_MAKE_PAGE"]
CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
SKIPPED = 77
try:
    from selenium import webdriver
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = Keys = None

UNITS = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "%": 1e-2, "": 1}


def missing():
    """What is not there to test with; empty: nothing."""
    absent = [
        package
        for package, found in (("chromium", CHROMIUM), ("chromium-driver", DRIVER), ("python3-selenium", webdriver))
        if not found
    ]
    return f"skipped: there is no {', '.join(absent)} (Debian's packages)" if absent else ""


def interval(text):
    """The numbers that are written so, as (least, most): "1.20 ms" is all that is rounded to it."""
    match = re.match(r"\s*(< )?(-?[\d,]+(?:\.(\d+))?)\s?(s|ms|µs|ns|%|)(?![\w])", text)
    if not match:
        raise AssertionError(f"{text!r} is no figure")
    number, unit = float(match[2].replace(",", "")), UNITS[match[4]]
    if match[1]:
        return 0, number * unit
    if number == 0 and not match[3]:
        return 0, 0
    half = 0.5 * 10 ** -len(match[3] or "")
    if not match[3] and match[4] not in ("", "%"):
        # Three digits count: from 1000 on, those before the point are rounded as well.
        half = max(half, 0.5 * 10 ** (len(match[2].replace(",", "")) - 3))
    return (number - half) * unit, (number + half) * unit


class Browser:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-browser-"))
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in (
            "headless=new",
            "disable-dev-shm-usage",
            "disable-gpu",
            "hide-scrollbars",
            "window-size=1600,1000",
            f"user-data-dir={self.folder / 'profile'}",
            "disable-extensions",
        ):
            options.add_argument(f"--{argument}")
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.chrome.service.Service(DRIVER)
        self.driver = webdriver.Chrome(service=service, options=options)
        self.reports = {}

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.folder, ignore_errors=True)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def page(self, name):
        """The file of the page of a sample, made by the command's own function."""
        page = self.folder / f"{name}.html"
        if not page.exists():
            self.reports[name] = sample.SAMPLES[name]()
            self.write(page, self.reports[name])
        return page

    def write(self, page, report):
        file = self.folder / "report.json"
        file.write_text(json.dumps(report, separators=(",", ":"), ensure_ascii=False))
        subprocess.run([MAKE_PAGE, TEMPLATE, file, page], check=True, timeout=60)

    def open(self, name, dark=False, width=1600, height=1000, still=True):
        """Opens the page of a sample, and returns the report when all of it is drawn."""
        page = self.page(name)
        self.look(dark, still)
        self.size(width, height)
        self.driver.get("about:blank")
        self.driver.get(page.as_uri())
        self.js("try { localStorage.clear() } catch {}")
        self.until("return document.documentElement.dataset.drawn === 'all'")
        return self.reports[name]

    def look(self, dark=False, still=True, media=""):
        self.cdp(
            "Emulation.setEmulatedMedia",
            media=media,
            features=[
                {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"},
            ],
        )

    def size(self, width, height=1000):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def until(self, condition, *arguments, seconds=60):
        end = time.monotonic() + seconds
        while not self.js(condition, *arguments):
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {condition}; the console has {self.console()}")
            time.sleep(0.02)

    def settle(self):
        """Waits until what a listener has asked to be drawn is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));"
        )

    def console(self):
        """Errors and warnings, but for the one that tests cause when they read pixels."""
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING") and "willReadFrequently" not in entry["message"]
        ]

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).click()", selector)
        self.settle()

    def keys(self, *keys):
        """To where the focus is."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, **{"button": "left", "clickCount": 1, **more})

    def table(self, selector):
        """The texts of a table's body, by rows."""
        return self.js(
            "return [...document.querySelectorAll(arguments[0] + ' > tbody > tr')]"
            ".map(row => [...row.cells].map(cell => cell.textContent))",
            selector,
        )


class PageTest(unittest.TestCase):
    """Each test has a page without errors in the browser's console."""

    browser = None

    @classmethod
    def setUpClass(cls):
        PageTest.browser = PageTest.browser or Browser()

    def setUp(self):
        self.addCleanup(self.no_errors)

    def no_errors(self):
        self.assertEqual(self.browser.console(), [])

    def shows(self, text, expected, what=""):
        least, most = interval(text)
        slack = 1e-9 * max(1, abs(expected))
        self.assertTrue(least - slack <= expected <= most + slack, f"{what}: {text!r} is not {expected}")


def main():
    if said := missing():
        print(said, file=sys.stderr)
        sys.exit(SKIPPED)
    try:
        made = unittest.main(verbosity=2, exit=False)
    finally:
        if PageTest.browser:
            PageTest.browser.close()
    sys.exit(not made.result.wasSuccessful())
