"""What the checks say of a stored material set."""

from experiments.materials.collection import Materials, pair_frame, sentence_frame
from experiments.materials.leaving_out import concerned_items
from experiments.models import MaterialSet


def items_concerned(material_set: MaterialSet) -> dict[str, list[str]]:
    """Return the items of a stored set that each check names; its stored report lists only the first."""
    return concerned_items(stored_materials(material_set))


def stored_materials(material_set: MaterialSet) -> Materials:
    """Return a stored set as the frames that checks read."""
    sentence_names = (
        "key",
        "item__key",
        "condition",
        "item__paradigm__name",
        "text",
        "expected",
        "attributes",
    )
    sentences = list(material_set.sentences.order_by("pk").values_list(*sentence_names))
    pair_names = ("key", "good__key", "bad__key", "paradigm__name")
    pairs = list(material_set.pairs.filter(discard=False).order_by("pk").values_list(*pair_names))
    return Materials(
        material_set.file_format or "table",
        sentence_frame(
            sentence_id=[row[0] for row in sentences],
            item=[row[1] for row in sentences],
            condition=[row[2] for row in sentences],
            paradigm=[row[3] or "" for row in sentences],
            text=[row[4] for row in sentences],
            expected=[row[5] for row in sentences],
            attributes=[row[6] for row in sentences],
        ),
        pair_frame(
            pair_id=[row[0] for row in pairs],
            good_id=[row[1] for row in pairs],
            bad_id=[row[2] for row in pairs],
            paradigm=[row[3] or "" for row in pairs],
        ),
    )
