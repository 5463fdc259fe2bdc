# SPDX-License-Identifier: Apache-2.0
"""`%load_ext weft`: the magic `%%weft`, which shows below a cell where its time went."""

from __future__ import annotations

import asyncio
import base64
import getopt
import gzip
import html
import shlex
import sys

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.display import display

from weft._files import check_name
from weft._recorder import NoRecorderError, recorder
from weft._report import Recording, Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

_USAGE = "%%weft [-o PAGE] [--json FILE] [--quiet], or %weft with the same and a statement behind"


class _Choice:
    """What stands behind %%weft."""

    def __init__(self, line: str, is_cell: bool) -> None:
        """Raises UsageError. A statement is taken as it stands, quotes and all."""
        files: dict[str, str] = {}
        self.quiet = False
        words, self.statement = self._split(line)
        try:
            options, rest = getopt.getopt(words, "o:q", ["output=", "json=", "quiet"])
        except getopt.GetoptError as error:
            raise UsageError(f"%%weft: {error.msg}; {_USAGE}") from None
        for name, value in options:
            if name in ("-q", "--quiet"):
                self.quiet = True
                continue
            what = "json" if name == "--json" else "page"
            if what in files:
                raise UsageError(f"%%weft: {name}: is given twice; leave one out")
            try:
                check_name(name, value)
            except ValueError as error:
                raise UsageError(f"%%weft: {error}") from None
            files[what] = value
        self.page, self.json = files.get("page"), files.get("json")
        if rest or (is_cell and self.statement):
            raise UsageError(f"%%weft: {(rest or [self.statement])[0]}: the code begins in the next line; {_USAGE}")
        if not is_cell and not self.statement:
            raise UsageError(f"%weft: a statement is wanted; {_USAGE}")
        if self.page is not None and self.page == self.json:
            raise UsageError(f"%%weft: -o {self.page}: is the file of --json too; each needs its own")
        if self.quiet and self.page is None and self.json is None:
            raise UsageError("%%weft: --quiet leaves nothing to see: add -o PAGE or --json FILE")

    @staticmethod
    def _split(line: str) -> tuple[list[str], str]:
        """The options as words, and the rest."""
        words: list[str] = []
        rest = line.strip()
        while rest.startswith("-"):
            wanted = 2 if rest.split(None, 1)[0] in ("-o", "--output", "--json") else 1
            for _ in range(wanted):
                word, rest = _first_word(rest)
                words += word
            if words[-1] == "--":
                words.pop()
                break
        return words, rest


def _first_word(text: str) -> tuple[list[str], str]:
    """The first word of a shell's line, none if there is none, and what is behind it."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        word = lexer.get_token()
    except ValueError as error:
        raise UsageError(f"%%weft: {text}: {error}".rstrip()) from None
    return ([] if word is None else [word]), lexer.instream.read().lstrip()


# Unpacks the page into its frame, before anything is painted: a notebook keeps a third of what the page has.
_LOADER = """<!doctype html><meta charset="utf-8"><body><script>
(async () => {
  const packed = Uint8Array.from(atob("%s"), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const page = await new Response(stream).text();
  document.open();
  document.write(page);
  document.close();
})().catch((error) => {
  const way = "%%%%weft -o page.html writes it into a file.";
  document.body.textContent = `weft: this browser cannot show the report here (${error}); ${way}`;
});
</script>"""


class _Shown:
    """A report for display()."""

    def __init__(self, made: Report) -> None:
        self._made = made

    def __repr__(self) -> str:
        return repr(self._made)

    def _repr_html_(self) -> str:
        packed = base64.b64encode(gzip.compress(self._made.page.encode(), mtime=0)).decode("ascii")
        # Alone in its frame: no rights, no server, and the page's own styles.
        style = "width: 100%; height: 640px; border: 1px solid #8888; resize: vertical"
        source = html.escape(_LOADER % packed)
        frame = f'<iframe sandbox="allow-scripts" title="weft report" style="{style}" srcdoc="{source}"></iframe>'
        # For viewers that leave out frames: notebooks that are not trusted, pages of code hosts.
        text = html.escape(self._made.summary)
        return f"{frame}<details><summary>The summary of weft report</summary><pre>{text}</pre></details>"


@magics_class
class WeftMagics(Magics):
    """%%weft."""

    @no_var_expand
    @line_cell_magic
    def weft(self, line: str, cell: str | None = None) -> None:
        """Run the cell, or the statement, as always, and show below it where its time went.

        %%weft [-o PAGE] [--json FILE] [--quiet]

        -o PAGE      leave the page in a file too, which any browser opens
        --json FILE  leave the figures in a file, for programs and `weft compare`
        --quiet      show nothing

        The process must have been started on weft (the kernel "Python 3 (weft)"), or `%load_ext weft` come before other
        imports. Otherwise the cell runs all the same, and a line says why there is no report.
        """
        shell: InteractiveShell = self.shell
        choice = _Choice(line, cell is not None)
        code = choice.statement if cell is None else cell
        _check_await(shell, code)
        try:
            recording = Recording(f"cell {shell.displayhook.prompt_count}", choice.page, choice.json)
        except NoRecorderError as why:
            _mark(shell, shell.run_cell(code))
            return _say(f"no report: {_reason(why)}")
        except OSError as error:
            raise UsageError(f"%%weft: {error}") from None
        try:
            _begin(recording)
            result = shell.run_cell(code)
            _mark(shell, result)
            if result.error_before_exec is not None:  # it has not run
                return None
            made = recording.end()
        except RuntimeError as error:
            return _say(f"no report: {error}")
        finally:
            recording.cancel()
        if made is not None and not choice.quiet:
            display(_Shown(made))
        return None


def _begin(recording: Recording) -> None:
    try:
        recording.begin()
    except RuntimeError as error:
        raise UsageError(f"%%weft: {error}; one at a time, and none inside of another") from None


def _check_await(shell: InteractiveShell, code: str) -> None:
    """A magic is called by the loop that would have to run the cell."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    if shell.should_run_async(code, transformed_cell=shell.transform_cell(code)):
        raise UsageError("%%weft: the cell awaits something, which magics cannot do; await it in a cell of its own")


def _mark(shell: InteractiveShell, result: ExecutionResult) -> None:
    """A cell whose inside has failed has failed, so that `Run all` stops there. What is wrong has been shown."""
    error = result.error_before_exec or result.error_in_exec
    if error is None:
        return

    def mark(outer: ExecutionResult | None) -> None:
        shell.events.unregister("post_run_cell", mark)
        if outer is not None and outer.error_in_exec is None:
            outer.error_in_exec = error

    shell.events.register("post_run_cell", mark)


def _reason(error: NoRecorderError) -> str:
    if not error.is_too_late:
        return error.reason
    return (
        f'{error.reason}. Choose the kernel "Python 3 (weft)" (`python -m weft --install-kernel` makes it), or restart '
        "this one and put `%load_ext weft` before other imports"
    )


def _say(text: str) -> None:
    print(f"weft: {text}", file=sys.stderr)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Called by %load_ext weft: the recorder is brought now, when it may not be too late yet."""
    shell.register_magics(WeftMagics)
    try:
        recorder()
    except NoRecorderError as why:
        _say(f"%%weft will run cells without a report: {_reason(why)}")
