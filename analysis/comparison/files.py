"""Readers of sentences, pairs, human scores, model scores and judgments; errors name file, row and column."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import BadInput
from ..files import read_table
from ..scoring.conventions import COUNTED
from ..scoring.orientation import lower_columns, refuse_unknown_columns, stated_signs
from ..table_forms import SENTENCES, Form, numbers_in, read_form, refuse_empty, refuse_repeats
from .ceilings.responses import counted_judgments

PAIRS = Form(("pair_id", "good_id", "bad_id"), ("paradigm", "phenomenon"))
HUMAN = Form(("sentence_id", "score"), ("n", "sd"), ("score", "n", "sd"))
SCORES = Form(("sentence_id",), SENTENCES.required[1:] + SENTENCES.optional)
JUDGMENTS = Form(
    ("participant", "sentence_id", "value"),
    (
        "session",
        "item",
        "condition",
        "trial",
        "task",
        "response",
        "rt_ms",
        "position",
        "shown_first",
        "list",
        "kind",
        "pair_id",
        "status",
        "excluded_by",
    ),
    ("value", "rt_ms", "position"),
)


def read_sentences(path: str | Path) -> pd.DataFrame:
    """Read a file of sentences."""
    frame = read_form(path, SENTENCES)
    remedy = "Fill it in, or remove the row: an empty sentence cannot be scored."
    refuse_empty(frame, "sentence", path, remedy=remedy)
    refuse_repeats(frame, "sentence_id", path)
    return frame


def read_pairs(path: str | Path) -> pd.DataFrame:
    """Read a file of minimal pairs."""
    frame = read_form(
        path, PAIRS, missing={"good_id": "the pair has one member", "bad_id": "the pair has one member"}
    )
    refuse_repeats(frame, "pair_id", path)
    same = frame.index[frame["good_id"] == frame["bad_id"]]
    if len(same):
        message = (
            f"pair {frame.at[same[0], 'pair_id']!r} has {frame.at[same[0], 'bad_id']!r} as both members."
        )
        raise BadInput(message, file=str(path), row=int(same[0]), column="bad_id")
    return frame


def read_human(path: str | Path) -> pd.DataFrame:
    """Read a file of human scores."""
    frame = read_form(path, HUMAN)
    refuse_repeats(frame, "sentence_id", path)
    return frame


def read_scores(paths: Sequence[str | Path], *, signs: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Read files of model scores and join them by sentence.

    ``signs`` is *lower* or *higher* by column (key ``""``: every column whose name or values ask): which
    values mean a better sentence. Columns named as surprisal, perplexity or loss, and those with positive
    values only, need one; lower ones are negated and named in ``attrs["negated"]``. ``attrs["signs"]`` has
    the columns whose sign was given.
    """
    joined: pd.DataFrame | None = None
    source: dict[str, str] = {}
    negated: list[str] = []
    stated: dict[str, str] = {}
    for path in paths:
        frame = _read_scores_file(path)
        columns = [str(model) for model in frame.columns[1:]]
        lower = lower_columns(frame, columns, signs or {}, file=str(path))
        stated |= stated_signs(frame, columns, signs or {})
        frame = frame.assign(**{name: -frame[name] for name in lower})
        negated += lower
        for model in frame.columns[1:]:
            if model in source:
                raise BadInput(
                    f"model {model!r} is also in {source[model]}.", file=str(path), column=str(model)
                )
            source[str(model)] = str(path)
        joined = frame if joined is None else joined.merge(frame, on="sentence_id", how="outer", sort=False)
    if joined is None:
        raise BadInput("no file of scores is named.")
    refuse_unknown_columns(signs or {}, list(joined.columns[1:]))
    joined = joined.reset_index(drop=True)
    joined.attrs |= {"negated": negated, "signs": stated}
    return joined


def read_counts(paths: Sequence[str | Path], records: Sequence[Mapping[str, Any]]) -> pd.DataFrame | None:
    """Read the log probabilities and lengths that ``score`` wrote beside its files; None where it wrote none.

    ``records`` are of :func:`obelus.scoring.conventions.recorded_specs`. ``model`` is the column of scores.
    """
    parts = []
    for path, record in zip(map(Path, paths), records, strict=True):
        file = path.with_suffix(COUNTED)
        if record.get("columns") and file.exists():
            counts = read_table(file)
            if "unigram_logprob" not in counts:
                counts = counts.assign(unigram_logprob=float("nan"))
            parts += [counts.assign(model=model) for model in record["columns"]]
    return pd.concat(parts, ignore_index=True) if parts else None


def read_judgments(path: str | Path) -> pd.DataFrame:
    """Read a file of judgments.

    Notes
    -----
    Of a release's file, exclusions, unanswered trials, and practice, catch and anchor trials are dropped
    (:func:`obelus.comparison.ceilings.responses.counted_judgments`).
    """
    return read_form(path, JUDGMENTS, only=counted_judgments)


def _read_scores_file(path: str | Path) -> pd.DataFrame:
    frame = read_form(path, SCORES)
    models = [str(column) for column in frame.columns if column not in SCORES.required + SCORES.optional]
    if not models:
        raise BadInput("there is no column of scores.", file=str(path), remedy="Give one column per model.")
    refuse_repeats(frame, "sentence_id", path)
    for model in models:
        frame[model] = numbers_in(frame, model, path, takes_nan=True)
    return frame[["sentence_id", *models]]
