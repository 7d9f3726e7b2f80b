"""Parse raw text to CoNLL-U with Stanza, if it and its models are installed; nothing is downloaded."""

import importlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import BadInput

PROCESSORS = "tokenize,pos,lemma,depparse"  # Stanza adds multiword tokens where the language has them
PYTHON = ".venv/bin/python"
BATCH = 200  # sentences a call: enough to fill its own batches, little to hold


def parse_text(
    path: str | Path, to: str | Path, *, language: str = "en", progress: Callable[[int], None] | None = None
) -> int:
    """Parse a text with one sentence per line.

    References
    ----------
    Qi et al. (2020), "Stanza: A Python natural language processing toolkit for many human languages", ACL.
    """
    path = Path(path)
    if not path.is_file():
        raise BadInput("there is no such file.", file=str(path))
    lines = _sentences(path)
    first = next(lines, None)
    if first is None:
        raise BadInput("the file is empty.", file=str(path))
    stanza, pipeline = _pipeline(path, language)
    written = 0
    with Path(to).open("w", encoding="utf-8", newline="\n") as out:
        batch = [first, *islice(lines, BATCH - 1)]
        while batch:
            for document in pipeline([stanza.Document([], text=line) for line in batch]):
                out.write(f"{document:C-o}\n\n")
            written += len(batch)
            if progress:
                progress(written)
            batch = list(islice(lines, BATCH))
    return written


def _sentences(path: Path) -> Iterator[str]:
    with path.open("rb") as raw:
        for number, line in enumerate(raw, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise BadInput(
                    "the text is not UTF-8.", file=str(path), row=number, remedy="Save it as UTF-8."
                ) from error
            if text.strip():
                yield " ".join(text.split())


def _pipeline(path: Path, language: str) -> tuple[Any, Any]:
    fetch = f"{PYTHON} -c \"import stanza; stanza.download('{language}')\""
    try:
        stanza = importlib.import_module("stanza")
    except ImportError as error:
        raise BadInput(
            f"this is text, and Stanza, which parses it, is not installed ({error}).", file=str(path),
            remedy=f"Run {PYTHON} -m pip install stanza, then {fetch}; or give a .conllu file.",
        ) from error  # fmt: skip
    try:
        return stanza, stanza.Pipeline(
            language, processors=PROCESSORS, tokenize_no_ssplit=True, download_method=None, verbose=False
        )
    except Exception as error:  # Stanza has no common class of errors
        raise BadInput(
            f"Stanza cannot parse {language!r} here ({type(error).__name__}: {error}).", file=str(path),
            remedy=f"Fetch its models once: {fetch}.",
        ) from error  # fmt: skip
