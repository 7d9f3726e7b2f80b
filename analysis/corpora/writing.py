"""Filtered corpora as a folder: text and CoNLL-U of each, what was removed, the report; whole or not."""

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

from analysis.corpora.conllu import Sentence
from analysis.corpora.filtering import KEPT, Survey, Told
from analysis.corpora.filters import Filter
from analysis.corpora.sampling import Flags
from analysis.errors import BadInput

TEXTS = ("original", "tokens")


@contextmanager
def whole_folder(folder: str | Path) -> Iterator[Path]:
    """Give a draft beside the folder; it takes its place only when the block succeeds.

    Parameters
    ----------
    folder : str or Path
        Must not exist, or be empty.

    Yields
    ------
    Path
        A folder in the same place, removed when the block fails.

    Raises
    ------
    BadInput
        If there is something there already, or nothing can be written.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput("is there already.", file=str(folder), remedy="Name a folder that does not exist yet.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}.", file=str(folder)) from error
    try:
        yield draft
        draft.chmod(0o755)
        draft.replace(folder)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror or error}.", file=str(folder)) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_corpora(
    sentences: Iterable[Sentence],
    folder: Path,
    *,
    found: Survey,
    chosen: Mapping[str, Flags],
    filters: Sequence[Filter],
    text: str = "original",
    told: Told | None = None,
) -> None:
    """Write every corpus: ``NAME.txt``, ``NAME.conllu``, and of each filter ``NAME.removed.tsv``.

    Parameters
    ----------
    sentences : iterable of Sentence
        The same corpus again.
    folder : Path
        Exists.
    found, chosen, filters
        As in :func:`analysis.corpora.filtering.report`.
    text : {"original", "tokens"}
        Sentences as people read them, or tokens with a space between.
    told : callable, optional
        Called with the number of sentences so far, now and then.

    Raises
    ------
    BadInput
        If the kind of text is unknown, or the corpus has changed since it was surveyed.
    """
    if text not in TEXTS:
        raise BadInput(f"there is no text {text!r}.", remedy=f"Give {' or '.join(TEXTS)}.")
    number = 0
    with ExitStack() as stack:
        plain = {name: _opened(stack, folder / f"{name}.txt") for name in chosen}
        parsed = {name: _opened(stack, folder / f"{name}.conllu") for name in chosen}
        removed = {one.name: _opened(stack, folder / f"{one.name}.removed.tsv") for one in filters}
        for out in removed.values():
            out.write("sent_id\tpattern\tsentence\n")
        for number, sentence in enumerate(sentences, start=1):
            if number > len(found.lengths) or found.lengths[number - 1] != len(sentence.words):
                raise BadInput("the corpus has changed while it was read.", remedy="Filter it again.")
            line = sentence.tokenized if text == "tokens" else sentence.text
            for name, flags in chosen.items():
                if flags[number - 1]:
                    plain[name].write(line + "\n")
                    parsed[name].write("\n".join(sentence.lines) + "\n\n")
            for one in filters:
                reason = int(found.reasons[one.name][number - 1])
                if reason != KEPT:
                    shown = sentence.text.replace("\t", " ")
                    removed[one.name].write(f"{sentence.sent_id}\t{one.patterns[reason].name}\t{shown}\n")
            if told and number % 500 == 0:
                told(number)
    if number != len(found.lengths):
        raise BadInput("the corpus has changed while it was read.", remedy="Filter it again.")


def write_report(document: Mapping[str, Any], folder: Path) -> None:
    """Write ``report.json``.

    Parameters
    ----------
    document : mapping
        What is to be known of the corpora.
    folder : Path
        Exists.
    """
    content = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    (folder / "report.json").write_text(content + "\n", encoding="utf-8")


def _opened(stack: ExitStack, path: Path) -> TextIO:
    return stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
