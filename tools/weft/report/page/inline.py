# SPDX-License-Identifier: Apache-2.0
"""Makes one file of the page and all that it needs: inline.py PAGE CHART_JS OUTPUT

A comment in the page names what takes its place:

    weft:style FILE      a style sheet
    weft:script FILE     a script that is not a module; `chart.js` is CHART_JS
    weft:modules FILE    the module and all that it imports, as one script
    weft:text FILE       a text
    weft:policy          a Content-Security-Policy that allows these scripts and styles alone, and no network

Modules have no import from a file that is opened from disk. So each becomes a function here, which gets what it imports
from the functions before it. Two forms are understood, as all modules of the page have them: `import { a, b } from
"./file.js";` and `export` before a declaration.
"""

import base64
import hashlib
import pathlib
import re
import sys

IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
HOLES = ("@WEFT_TITLE@", "@WEFT_REPORT@")


class Refused(Exception):
    pass


def names_in(text):
    return [name.strip() for name in text.split(",") if name.strip()]


class Modules:
    """The modules that a first one needs, each behind those that it imports."""

    def __init__(self, folder):
        self.folder = folder
        self.exports = {}
        self.parts = []

    def add(self, file, importers=()):
        if file in importers:
            raise Refused(f"{file.name} imports itself: {' -> '.join(f.name for f in (*importers, file))}")
        if file in self.exports:
            return
        text = file.read_text()
        imports = []
        for names, other in IMPORT.findall(text):
            target = (file.parent / other).resolve()
            self.add(target, (*importers, file))
            for name in names_in(names):
                if name not in self.exports[target]:
                    raise Refused(f"{file.name} imports {name}, which {target.name} does not export")
            imports.append(f"const {{ {', '.join(names_in(names))} }} = {self.variable(target)};\n")
        body = IMPORT.sub("", text)
        exported = EXPORT.findall(body)
        body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
        if re.search(r"^import\b", body, re.MULTILINE):
            raise Refused(f"{file.name} has an import of a form that inline.py does not know")
        self.exports[file] = exported
        self.parts.append(
            f"const {self.variable(file)} = (() => {{\n"
            f"{''.join(imports)}{body}return {{ {', '.join(exported)} }};\n"
            "})();\n"
        )

    def variable(self, file):
        return "$" + re.sub(r"\W", "_", file.relative_to(self.folder).with_suffix("").as_posix())


def script(text):
    if "</script" in text.lower() or "<!--" in text:
        raise Refused("a script has </script or <!-- in it, which would end it in a page")
    return text


def inline(page, chart_js):
    folder = page.parent.resolve()
    hashes = {"script": [], "style": []}

    def element(tag, text):
        text = f"\n{text.strip()}\n"
        hashed = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hashes[tag].append(f"'sha256-{hashed}'")
        return f"<{tag}>{text}</{tag}>"

    def replaced(match):
        kind, name = match[1], match[2]
        if kind == "style":
            return element("style", (folder / name).read_text())
        if kind == "script":
            return element("script", script((chart_js if name == "chart.js" else folder / name).read_text()))
        if kind == "modules":
            modules = Modules(folder)
            modules.add((folder / name).resolve())
            return element("script", script('"use strict";\n(() => {\n' + "".join(modules.parts) + "})();"))
        if kind == "text":
            text = (folder / name).read_text()
            return f"<pre>{text.replace('&', '&amp;').replace('<', '&lt;').strip()}</pre>"
        raise Refused(f"weft:{kind} is not known")

    text = re.sub(r"<!-- weft:(style|script|modules|text) (\S+) -->", replaced, page.read_text())
    policy = (
        f"default-src 'none'; script-src {' '.join(hashes['script'])}; style-src {' '.join(hashes['style'])}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    text = text.replace("<!-- weft:policy -->", f'<meta http-equiv="Content-Security-Policy" content="{policy}">', 1)
    if left := re.search(r"<!-- weft:.*?-->", text):
        raise Refused(f"{left[0]} was not understood")
    for hole in HOLES:
        if text.count(hole) != 1:
            raise Refused(f"{hole} has to be in the page once, and is there {text.count(hole)} times")
    return text


def main(page, chart_js, output):
    try:
        text = inline(pathlib.Path(page), pathlib.Path(chart_js))
    except (OSError, Refused) as problem:
        sys.exit(f"inline.py: {problem}")
    pathlib.Path(output).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
