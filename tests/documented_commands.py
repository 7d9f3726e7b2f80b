"""The commands that README and documentation show; ``make docs-commands`` runs the marked ones.

Every command is parsed by its own parser (tests/test_docs.py). The blocks marked ```` ```{.console .run} ````
are run in order on the demo, in a temporary data folder.
"""

import argparse
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.core.management import CommandError, get_commands, load_command_class

from analysis.command_line.program import parser_of_commands

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
#: Where `obelus` is the script docker/systemd/obelus, which calls manage.py, not the library's command.
SERVER_PAGES = {"docs/how-to/deploy.md", "docs/how-to/operate.md"}

BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL
)
SHELL = re.compile(r"|sh|bash|console|shell|\{ ?\.console \.run ?\}")
RUN = "{.console .run}"
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
# Optional parts in brackets, alternatives without spaces, and arguments that repeat
SYNOPSIS = re.compile(r"\[-|[\w/]\|[\w-]|\w…(?=\s|$)|\s…(?=[\s\]]|$)")
OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*)(?:[ =]\[?([a-z][\w-]*(?:\|[a-z][\w-]*)+)(?![\w:|]))?")
CONTROL = {"|", "||", "&&", "&", ";", ">", ">>", "<", "<<", "2>", "(", ")"}


@dataclass(frozen=True)
class Shown:
    """A command as a page shows it."""

    place: str
    program: str  # manage.py, obelus or make
    words: tuple[str, ...]
    is_synopsis: bool
    is_run: bool = False


def commands_of(path: Path) -> Iterator[Shown]:
    """Return the commands in the shell blocks and in the code within the text of a page."""
    text = path.read_text(encoding="utf-8")
    page = path.relative_to(ROOT).as_posix()
    for block in BLOCK.finditer(text):
        if not SHELL.fullmatch(block["info"].strip()):
            continue
        first = text.count("\n", 0, block.start()) + 2
        for offset, line in _logical_lines(block["text"]):
            is_synopsis = bool(SYNOPSIS.search(line.partition(" #")[0]))
            for program, words in _calls(line, page, is_synopsis=is_synopsis):
                yield Shown(f"{page}:{first + offset}", program, words, is_synopsis, RUN in block["info"])
    prose = BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)
    for code in INLINE.finditer(prose):
        for program, words in _calls(code[1], page, is_synopsis=True):
            yield Shown(f"{page}:{prose.count(chr(10), 0, code.start()) + 1}", program, words, True)


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Return number and text of each command line, with the lines that continue it."""
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines()):
        before = lines[-1][1] if lines else ""
        is_continued = before.endswith("\\")
        # A synopsis goes on in an indented line without a backslash.
        is_indented = line.startswith("  ") and "manage.py" in before and SYNOPSIS.search(before)
        if is_continued or (is_indented and "manage.py" not in line):
            lines[-1] = (lines[-1][0], f"{before.removesuffix(chr(92))} {line.strip()}")
        else:
            lines.append((number, line.strip().removeprefix("$ ").rstrip()))
    return lines


def _calls(line: str, page: str, *, is_synopsis: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return program and arguments of each call in a line."""
    if is_synopsis:
        words = line.split()
        segments = [words]
    else:
        # A shell variable stands for a value: 1 is a text and a number.
        lexer = shlex.shlex(re.sub(r"\$\{?\w+\}?", "1", line), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True  # `arpa:x` is one word
        lexer.commenters = "#" if " #" in line or line.startswith("#") else ""
        try:
            words = list(lexer)
        except ValueError:  # a quotation that ends in another line, as in the text of a file
            return
        segments = [[]]
        for word in words:
            if word in CONTROL or word in ("do", "then", "done"):
                segments.append([])
            else:
                segments[-1].append(word)
    for segment in segments:
        while segment and re.fullmatch(r"[A-Z_]+=.*", segment[0]):
            segment = segment[1:]
        if "manage.py" in segment:
            arguments = segment[segment.index("manage.py") + 1 :]
            if arguments:
                yield "manage.py", tuple(arguments)
        elif segment[:1] == ["obelus"] and len(segment) > 1:
            yield "manage.py" if page in SERVER_PAGES else "obelus", tuple(segment[1:])
        elif segment[:1] == ["make"] and len(segment) > 1:
            yield "make", tuple(segment[1:])


def fault_of(shown: Shown) -> str:
    """Return what the parser refuses in a command; empty where it takes it."""
    name, *arguments = shown.words
    if shown.program == "make":
        is_target = "=" in name or name in _targets() or not re.fullmatch(r"[a-z-]+", name)
        return "" if is_target else f"the Makefile has no target {name}"
    if not re.fullmatch(r"[a-z][\w-]*", name):  # COMMAND, …, --version
        return ""
    parser = _parser(shown.program, name)
    if parser is None:
        return f"{shown.program} has no command {name}"
    if shown.is_synopsis:
        return _fault_of_synopsis(parser, arguments)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
            parser.parse_args(arguments)
    except CommandError as error:
        return str(error)
    except SystemExit as error:
        return printed.getvalue().strip().rpartition("\n")[2] if error.code else ""
    return ""


def _fault_of_synopsis(parser: argparse.ArgumentParser, words: Sequence[str]) -> str:
    """Return an option or a choice of a synopsis that the parser does not have."""
    for action in parser._actions:
        # `power prospective …`: the options are those of the command below
        if isinstance(action, argparse._SubParsersAction) and words and words[0] in action.choices:
            parser = action.choices[words[0]]
    actions = {option: action for action in parser._actions for option in action.option_strings}
    for option, alternatives in OPTION.findall(" ".join(words)):
        if option not in actions:
            return f"no option {option}"
        choices = [str(choice) for choice in actions[option].choices or ()]
        unknown = [word for word in alternatives.split("|") if choices and word and word not in choices]
        if unknown:
            return f"{option} does not take {', '.join(unknown)}"
    return ""


@cache
def _parser(program: str, name: str) -> argparse.ArgumentParser | None:
    if program == "manage.py":
        app = get_commands().get(name)
        command = load_command_class(app, name) if isinstance(app, str) else None
        return command.create_parser("manage.py", name) if command else None
    parser, _ = parser_of_commands()
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    choice: argparse.ArgumentParser | None = commands.choices.get(name)
    return choice


@cache
def _targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def run_marked() -> int:
    """Run the marked commands on a demo in a temporary data folder; return how many failed."""
    marked = [shown for path in PAGES for shown in commands_of(path) if shown.is_run]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        # Outside services stay out of reach: no proxy, no token, no settings of this computer.
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        environment = {**kept, "HOME": folder, "VAR_DIR": f"{folder}/var", "OPENBLAS_NUM_THREADS": "1"}
        for words in (("migrate",), ("demo",)):
            _run("manage.py", words, folder, environment, check=True)
        for shown in marked:
            done = _run(shown.program, shown.words, folder, environment)
            failures += done.returncode != 0
            fault = f"status {done.returncode}\n{done.stderr or done.stdout}" if done.returncode else "ok"
            print(f"{shown.place}: {shown.program} {shlex.join(shown.words)}: {fault}", flush=True)
    print(f"{len(marked)} commands run, {failures} failed")
    return failures


def _run(
    program: str, words: Sequence[str], folder: str, environment: dict[str, str], *, check: bool = False
) -> "subprocess.CompletedProcess[str]":
    start = [sys.executable, str(ROOT / "manage.py")]
    if program == "obelus":
        start = [sys.executable, "-m", "analysis"]
        environment = {**environment, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*start, *words], cwd=folder, env=environment, capture_output=True, text=True, check=check
    )


if __name__ == "__main__":
    sys.exit(1 if run_marked() else 0)
