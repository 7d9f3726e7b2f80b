"""Items that a check names, and materials without them.

Whole items are left out: an item without one of its conditions could not be balanced over lists.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from analysis.errors import BadInput, UnknownName
from analysis.text import plural
from experiments.materials.checks import findings
from experiments.materials.collection import Materials
from experiments.materials.findings import LEFT_OUT_FOR, Finding

KEEPS_FIRST = {"duplicate_pair"}  # of the items concerned, the first stays
OF_PAIRS, OF_ITEMS = {"identical_members", "duplicate_pair"}, {"hole"}  # what the ids of findings name


def concerned_items(materials: Materials) -> dict[str, list[str]]:
    """Return the items that each check names, in the order of its findings.

    A check that names every item, or all that have several conditions, names the experiment itself and is
    left out: then the columns are to be corrected.
    """
    item_of_sentence = dict(zip(materials.sentences["sentence_id"], materials.sentences["item"], strict=True))
    pairs = zip(materials.pairs["pair_id"], materials.pairs["good_id"], strict=True)
    item_of_pair = {pair: item_of_sentence[good] for pair, good in pairs}
    items: dict[str, dict[str, None]] = {}
    for finding in findings(materials):
        if finding.code in LEFT_OUT_FOR:
            ids = finding.ids[1:] if finding.code in KEEPS_FIRST else finding.ids
            if finding.code in OF_PAIRS:
                ids = tuple(item_of_pair[pair] for pair in ids)
            elif finding.code not in OF_ITEMS:
                ids = tuple(item_of_sentence[sentence] for sentence in ids)
            items.setdefault(finding.code, {}).update(dict.fromkeys(ids))
    targets = materials.sentences[~materials.sentences["is_filler"].astype(bool)]
    n_conditions = targets.groupby("item")["condition"].nunique()
    several = n_conditions.index[n_conditions > 1]
    experiment = set(several if len(several) > 1 else n_conditions.index)
    return {code: list(names) for code, names in items.items() if not experiment <= set(names)}


def leave_out(materials: Materials, codes: Iterable[str]) -> Materials:
    """Return the materials without the items that these checks name, with a note about each check.

    The checks see the materials one after another, so an item is counted for the first of them.
    """
    for code in dict.fromkeys(codes):
        if code not in LEFT_OUT_FOR:
            raise UnknownName("check", code, list(LEFT_OUT_FOR))
        items = concerned_items(materials).get(code)
        if not items and any(finding.code == code for finding in findings(materials)):
            raise BadInput(
                f"the check {code} names all items of the experiment.",
                remedy="Correct the file, or map its columns differently.",
            )
        if items:
            materials = _without(materials, items, _note(code, items))
    return materials


def _note(code: str, items: Sequence[str]) -> Finding:
    message = f"{plural(len(items), 'item')} left out, because {LEFT_OUT_FOR[code]}: {', '.join(items)}."
    return Finding("note", "left_out", message, ids=tuple(items))


def _without(materials: Materials, items: Sequence[str], note: Finding) -> Materials:
    is_left_out = materials.sentences["item"].isin(items)
    sentence_ids = materials.sentences.loc[is_left_out, "sentence_id"]
    pairs = materials.pairs
    is_pair_left_out = pairs["good_id"].isin(sentence_ids) | pairs["bad_id"].isin(sentence_ids)
    return replace(
        materials,
        sentences=materials.sentences[~is_left_out].reset_index(drop=True),
        pairs=pairs[~is_pair_left_out].reset_index(drop=True),
        findings=(*materials.findings, note),
    )
