"""Is the set what its author meant? Duplicates, holes, identical members, stray Unicode."""

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from experiments.materials.characters import compared, quote_style, stray_characters
from experiments.materials.collection import Materials
from experiments.materials.markup import COLUMN, INLINE, has_tags, said
from experiments.materials.report import Finding, Report
from experiments.materials.schema import ACCEPTABLE, PAIR_FIELDS, SENTENCE_FIELDS, UNACCEPTABLE


def check(materials: Materials) -> Report:
    """Check a material set.

    Parameters
    ----------
    materials : Materials

    Returns
    -------
    Report
        Findings of the reader and of every check here. Nothing is changed in the materials.

    Notes
    -----
    Texts are compared in Unicode NFC. Only errors (a value too long to be stored) keep a set from being
    imported; duplicates and holes may be meant.
    """
    sentences = materials.sentences.assign(compared=[compared(text) for text in materials.sentences["text"]])
    report = Report()
    report.add(materials.findings)
    for one_check in _SENTENCE_CHECKS:
        report.add(one_check(sentences))
    texts = sentences.set_index("sentence_id")["compared"]
    pairs = materials.pairs.assign(
        good=materials.pairs["good_id"].map(texts), bad=materials.pairs["bad_id"].map(texts)
    )
    for pair_check in _PAIR_CHECKS:
        report.add(pair_check(pairs))
    report.add(_unpaired(sentences, pairs))
    return report


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _too_long(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Values that the database cannot hold."""
    limits = {name: field.longest for name, field in SENTENCE_FIELDS.items() if field.longest}
    limits["language"] = limits.pop("sentence_language")
    for name, longest in limits.items():
        for row in _records(sentences[sentences[name].str.len() > longest]):
            message = f"column {name!r}: {len(row[name])} characters, at most {longest} can be stored."
            yield Finding("error", "too_long", message, row["file"], row["row"], (row["sentence_id"],))


def _pair_ids_too_long(pairs: pd.DataFrame) -> Iterator[Finding]:
    for row in _records(pairs[pairs["pair_id"].str.len() > PAIR_FIELDS["pair_id"].longest]):
        message = f"column 'pair_id': at most {PAIR_FIELDS['pair_id'].longest} characters can be stored."
        yield Finding("error", "too_long", message, row["file"], row["row"], (row["pair_id"],))


def _same_string(sentences: pd.DataFrame) -> Iterator[Finding]:
    """One string under several ids; a warning where its expected status differs."""
    again = sentences[sentences["compared"].duplicated(keep=False)]
    for text, rows in again.groupby("compared", sort=False):
        ids = tuple(rows["sentence_id"])
        conflicting = {ACCEPTABLE, UNACCEPTABLE} <= set(rows["expected"])
        first = rows.iloc[0]
        words = "both as acceptable and as unacceptable" if conflicting else f"under {len(ids)} ids"
        message = f"{text!r} stands {words}: {', '.join(ids[:4])}{' …' if len(ids) > 4 else ''}."
        code = "conflicting_status" if conflicting else "same_string"
        yield Finding("warning" if conflicting else "note", code, message, first["file"], first["row"], ids)


def _duplicate_cells(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Two sentences of one item in one condition."""
    cells = sentences[sentences["condition"] != ""]
    again = cells[cells.duplicated(["item", "condition"], keep=False)]
    for (item, condition), rows in again.groupby(["item", "condition"], sort=False):
        ids, second = tuple(rows["sentence_id"]), rows.iloc[1]
        message = f"item {item} has {len(ids)} sentences in condition {condition!r}."
        yield Finding("warning", "duplicate_cell", message, second["file"], second["row"], ids)


def _holes(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Items that lack a condition which the paradigm's other items have."""
    cells = sentences[sentences["condition"] != ""]
    for paradigm, rows in cells.groupby("paradigm", sort=False):
        conditions = list(dict.fromkeys(rows["condition"]))
        grid = rows.drop_duplicates(["item", "condition"]).groupby("item", sort=False).size()
        short = grid[grid < len(conditions)]
        if short.sum() == len(conditions) and len(short) == len(grid):
            continue  # every item has conditions of its own: not a factorial design
        where = f" of {paradigm!s}" if paradigm else ""
        if len(grid) > len(conditions) > 1 and (grid == 1).all():
            message = f"each item{where} stands in one of {len(conditions)} conditions only, none in two."
            yield Finding("note", "nested_items", message, rows["file"].iloc[0], rows["row"].iloc[0])
            continue
        present = rows.groupby("item", sort=False)["condition"].agg(set)
        for row in _records(rows[rows["item"].isin(short.index)].drop_duplicates("item")):
            absent = [condition for condition in conditions if condition not in present[row["item"]]]
            message = f"item {row['item']}{where} has no sentence in condition {', '.join(absent)}."
            yield Finding("warning", "hole", message, row["file"], row["row"], (row["item"],))


def _stray(sentences: pd.DataFrame) -> Iterator[Finding]:
    columns = (sentences[name].tolist() for name in ("sentence_id", "text", "file", "row"))
    for name, text, file, row in zip(*columns, strict=True):
        for code, severity, words in stray_characters(text):
            yield Finding(severity, code, f"sentence {name} has {words}.", file, row, (name,))


def _quote_styles(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Straight quotation marks in some sentences, curly ones in others."""
    styles = pd.Series([quote_style(text) for text in sentences["text"]], index=sentences.index)
    counts = styles.value_counts()
    if {"straight", "curly"} <= set(counts.index):
        rarer = "curly" if counts["curly"] <= counts["straight"] else "straight"
        ids = tuple(sentences["sentence_id"][styles == rarer])
        message = f"{counts['straight']} sentences have straight, {counts['curly']} curly quotation marks."
        yield Finding("note", "quote_styles", message, ids=ids)


def _unlabelled(sentences: pd.DataFrame) -> Iterator[Finding]:
    ids = tuple(sentences["sentence_id"][sentences["expected"] == ""])
    if ids:
        message = f"{len(ids)} sentences have no expected status and enter no pair by themselves."
        yield Finding("note", "no_expected_status", message, ids=ids)


def _groups_differ(sentences: pd.DataFrame) -> Iterator[Finding]:
    """A paradigm can be under one phenomenon only, an item in one paradigm only."""
    for inner, outer in (("paradigm", "phenomenon"), ("item", "paradigm")):
        named = sentences[(sentences[inner] != "") & (sentences[outer] != "")]
        several = named.drop_duplicates([inner, outer])
        again = several[several[inner].duplicated()]
        for row in _records(again):
            message = f"{inner} {row[inner]!r} stands under a second {outer}, {row[outer]!r}."
            yield Finding("error", "two_groups", message, row["file"], row["row"], (row[inner],))


def _identical_members(pairs: pd.DataFrame) -> Iterator[Finding]:
    for row in _records(pairs[pairs["good"] == pairs["bad"]]):
        left = " (marked for discarding)" if row["discard"] else ""
        message = f"both members of pair {row['pair_id']} read {row['good']!r}{left}."
        yield Finding("warning", "identical_members", message, row["file"], row["row"], (row["pair_id"],))


def _same_id(pairs: pd.DataFrame) -> Iterator[Finding]:
    for row in _records(pairs[pairs["good_id"] == pairs["bad_id"]]):
        message = f"pair {row['pair_id']} has the sentence {row['good_id']} twice."
        yield Finding("error", "one_sentence_pair", message, row["file"], row["row"], (row["pair_id"],))


def _duplicate_pairs(pairs: pd.DataFrame) -> Iterator[Finding]:
    again = pairs[pairs.duplicated(["good", "bad"], keep=False)]
    for _, rows in again.groupby(["good", "bad"], sort=False):
        ids, second = tuple(rows["pair_id"]), rows.iloc[1]
        message = f"{len(ids)} pairs have the same two sentences: {', '.join(ids[:4])}."
        yield Finding("warning", "duplicate_pair", message, second["file"], second["row"], ids)


def _unpaired(sentences: pd.DataFrame, pairs: pd.DataFrame) -> Iterator[Finding]:
    """Sentences with a status that stand in no pair, where the set has pairs or could have them."""
    if pairs.empty:
        yield Finding("note", "no_pairs", "the set has no minimal pair: its sentences can only be rated.")
        return
    labelled = sentences[sentences["expected"] != ""]
    paired = set(pairs["good_id"]) | set(pairs["bad_id"])
    for row in _records(labelled[~labelled["sentence_id"].isin(paired)]):
        message = f"sentence {row['sentence_id']} is in no pair: its item has no counterpart."
        yield Finding("warning", "unpaired", message, row["file"], row["row"], (row["sentence_id"],))


def _markup(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Tags that are shown as typed, and a column ``markup`` that says what nobody understands."""
    for row in _records(sentences):
        word = said(row["attributes"])
        if word not in {"", INLINE}:
            message = f"column {COLUMN!r}: {word!r} is not understood; write {INLINE} or leave it empty."
            yield Finding("error", "markup_unknown", message, row["file"], row["row"], (row["sentence_id"],))
        elif not word and has_tags(row["text"]):
            message = f"tags are shown as typed; a column {COLUMN!r} with {INLINE!r} makes them markup."
            yield Finding("note", "tags_shown", message, row["file"], row["row"], (row["sentence_id"],))


_SENTENCE_CHECKS: tuple[Callable[[pd.DataFrame], Iterator[Finding]], ...] = (
    _too_long,
    _groups_differ,
    _duplicate_cells,
    _holes,
    _same_string,
    _stray,
    _quote_styles,
    _unlabelled,
    _markup,
)
_PAIR_CHECKS: tuple[Callable[[pd.DataFrame], Iterator[Finding]], ...] = (
    _pair_ids_too_long,
    _same_id,
    _identical_members,
    _duplicate_pairs,
)
