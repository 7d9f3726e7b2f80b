"""The files of a comparison: sentences, pairs, human scores, model scores, judgments."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.comparison.checked_table import Form, numbers_in, read_form, refuse_empty, refuse_repeats
from analysis.errors import BadInput
from analysis.files import read_table

SENTENCES = Form(("sentence_id", "sentence"), ("item", "condition", "paradigm", "phenomenon", "expected"))
PAIRS = Form(("pair_id", "good_id", "bad_id"), ("paradigm", "phenomenon"))
HUMAN = Form(("sentence_id", "score"), ("n", "sd"), ("score", "n", "sd"))
SCORES = Form(("sentence_id",), SENTENCES.needed[1:] + SENTENCES.optional)
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
    """Read a file of sentences.

    Parameters
    ----------
    path : str or Path
        ``sentence_id``, ``sentence`` and perhaps ``item``, ``condition``, ``paradigm``, ``phenomenon``,
        ``expected``.

    Returns
    -------
    DataFrame
        One row per sentence; ids are text and unique; the index is the line of the file.

    Raises
    ------
    BadInput
        Naming file, row and column.

    See Also
    --------
    read_pairs : The pairs of these sentences.
    """
    frame = read_form(path, SENTENCES)
    remedy = "Fill it in, or take the row out: without words there is nothing to score."
    refuse_empty(frame, "sentence", path, remedy=remedy)
    refuse_repeats(frame, "sentence_id", path)
    return frame


def read_pairs(path: str | Path) -> pd.DataFrame:
    """Read a file of minimal pairs.

    Parameters
    ----------
    path : str or Path
        ``pair_id``, ``good_id``, ``bad_id`` and perhaps ``paradigm`` and ``phenomenon``.

    Returns
    -------
    DataFrame
        One row per pair; ids are text, pairs unique.

    Raises
    ------
    BadInput
        Naming file, row and column: for a pair with one member, or with one sentence as both members.

    See Also
    --------
    read_sentences : The sentences of the pairs.
    """
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
    """Read a file of people's scores.

    Parameters
    ----------
    path : str or Path
        ``sentence_id``, ``score`` and perhaps ``n`` and ``sd``. An empty score leaves the
        sentence unlabelled.

    Returns
    -------
    DataFrame
        One row per sentence.

    Raises
    ------
    BadInput
        Naming file, row and column; NaN and infinities written out are refused.

    See Also
    --------
    read_scores : Scores of models.
    """
    frame = read_form(path, HUMAN)
    refuse_repeats(frame, "sentence_id", path)
    return frame


def read_scores(paths: Sequence[str | Path]) -> pd.DataFrame:
    """Read files of model scores and join them by sentence.

    Parameters
    ----------
    paths : sequence of str or Path
        Each has ``sentence_id`` and one column per model; columns that describe sentences are left aside.

    Returns
    -------
    DataFrame
        ``sentence_id`` and one column per model, NaN where a file has no score for a sentence.

    Raises
    ------
    BadInput
        Naming file, row and column; also when two files have a model of one name.

    See Also
    --------
    read_number_columns : One file of them.
    """
    joined: pd.DataFrame | None = None
    source: dict[str, str] = {}
    for path in paths:
        frame = _read_one_scores(path)
        for model in frame.columns[1:]:
            if model in source:
                raise BadInput(
                    f"model {model!r} stands in {source[model]} too.", file=str(path), column=str(model)
                )
            source[str(model)] = str(path)
        joined = frame if joined is None else joined.merge(frame, on="sentence_id", how="outer", sort=False)
    if joined is None:
        raise BadInput("no file of scores was given.")
    return joined.reset_index(drop=True)


def read_judgments(path: str | Path) -> pd.DataFrame:
    """Read a file of judgments.

    Parameters
    ----------
    path : str or Path
        ``participant``, ``sentence_id``, ``value`` and perhaps the other columns of a judgment frame.

    Returns
    -------
    DataFrame
        One row per judgment that counts: of a release's file, what was left out, what was not answered,
        practice, catch and anchor trials are gone (:func:`counted_judgments`).

    Raises
    ------
    BadInput
        Naming file, row and column.

    See Also
    --------
    counted_judgments : Which of them count.
    """
    return read_form(path, JUDGMENTS, only=counted_judgments)


def counted_judgments(judgments: pd.DataFrame) -> pd.DataFrame:
    """Keep the judgments that scores of sentences rest on.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``excluded_by``, ``status`` and ``kind`` are used when present; empty cells leave a row in.

    Returns
    -------
    DataFrame
        Answered, not excluded, targets and fillers.

    Examples
    --------
    >>> rows = pd.DataFrame({"value": [1, 0], "excluded_by": ["", "catch_failed"]})
    >>> counted_judgments(rows)["value"].tolist()
    [1]
    """
    kept = pd.Series(True, index=judgments.index)
    wanted = {"excluded_by": [""], "status": ["", "answered"], "kind": ["", "target", "filler"]}
    for column, values in wanted.items():
        if column in judgments.columns:
            kept &= judgments[column].fillna("").astype(str).isin(values)
    return judgments[kept]


def read_number_columns(path: str | Path, *, keys: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """Read a file's numbers, indexed by the first key column it has.

    Parameters
    ----------
    path : str or Path
        A table with one of the key columns.
    keys : sequence of str
        Columns that may name the rows, the best first.

    Returns
    -------
    frame : DataFrame
        The other columns but those that describe sentences, as numbers.
    key : str
        The column that names the rows.

    Raises
    ------
    BadInput
        Naming file, row and column.

    See Also
    --------
    read_scores : Several files as one table.
    """
    found = read_table(path)
    key = next((name for name in keys if name in found.columns), keys[0])
    frame = read_form(path, Form((key,)))
    refuse_repeats(frame, key, path)
    describing = {*SENTENCES.needed, *SENTENCES.optional}
    numbers = {
        str(column): numbers_in(frame, str(column), path, takes_nan=True)
        for column in frame.columns
        if column not in describing
    }
    return pd.DataFrame(numbers).set_axis(pd.Index(frame[key].astype(str))), key


def _read_one_scores(path: str | Path) -> pd.DataFrame:
    frame = read_form(path, SCORES)
    models = [str(column) for column in frame.columns if column not in SCORES.needed + SCORES.optional]
    if not models:
        raise BadInput("there is no column of scores.", file=str(path), remedy="Give one column per model.")
    refuse_repeats(frame, "sentence_id", path)
    for model in models:
        frame[model] = numbers_in(frame, model, path, takes_nan=True)
    return frame[["sentence_id", *models]]
