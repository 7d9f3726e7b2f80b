"""Write filtered corpora, removed sentences and the report to a folder, atomically."""

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

from ..errors import BadInput
from .conllu import Sentence
from .filtering import KEPT, Progress, Survey
from .filters import Filter
from .sampling import Flags

TEXTS = ("original", "tokens")


@contextmanager
def whole_folder(folder: str | Path) -> Iterator[Path]:
    """Yield a temporary folder that replaces the folder only if the block succeeds."""
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput("the folder already exists.", file=str(folder), remedy="Choose a new folder.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}.", file=str(folder)) from error
    try:
        yield draft
        draft.chmod(0o755)  # mkdtemp creates folders that only their owner can read
        draft.replace(folder)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror or error}.", file=str(folder)) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_corpora(
    sentences: Iterable[Sentence],
    folder: Path,
    *,
    surveyed: Survey,
    chosen: Mapping[str, Flags],
    filters: Sequence[Filter],
    text: str = "original",
    progress: Progress | None = None,
) -> None:
    """Write every corpus: ``NAME.txt``, ``NAME.conllu``, and of each filter ``NAME.removed.tsv``."""
    if text not in TEXTS:
        raise BadInput(f"there is no text {text!r}.", remedy=f"Give {' or '.join(TEXTS)}.")
    number = 0
    with ExitStack() as stack:
        plain = {name: _open_output(stack, folder / f"{name}.txt") for name in chosen}
        parsed = {name: _open_output(stack, folder / f"{name}.conllu") for name in chosen}
        removed = {rule.name: _open_output(stack, folder / f"{rule.name}.removed.tsv") for rule in filters}
        for out in removed.values():
            out.write("sent_id\tpattern\tsentence\n")
        for number, sentence in enumerate(sentences, start=1):
            if number > len(surveyed.lengths) or surveyed.lengths[number - 1] != len(sentence.words):
                raise BadInput("the corpus has changed while it was read.", remedy="Filter it again.")
            line = sentence.token_text if text == "tokens" else sentence.text
            for name, flags in chosen.items():
                if flags[number - 1]:
                    plain[name].write(line + "\n")
                    parsed[name].write("\n".join(sentence.lines) + "\n\n")
            for rule in filters:
                reason = int(surveyed.reasons[rule.name][number - 1])
                if reason != KEPT:
                    line = sentence.text.replace("\t", " ")
                    removed[rule.name].write(f"{sentence.sent_id}\t{rule.patterns[reason].name}\t{line}\n")
            if progress and number % 500 == 0:
                progress(number)
    if number != len(surveyed.lengths):
        raise BadInput("the corpus has changed while it was read.", remedy="Filter it again.")


def write_report(document: Mapping[str, Any], folder: Path) -> None:
    """Write ``report.json``."""
    content = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    (folder / "report.json").write_text(content + "\n", encoding="utf-8")


def _open_output(stack: ExitStack, path: Path) -> TextIO:
    return stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
