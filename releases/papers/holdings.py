"""The data folder of the papers: data sets, tables of scores, weights and training texts that are at hand."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from django.conf import settings

from analysis.comparison.files import read_scores
from analysis.errors import BadInput
from analysis.ngrams import train_model, write_arpa
from analysis.scoring.base import Scorer
from analysis.scoring.frames import score_sentences
from analysis.scoring.registry import scorer
from analysis.scoring.words.tokens import Tokenization

ENGLISH = Tokenization("space", "lower", "split")
WIKITEXT = ("wikitext-2/valid.txt", "wikitext-2/test.txt")
STAND_IN = "a stand-in, trained here on WikiText-2's validation and test parts ({sentences:,} sentences)"


@dataclass(frozen=True)
class Holdings:
    """What is in the data folder."""

    folder: Path
    signs: Mapping[str, str] = field(default_factory=dict)
    """Which values mean a better sentence, by column of the tables of scores: *lower* or *higher*."""

    def find(self, *names: str) -> Path | None:
        """The first of some files or folders that exists."""
        return next((path for name in names if (path := self.folder / name).exists()), None)

    def find_all(self, *names: str) -> list[Path] | None:
        """Every one of some files; None if one is missing."""
        paths = [self.folder / name for name in names]
        return paths if all(path.exists() for path in paths) else None

    def matching(self, pattern: str) -> list[Path]:
        """Files that match a pattern, sorted."""
        return sorted(self.folder.glob(pattern))

    def scores(self, paper: str, *, without: Sequence[str] = ()) -> pd.DataFrame | None:
        """The tables of scores in ``scores/PAPER/``: ``sentence_id`` and a column for each model."""
        paths = [
            path
            for path in self.matching(f"scores/{paper}/*.csv")
            if path.name not in without and not path.name.endswith(".counts.csv")
        ]
        return read_scores(paths, signs=self.signs) if paths else None

    @cached_property
    def english_lines(self) -> list[str]:
        """Sentences of WikiText-2, without headings and without sentences that have unknown words."""
        paths = self.find_all(*WIKITEXT)
        text = "\n".join(path.read_text(encoding="utf-8") for path in paths or [])
        return wikitext_sentences(text)


def default_folder() -> Path:
    """The folder of the setting ``PAPERS_DATA``; without it that of the tests' real data, if it is there."""
    beside = Path(settings.BASE_DIR).parent / "shared" / "data"
    return beside if not settings.PAPERS_DATA.is_dir() and beside.is_dir() else settings.PAPERS_DATA


def open_holdings(folder: Path | None, *, signs: Mapping[str, str] | None = None) -> Holdings:
    """Open a data folder, by default that of the settings, which may be absent: nothing is at hand then.

    Raises
    ------
    BadInput
        If a folder is named that is not there.
    """
    if folder is not None and not folder.is_dir():
        raise BadInput(
            "there is no such folder of data.",
            file=str(folder),
            remedy="Name another one (docs/how-to/reproduce.md lists what it may hold).",
        )
    return Holdings(folder or default_folder(), signs or {})


def wikitext_sentences(text: str) -> list[str]:
    """Cut WikiText into whole sentences without headings and unknown words, spaced as usual text.

    Examples
    --------
    >>> wikitext_sentences(" = Head = \\n It 's a well @-@ known ship . He saw <unk> . She left , too . \\n")
    ["It's a well-known ship.", 'She left, too.']
    """
    sentences = []
    for line in text.splitlines():
        if not line.strip() or line.strip().startswith("="):
            continue
        joined = re.sub(r" @(.)@ ", r"\1", f" {line.strip()} ")
        joined = re.sub(r" '(s|t|d|m|re|ve|ll)\b", r"'\1", joined)
        for sentence in re.sub(r" ([.?!]) ", r"\1\n", joined).splitlines():
            sentence = re.sub(r" ([,;:.?!])", r"\1", sentence.strip())
            if "<unk>" not in sentence and re.fullmatch(r"[A-Z].* .*[.?!]", sentence):
                sentences.append(sentence)
    return sentences


@contextmanager
def ngram_model(
    lines: Sequence[str], *, order: int, tokenization: Tokenization = ENGLISH
) -> Iterator[Scorer]:
    """Train an n-gram model on sentences and open it as a scorer, for the duration of the block."""
    model = train_model((tokenization.tokens(line) for line in lines), order=order)
    with TemporaryDirectory() as folder:
        path = Path(folder, "ngram.arpa")
        write_arpa(replace(model, tokenization=tokenization.record()), path)
        yield scorer(f"arpa:{path}")


def named_scores(model: Scorer, sentences: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Score sentences by measures; ``columns`` has the name of the column of each.

    ``sentences`` has ``sentence_id`` and ``sentence``, the result ``sentence_id`` and the named columns.
    """
    scored = score_sentences(model, sentences, methods=list(columns), name="model").frame
    return scored.rename(columns={f"model:{measure}": name for measure, name in columns.items()})


def add_weights(
    holdings: Holdings, scores: pd.DataFrame, sentences: pd.DataFrame, weights: Mapping[str, tuple[str, str]]
) -> pd.DataFrame:
    """Add the scores of models whose weights are at hand and whose columns are missing.

    ``weights`` has, by column, the folder of the weights and the address of the model with ``{}`` for it.
    """
    for name, (folder, uri) in weights.items():
        path = holdings.find(folder)
        if path is not None and name not in scores.columns:
            measured = named_scores(scorer(uri.format(path)), sentences, {"lp": name})
            scores = scores.merge(measured, on="sentence_id", how="left")
    return scores
