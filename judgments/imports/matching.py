"""Match judged rows with stored sentences and pairs: by id, else by item, else by text.

A row that names a stored sentence and has another text is refused: its answer is about what was shown.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.errors import BadInput
from analysis.text import plural
from experiments.materials.checks import normalize_text
from experiments.materials.findings import list_rows
from experiments.materials.markup import plain
from experiments.materials.schema import ACCEPTABLE, UNACCEPTABLE, expected_status
from experiments.models import MaterialSet
from judgments.imports.readers.base import JudgmentFile
from judgments.imports.readers.materials import OF_MATERIALS

_NAMED = 5
#: Column of a text in the file → column of the stored text in the match.
STORED = {"text": "stored_text", "good_text": "stored_good", "bad_text": "stored_bad"}


def match(read: JudgmentFile, materials: MaterialSet) -> JudgmentFile:
    """Add the ids of stored sentences and pairs to a file's judgments; refuse rows without a match."""
    judgments = read.judgments.copy()
    in_materials = judgments["kind"].isin(OF_MATERIALS)
    rows = judgments[in_materials]
    is_of_pairs = read.task == "forced_choice"
    matched = _match_pairs(rows, materials) if is_of_pairs else _match_sentences(rows, materials)
    _refuse_unmatched(rows[matched["item"].isna().to_numpy()], read, materials)
    _refuse_other_wordings(rows, matched, read, materials)
    for column in matched.columns.drop(list(STORED.values()), errors="ignore"):
        judgments[column] = judgments[column].astype(object)
        judgments.loc[in_materials, column] = matched[column].to_numpy(dtype=object)
    judgments["value"] = judgments["value"].astype("float64")
    return replace(read, judgments=judgments)


def _refuse_unmatched(rows: pd.DataFrame, read: JudgmentFile, materials: MaterialSet) -> None:
    if not len(rows):
        return
    names = [
        _name(row)
        for row in rows.drop_duplicates(["sentence_id", "pair_id", "item", "text", "good_text"]).itertuples()
    ]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    raise BadInput(
        f"{len(rows)} rows do not match the materials {materials.name!r}: {', '.join(names[:_NAMED])}{more}.",
        file=read.file,
        row=int(rows["row"].iloc[0]),
        remedy="Map sentence_id, item, pair_id or the texts to the columns that hold them.",
    )


def _refuse_other_wordings(
    rows: pd.DataFrame, matched: pd.DataFrame, read: JudgmentFile, materials: MaterialSet
) -> None:
    """Refuse rows with another text than the stored sentence; rows without a text are not compared."""
    texts = [(name, stored) for name, stored in STORED.items() if stored in matched.columns]
    differing = pd.concat([_differing(rows["row"], rows[name], matched[stored]) for name, stored in texts])
    if differing.empty:
        return
    distinct = differing.drop_duplicates(["text", "stored"]).sort_values("row", kind="stable")
    examples = [
        f"row {row}: {text!r} (stored: {stored!r})"
        for row, text, stored in distinct.head(_NAMED).itertuples(index=False)
    ]
    more = f" and {len(distinct) - _NAMED} more" if len(distinct) > _NAMED else ""
    unmapped = "good= --map bad=" if read.task == "forced_choice" else "sentence="
    raise BadInput(
        f"{plural(differing['row'].nunique(), 'row')} with another text than the sentence of the materials "
        f"{materials.name!r} that they name: {', '.join(examples)}{more}; they are in "
        f"{list_rows(differing['row'])}.",
        file=read.file,
        row=int(differing["row"].min()),
        remedy="Map what tells the sentences apart (item, condition, sentence_id), or import without these "
        f"materials. Where only the spelling differs, leave the text of the file out: --map {unmapped}.",
    )


def _differing(rows: pd.Series, texts: pd.Series, stored: pd.Series) -> pd.DataFrame:
    """Return the texts that differ from the stored ones, both without markup and in single spaces."""
    stored = stored.where(stored.notna(), "")
    wordings = {text: _wording(text) for text in {*texts.unique(), *stored.unique()}}
    is_other = (texts != "") & (stored != "") & (texts.map(wordings) != stored.map(wordings))
    return pd.DataFrame({"row": rows[is_other], "text": texts[is_other], "stored": stored[is_other]})


def _wording(text: str) -> str:
    unmarked = plain(text) if "<" in text or "&" in text else text
    return " ".join(normalize_text(unmarked).split())


def _name(row: Any) -> str:
    return repr(row.sentence_id or row.pair_id or row.item or row.text or row.good_text)


def _first_found(keys: list[pd.Series], tables: list[dict[str, str]]) -> pd.Series:
    """Look up every row in the tables in order; the first match counts."""
    values = pd.Series(pd.NA, index=keys[0].index, dtype=object)
    for key, table in zip(keys, tables, strict=True):
        values = values.where(values.notna(), key.map(table))
    return values


