"""Identity of items: numbers that several files use, rows repeated for each list, and blank cells."""

from collections.abc import Collection, Iterable, Sequence

import pandas as pd

from analysis.text import plural
from experiments.materials.findings import Finding
from experiments.materials.schema import simple_name

LIST_COLUMNS = frozenset(
    {"list", "lists", "list_id", "list_no", "list_number", "group", "latin_square_group", "version", "form"}
)
"""Names of columns that say for which list a row is; a row may be repeated for each."""
_MANY = 0.5  # share of shared items that have several sentences in one file


def repeats_of_lists(
    frame: pd.DataFrame, *, fillers: Sequence[bool], stimulus: Sequence[str], showing: Sequence[str]
) -> "pd.Series[bool]":
    """Mark rows that show a stimulus again for another list.

    Parameters
    ----------
    frame : DataFrame
        Cells of a table.
    fillers : sequence of bool
        One for each row.
    stimulus : sequence of str
        Columns with the text, the item and the condition: a filler that agrees in these is the same.
    showing : sequence of str
        Columns that any other row has to agree in as well; without a column of lists none is repeated.
    """
    is_filler = pd.Series(list(fillers), index=frame.index, dtype=bool)
    cells = frame.astype(str)
    is_again = is_filler & cells.assign(filler=is_filler).duplicated([*stimulus, "filler"])
    if any(simple_name(str(name)) in LIST_COLUMNS for name in frame.columns):
        is_again |= ~is_filler & cells.assign(filler=is_filler).duplicated([*showing, "filler"])
    return is_again


def repeats_note(n_rows: int, *, file: str, row: int) -> Finding:
    """The note that rows were read once although they are repeated."""
    verb = "repeats" if n_rows == 1 else "repeat"
    message = (
        f"{plural(n_rows, 'row')} {verb} the sentence, item and condition of an earlier row, "
        "as tables do that name a stimulus for each list: each is read once."
    )
    return Finding("note", "repeated_rows", message, file=file, row=row)


def blank_items(
    rows: Iterable[int], items: Sequence[str], fillers: Sequence[bool], *, file: str
) -> list[Finding]:
    """Warn of targets without an item in a column that names items elsewhere."""
    cells = zip(rows, items, fillers, strict=True)
    blank = [int(row) for row, item, filler in cells if not (item.strip() or filler)]
    if not blank or len(blank) == len(items):
        return []
    message = "the item is blank here, so the sentence is an item of its own and has no counterpart."
    return [Finding("warning", "blank_item", message, file=file, row=row) for row in blank]


def distinguish_ids(sentences: pd.DataFrame, files: Collection[str]) -> pd.DataFrame:
    """Name sentences of these files by their file where the ids made for them are the same."""
    is_same = sentences["sentence_id"].duplicated(keep=False) & sentences["file"].isin(files)
    by_file = sentences["file"].map(_short_names(sentences["file"])) + ":" + sentences["sentence_id"]
    return sentences.assign(sentence_id=by_file.where(is_same, sentences["sentence_id"]))


def with_item_keys(sentences: pd.DataFrame) -> tuple[pd.DataFrame, list[Finding]]:
    """Make items unique in the set, with a finding where files share numbers of items.

    Notes
    -----
    A sentence without an item is an item of its own. Fillers that are numbered from 1 like the targets are
    other items than these. Items numbered per paradigm are named by paradigm and item, items numbered per
    file by file and item, unless each file has one condition of every item.
    """
    items = sentences["item"].where(sentences["item"] != "", sentences["sentence_id"])
    fillers = sentences["is_filler"].astype(bool)
    is_shared = fillers & items.isin(set(items[~fillers]))
    items = items.where(~is_shared, "filler:" + items)
    sentences, findings = _apart_by_file(sentences.assign(item=items))
    several = sentences.groupby("item")["paradigm"].nunique() > 1
    if several.any():
        qualified = sentences["paradigm"] + ":" + sentences["item"]
        sentences = sentences.assign(item=qualified.where(sentences["paradigm"] != "", sentences["item"]))
    return sentences, findings


def _apart_by_file(sentences: pd.DataFrame) -> tuple[pd.DataFrame, list[Finding]]:
    """Name items by their file where several files number theirs alike."""
    keys = sentences["paradigm"] + "\0" + sentences["item"]
    if (
        sentences["file"].nunique() < 2
        or not (n_files := sentences.groupby(keys)["file"].nunique()).gt(1).any()
    ):
        return sentences, []
    is_shared = keys.map(n_files) > 1
    shared = sentences[is_shared]
    names, files = list(dict.fromkeys(shared["item"])), list(dict.fromkeys(shared["file"]))
    examples = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
    alike = f"{plural(len(names), 'item')} ({examples}) have the same name in {' and '.join(files[:4])}"
    place = {"file": files[0], "row": int(shared["row"].iloc[0])}
    if _are_conditions(shared):
        message = (
            f"{alike}, with one condition in each file, and are taken as the same items. "
            "Name them differently in each file if they are not."
        )
        return sentences, [Finding("warning", "items_joined", message, **place)]
    by_file = sentences["file"].map(_short_names(sentences["file"])) + ":" + sentences["item"]
    message = f"{alike}; they are kept apart and named by their file, such as {by_file[is_shared].iloc[0]}."
    apart = sentences.assign(item=by_file.where(is_shared, sentences["item"]))
    return apart, [Finding("note", "items_by_file", message, **place)]


def _are_conditions(shared: pd.DataFrame) -> bool:
    """Whether each file has one sentence of every item, in a condition that no other file has."""
    n_sentences = shared.groupby(["item", "file"]).size()
    if (n_sentences > 1).groupby("file").mean().max() >= _MANY or (shared["condition"] == "").any():
        return False
    return not shared.drop_duplicates(["item", "condition", "text"]).duplicated(["item", "condition"]).any()


def _short_names(files: "pd.Series[str]") -> dict[str, str]:
    """Names of files without endings, as long as these are different."""
    names = {file: file.split(".")[0] for file in dict.fromkeys(files)}
    return names if len(set(names.values())) == len(names) else {file: file for file in names}
