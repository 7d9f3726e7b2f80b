"""The commands that README and documentation show; run the marked ones: ``python -m tools.manual.commands``.

Every command is parsed by its own parser (tests/test_docs.py). The blocks marked ```` ```{.sh .run} ```` or
```` ```{.console .run} ```` are run in a shell, line by line, on the demo in a temporary folder; ``INPUTS``
names the files that a page takes from its reader. What is not run has its reason in ``NOT_RUN``.
"""

import argparse
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.core.management import CommandError, get_commands, load_command_class

from analysis.command_line.program import parser_of_commands

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
#: Where `obelus` is the script docker/systemd/obelus, which calls manage.py, not the library's command.
SERVER_PAGES = {"docs/how-to/deploy.md", "docs/how-to/operate.md"}

BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL
)
SHELL = re.compile(r"|sh|bash|console|shell|\{\.(?:console|sh) \.run\}")
RUN = ".run}"
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
# Optional parts in brackets, alternatives without spaces, and arguments that repeat
SYNOPSIS = re.compile(r"\[-|[\w/]\|[\w-]|\w…(?=\s|$)|\s…(?=[\s\]]|$)")
OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*)(?:[ =]\[?([a-z][\w-]*(?:\|[a-z][\w-]*)+)(?![\w:|]))?")
#: Commands in indented blocks would be neither parsed nor run.
INDENTED = re.compile(r"^ {4}(?:\$ )?(?:python3? )?(?:manage\.py|obelus|make) \S.*", re.MULTILINE)
#: Files that a page takes from its reader, made by `_lay_out` for the sandbox.
INPUTS = {
    "README.md": ["human_responses.csv"],
    "docs/how-to/coming-from.md": ["export.csv"],
    "docs/how-to/factorial.md": ["islands.csv", "islands-ratings.csv"],
    "docs/how-to/import-judgments.md": ["human_responses.csv"],
    "docs/how-to/paradigms.md": ["doubled_clerk.toml"],
    "docs/how-to/train-ngrams.md": ["corpus.txt", "gold"],
    "docs/models/comparison.md": ["human.csv", "pairs.csv", "judgments.csv", "trigram.csv", "gpt2.csv"],
    "docs/models/scoring.md": ["trigram.arpa", "sentences.csv"],
    "docs/reference/obelus.md": [
        *("judgments.csv", "corpus.txt", "sentences.csv", "human.csv", "pairs.csv", "gpt2.csv")
    ],
    "docs/statistics/power.md": ["pilot.csv"],
}
#: Why the commands of a page are not run in the sandbox, or those of one name: (page, name).
NOT_RUN: dict[str | tuple[str, str], str] = {
    "docs/examples/obelus-example/README.md": "installs a package: test_plugin_package.py does",
    "docs/how-to/deploy.md": "sets up a server: tests/deployment",
    "docs/how-to/filtered-corpora.md": "needs a treebank: tests/analysis/corpora",
    "docs/how-to/first-server.md": "asks for a password; backs up: tests/experiments/operation",
    "docs/how-to/kubernetes.md": "needs a cluster: tests/deployment",
    "docs/how-to/learning-curves.md": "trains for hours: tests/analysis/training",
    "docs/how-to/operate.md": "backs up and restores a server: tests/experiments/operation",
    "docs/how-to/privacy.md": "needs the id of a participant: tests/judgments/privacy",
    "docs/how-to/train-models.md": "trains for hours: tests/analysis/training",
    "docs/how-to/reproduce.md": "needs data of papers: tests/releases/papers",
    "docs/how-to/treebank-pairs.md": "needs a treebank: tests/experiments/generation",
    "docs/how-to/compare-models.md": "trains a transformer (torch), takes scores made elsewhere",
    "docs/how-to/open-releases.md": "opens a release in other tools: test_opened_elsewhere.py",
    "docs/models/depth.md": "needs a table of the reader's models: neural/test_manual.py",
    "docs/reference/lexicon.md": "changes the lexicon in the checkout",
    (
        "docs/how-to/coming-from.md",
        "import_judgments",
    ): "takes another tool's export and Prolific's: tests/judgments/imports",
    ("docs/how-to/coming-from.md", "import_materials"): "takes a dataset folder: test_dataset_folders.py",
    ("docs/how-to/gold-release.md", "compare"): "takes scores of the reader's models",
    (
        "docs/how-to/import-judgments.md",
        "import_judgments",
    ): "takes published data that the reader downloads: tests on real data",
    ("docs/how-to/import-judgments.md", "ratings"): "of published data",
    ("docs/how-to/import-judgments.md", "effects"): "of published data",
    (
        "docs/how-to/materials.md",
        "import_materials",
    ): "takes published data that the reader downloads: tests on real data",
    (
        "docs/how-to/new-paradigm.md",
        "simulate",
    ): "goes on from the pages of the walk: tests/browser/paradigms",
    (
        "docs/how-to/publish-releases.md",
        "publish",
    ): "sends to a service: tests/releases/publishing, against doubles",
    ("docs/models/scoring.md", "score"): "needs a model of the hub: neural/test_manual.py",
    ("docs/models/scoring.md", "perplexity"): "needs a model of the hub: neural/test_manual.py",
    ("docs/models/scoring.md", "train_unigram"): "needs a model of the hub: neural/test_manual.py",
}
CONTROL = {"|", "||", "&&", "&", ";", ">", ">>", "<", "<<", "2>", "(", ")"}


@dataclass(frozen=True)
class Shown:
    """A command as a page shows it."""

    place: str
    program: str  # manage.py, obelus or make
    words: tuple[str, ...]
    is_synopsis: bool
    is_run: bool = False
    is_in_block: bool = False


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
                is_run = RUN in block["info"]
                yield Shown(f"{page}:{first + offset}", program, words, is_synopsis, is_run, is_in_block=True)
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


def reason_not_to_run(shown: Shown) -> str:
    """Return why a command in a block is not run in the sandbox; empty where it should be."""
    if shown.program == "make":
        return "targets install, test and build in the checkout"
    page = shown.place.partition(":")[0]
    if page.startswith("docs/tutorials/"):
        return "run with the tutorials: tools/manual/tutorials.py"
    return NOT_RUN.get((page, shown.words[0])) or NOT_RUN.get(page, "")


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


def run_marked(pages: Sequence[str] = ()) -> int:
    """Run the marked lines on a demo in a temporary data folder; return how many failed."""
    failures = n_run = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = _sandbox(folder)
        _lay_out(folder, environment)
        for path in PAGES:
            page = path.relative_to(ROOT).as_posix()
            if pages and page not in pages:
                continue
            lines = list(marked_lines(path))
            there = _folder_of_page(folder, page, path) if lines else folder
            for number, line in lines:
                done = _shell(line, there, environment)
                n_run, failures = n_run + 1, failures + (done.returncode != 0)
                fault = f"status {done.returncode}\n{done.stderr or done.stdout}" if done.returncode else "ok"
                print(f"{page}:{number}: {line}: {fault}", flush=True)
    print(f"{n_run} lines run, {failures} failed")
    return failures


def marked_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Return number and text of the lines with a command in the marked blocks of a page."""
    text = path.read_text(encoding="utf-8")
    page = path.relative_to(ROOT).as_posix()
    for block in BLOCK.finditer(text):
        if RUN in block["info"]:
            first = text.count("\n", 0, block.start()) + 2
            for offset, line in _logical_lines(block["text"]):
                if any(_calls(line, page, is_synopsis=False)):
                    yield first + offset, line


def _sandbox(folder: Path) -> dict[str, str]:
    """Make the programs that the pages call; return the environment of their processes."""
    programs = folder / "bin"
    programs.mkdir()
    for name, call in {"manage.py": f"{ROOT}/manage.py", "obelus": "-m analysis"}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {call} "$@"\n')
        (programs / name).chmod(0o755)
    # Outside services stay out of reach: no proxy, no token, no settings of this computer.
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ}
    path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    paths = {"PATH": path, "HOME": str(folder), "VAR_DIR": f"{folder}/var", "PYTHONPATH": str(ROOT)}
    return {**kept, **paths, "OPENBLAS_NUM_THREADS": "1"}


def _lay_out(folder: Path, environment: dict[str, str]) -> None:
    """Make the demo and the files of INPUTS."""
    inputs = folder / "inputs"
    inputs.mkdir()
    for line in (
        "manage.py migrate -v0",
        "manage.py demo",
        "DJANGO_SUPERUSER_PASSWORD=x manage.py createsuperuser --noinput --username ada --email a@b.org",
        "manage.py export_gold demo --to gold",
        "manage.py export_batch demo --to human_responses.csv",
        "obelus examples",
        "cp validation.csv judgments.csv && cp validation.csv pilot.csv",
        "obelus train-ngram corpus.txt --order 3 --casing lower --punctuation split --out trigram.arpa",
        "obelus score arpa:trigram.arpa --sentences sentences.csv --to trigram.csv",
        "obelus score arpa:trigram.arpa --sentences sentences.csv --name gpt2 --to gpt2.csv",
        f"cp {ROOT}/tests/judgments/imports/exports/qualtrics.csv export.csv",
        f"cp {DOCS}/how-to/islands.csv {DOCS}/how-to/islands-ratings.csv .",
    ):
        done = _shell(line, inputs, environment)
        if done.returncode:
            raise SystemExit(f"{line}: status {done.returncode}\n{done.stderr}")
    page = (DOCS / "how-to" / "paradigms.md").read_text(encoding="utf-8")
    (toml,) = re.findall(r"```toml\n(.*?^uid = \"doubled_clerk\".*?)^```", page, re.MULTILINE | re.DOTALL)
    (inputs / "doubled_clerk.toml").write_text(toml, encoding="utf-8")


def _folder_of_page(folder: Path, page: str, path: Path) -> Path:
    """A new folder with the inputs of the page, and with the checkout's names beside them."""
    there = folder / page.replace("/", "-")
    there.mkdir()
    (there / "manage.py").symlink_to(ROOT / "manage.py")
    (there / ".venv").symlink_to(sys.prefix)
    (there / "var").symlink_to(folder / "var")
    for name in INPUTS.get(page, ()):
        source = folder / "inputs" / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, there / name)
    return there


def _shell(line: str, folder: Path, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    command = ["bash", "-euo", "pipefail", "-c", line]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(1 if run_marked(sys.argv[1:]) else 0)