def _unambiguous(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Keep the keys with exactly one value."""
    table: dict[str, str | None] = {}
    for key, value in pairs:
        table[key] = None if key in table and table[key] != value else value
    return {key: value for key, value in table.items() if value is not None and key}


def _match_sentences(rows: pd.DataFrame, materials: MaterialSet) -> pd.DataFrame:
    stored = list(materials.sentences.values_list("key", "item__key", "condition", "text"))
    tables = [
        {key: key for key, _, _, _ in stored},
        _unambiguous((f"{item}\0{condition}", key) for key, item, condition, _ in stored),
        _unambiguous((item, key) for key, item, _, _ in stored),
        _unambiguous((normalize_text(text).strip(), key) for key, _, _, text in stored),
    ]
    keys = [rows["sentence_id"], rows["item"] + "\0" + rows["condition"], rows["item"], _texts(rows["text"])]
    sentence_ids = _first_found(keys, tables)
    item_of = {key: item for key, item, _, _ in stored}
    text_of = {key: text for key, _, _, text in stored}
    return pd.DataFrame(
        {
            "sentence_id": sentence_ids,
            "item": sentence_ids.map(item_of),
            STORED["text"]: sentence_ids.map(text_of),
        }
    )


def _texts(texts: pd.Series) -> pd.Series:
    return texts.map({text: normalize_text(text).strip() for text in texts.unique()})


def _match_pairs(rows: pd.DataFrame, materials: MaterialSet) -> pd.DataFrame:
    """Pair of each row; members without labels in the file take those of the materials."""
    stored = list(
        materials.pairs.values_list(
            "key", "good__item__key", "paradigm__name", "good__text", "bad__text", "good__key", "bad__key"
        )
    )
    texts_of = {
        key: (normalize_text(good).strip(), normalize_text(bad).strip())
        for key, _, _, good, bad, _, _ in stored
    }
    by_text = [
        (f"{paradigm or ''}\0{texts_of[key][0]}\0{texts_of[key][1]}", key) for key, _, paradigm, *_ in stored
    ]
    tables = [
        {key: key for key, *_ in stored},
        _unambiguous((item, key) for key, item, *_ in stored),
        _unambiguous(by_text),
        _unambiguous((name.partition("\0")[2], key) for name, key in by_text),
    ]
    text = _texts(rows["good_text"]) + "\0" + _texts(rows["bad_text"])
    empty = text == "\0"
    keys = [
        rows["pair_id"],
        rows["item"],
        (rows["paradigm"] + "\0" + text).where(~empty, ""),
        text.where(~empty, ""),
    ]
    pair_ids = _first_found(keys, tables)
    swapped = _texts(rows["bad_text"]) + "\0" + _texts(rows["good_text"])
    swapped = swapped.where(~empty & ~rows["labelled"].astype(bool), "")
    pair_ids = pair_ids.where(pair_ids.notna(), swapped.map(tables[3]))
    stored_texts = pair_ids.map({key: "\0".join(members) for key, members in texts_of.items()})
    flipped = (swapped == stored_texts) & (text != stored_texts)
    return _as_matched(rows, pair_ids, flipped, {key: fields for key, *fields in stored})


def _as_matched(
    rows: pd.DataFrame, pair_ids: pd.Series, flipped: pd.Series, stored: dict[str, list[Any]]
) -> pd.DataFrame:
    first = rows["expected_first"].astype(object)
    turned = first.map({True: False, False: True})
    good, bad = (pair_ids.map({key: fields[place] for key, fields in stored.items()}) for place in (2, 3))
    return pd.DataFrame(
        {
            STORED["good_text"]: good.where(~flipped, bad),
            STORED["bad_text"]: bad.where(~flipped, good),
            "pair_id": pair_ids,
            "item": pair_ids.map({key: fields[0] for key, fields in stored.items()}),
            "good_id": pair_ids.map({key: fields[4] for key, fields in stored.items()}),
            "bad_id": pair_ids.map({key: fields[5] for key, fields in stored.items()}),
            "value": rows["value"].where(~flipped, 1 - rows["value"]),
            "expected_first": first.where(~flipped, turned),
        }
    )


def warn_of_inversion(read: JudgmentFile, materials: MaterialSet | None) -> JudgmentFile:
    """Warn where sentences expected to be acceptable are judged lower than the others."""
    is_answer = read.judgments["kind"].isin(OF_MATERIALS) & read.judgments["value"].notna()
    rows = read.judgments.loc[is_answer, ["value", "pair_id", "sentence_id", "expected"]]
    if read.task == "forced_choice":
        share = rows["value"].groupby(rows["pair_id"]).mean().mean()
        if not share < 0.5:
            return read
        finding = f"the expected member was chosen in {share:.0%} of the choices"
        remedy = "If the answers were taken the wrong way round: --labels, as 0=bad 1=good."
    else:
        expected = rows["expected"]
        if materials is not None:
            stored = dict(materials.sentences.values_list("key", "expected"))
            expected = rows["sentence_id"].map(stored).fillna("")
        source = ""
        if (
            not (expected != "").any()
            and (named := _statuses_by_name(read.judgments.loc[is_answer])) is not None
        ):
            expected, source = named, ", by the names of the conditions"
        means = rows["value"].groupby([expected, rows["sentence_id"]]).mean().groupby(level=0).mean()
        if not {ACCEPTABLE, UNACCEPTABLE} <= set(means.index) or means[ACCEPTABLE] >= means[UNACCEPTABLE]:
            return read
        finding = (
            "sentences expected to be acceptable are judged lower than the others "
            f"({means[ACCEPTABLE]:.2f} and {means[UNACCEPTABLE]:.2f} on average{source})"
        )
        low, high = read.scale
        ends = (1.0, 0.0) if read.task == "yes_no" else (high, low)
        reverse = "" if None in ends else f": --scale-low {ends[0]:g} --scale-high {ends[1]:g}"
        remedy = f"If a low answer is the best one, reverse the scale{reverse}. Check the expected statuses."
        if read.task == "best_worst":
            remedy = "If best and worst are exchanged: --map best=… worst=…. Check the expected statuses."
    return replace(read, warnings=(*read.warnings, f"{finding}. {remedy}"))


def _statuses_by_name(rows: pd.DataFrame) -> pd.Series | None:
    """Return the expected status that the name of each row's condition is; None unless all are such."""
    statuses = {name: expected_status(name) for name in rows["condition"].unique()}
    return rows["condition"].map(statuses) if statuses and all(statuses.values()) else None
