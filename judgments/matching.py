"""Which stored sentence or pair does a judged row mean? By its ids first, then by its item, its text last."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from analysis.errors import BadInput
from experiments.materials.characters import compared
from experiments.models import MaterialSet
from judgments.sources.base import JudgmentFile
from judgments.sources.materials import OF_MATERIALS

_NAMED = 5


def match(read: JudgmentFile, materials: MaterialSet) -> JudgmentFile:
    """Name the stored sentences and pairs in a file's judgments; rows that mean none are refused by name."""
    judgments = read.judgments.copy()
    shown = judgments["kind"].isin(OF_MATERIALS)
    rows = judgments[shown]
    matched = (
        _match_pairs(rows, materials) if read.task == "forced_choice" else _match_sentences(rows, materials)
    )
    _refuse_unmatched(rows[matched["item"].isna().to_numpy()], read, materials)
    for column in matched.columns:
        judgments[column] = judgments[column].astype(object)
        judgments.loc[shown, column] = matched[column].to_numpy(dtype=object)
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


def _name(row) -> str:
    return repr(row.sentence_id or row.pair_id or row.item or row.text or row.good_text)


def _first_found(keys: list[pd.Series], tables: list[dict]) -> pd.Series:
    """Look every row up in the tables in turn; the first that knows it decides."""
    found = pd.Series(pd.NA, index=keys[0].index, dtype=object)
    for key, table in zip(keys, tables, strict=True):
        found = found.where(found.notna(), key.map(table))
    return found


def _unambiguous(pairs: Iterable[tuple]) -> dict:
    """Keep the keys that lead to one value only."""
    table: dict = {}
    for key, value in pairs:
        table[key] = None if key in table and table[key] != value else value
    return {key: value for key, value in table.items() if value is not None and key}


def _match_sentences(rows: pd.DataFrame, materials: MaterialSet) -> pd.DataFrame:
    stored = list(materials.sentences.values_list("key", "item__key", "condition", "text"))
    tables = [
        {key: key for key, _, _, _ in stored},
        _unambiguous((f"{item}\0{condition}", key) for key, item, condition, _ in stored),
        _unambiguous((item, key) for key, item, _, _ in stored),
        _unambiguous((compared(text).strip(), key) for key, _, _, text in stored),
    ]
    keys = [rows["sentence_id"], rows["item"] + "\0" + rows["condition"], rows["item"], _texts(rows["text"])]
    found = _first_found(keys, tables)
    item_of = {key: item for key, item, _, _ in stored}
    return pd.DataFrame({"sentence_id": found, "item": found.map(item_of)})


def _texts(texts: pd.Series) -> pd.Series:
    return texts.map({text: compared(text).strip() for text in texts.unique()})


def _match_pairs(rows: pd.DataFrame, materials: MaterialSet) -> pd.DataFrame:
    """Find each row's pair; where the file does not label its members, the materials do."""
    stored = list(
        materials.pairs.values_list(
            "key", "good__item__key", "paradigm__name", "good__text", "bad__text", "good__key", "bad__key"
        )
    )
    both = {key: (compared(good).strip(), compared(bad).strip()) for key, _, _, good, bad, _, _ in stored}
    by_text = [(f"{paradigm or ''}\0{both[key][0]}\0{both[key][1]}", key) for key, _, paradigm, *_ in stored]
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
    found = _first_found(keys, tables)
    turned = _texts(rows["bad_text"]) + "\0" + _texts(rows["good_text"])
    other_way = turned.where(~empty & ~rows["labelled"].astype(bool), "").map(tables[3])
    flipped = found.isna() & other_way.notna()
    found = found.where(~flipped, other_way)
    return _as_matched(rows, found, flipped, {key: rest for key, *rest in stored})


def _as_matched(
    rows: pd.DataFrame, found: pd.Series, flipped: pd.Series, stored: dict[str, list]
) -> pd.DataFrame:
    first = rows["expected_first"].astype(object)
    turned = first.map({True: False, False: True})
    return pd.DataFrame(
        {
            "pair_id": found,
            "item": found.map({key: rest[0] for key, rest in stored.items()}),
            "good_id": found.map({key: rest[4] for key, rest in stored.items()}),
            "bad_id": found.map({key: rest[5] for key, rest in stored.items()}),
            "value": rows["value"].where(~flipped, 1 - rows["value"]),
            "expected_first": first.where(~flipped, turned),
        }
    )
