"""A factorial table for tests: 2×2 item sets and fillers, as a linguist writes it, and a study of it."""

import csv
import io
from pathlib import Path

from experiments.intake.store import MaterialSetInfo, store_materials
from experiments.materials.readers.detect import read_materials
from experiments.models import Design, Experiment, MaterialSet
from tests import cast

HEADER = ("item_set", "structure", "distance", "text", "is_filler", "expected_status")
LEVELS = {"structure": ["non-island", "island"], "distance": ["short", "long"]}
MAPPING = {"condition": "structure+distance", "filler": "is_filler"}
TEXTS = {
    ("non-island", "short"): "Who thinks that chef {n} burned the sauce?",
    ("non-island", "long"): "What does waiter {n} think that the chef burned?",
    ("island", "short"): "Who wonders whether chef {n} burned the sauce?",
    ("island", "long"): "What does waiter {n} wonder whether the chef burned?",
}


def table(*, n_items: int = 4, n_fillers: int = 6) -> str:
    """The table as CSV; fillers are numbered from 1 like the item sets and have no levels."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADER)
    for n in range(1, n_items + 1):
        for (structure, distance), sentence in TEXTS.items():
            status = "*" if (structure, distance) == ("island", "long") else "ok"
            writer.writerow([n, structure, distance, sentence.format(n=n), "FALSE", status])
    for n in range(1, n_fillers + 1):
        status = "ok" if n % 2 else "*"
        writer.writerow([n, "", "", f"The neighbour has sold bicycle {n}.", "TRUE", status])
    return text.getvalue()


def stored(folder: Path, *, n_items: int = 4, n_fillers: int = 6) -> MaterialSet:
    """The table as a material set of Ada's."""
    path = folder / "islands.csv"
    path.write_text(table(n_items=n_items, n_fillers=n_fillers), encoding="utf-8")
    materials = read_materials([path], mapping=MAPPING)
    return store_materials(materials, MaterialSetInfo("Islands"), owner=cast.ada()).material_set


def study(folder: Path, *, n_items: int = 4, n_fillers: int = 6) -> Experiment:
    """A Likert study in draft of the table, in a Latin square of four lists."""
    experiment = cast.draft(
        "islands", materials=stored(folder, n_items=n_items, n_fillers=n_fillers), task="likert"
    )
    Design.objects.create(experiment=experiment, kind=Design.Kind.LATIN_SQUARE, n_lists=4)
    return experiment
