"""Materials of the demo: generated pairs and an island design, through files and the import like anyone's."""

from pathlib import Path

from django.conf import settings

from analysis.gold.writers import jsonl_bytes
from experiments.generation import PARADIGMS, minimal_pairs, whether_island_design
from experiments.intake import About, store_materials
from experiments.materials.detect import read_materials
from experiments.models import MaterialSet

PAIRS_NAME, ISLANDS_NAME = "Demo minimal pairs", "Demo whether-islands"
PAIRS_PER_PARADIGM, ISLANDS, SEED = 8, 16, 2026
ABOUT = {"source": "Generated from templates and a lexicon of our own.", "licence": "GPL-3.0-or-later"}


def folder() -> Path:
    """Where the demo's files lie, for trying imports and scorers by hand."""
    path: Path = settings.VAR / "demo"
    path.mkdir(parents=True, exist_ok=True)
    return path


def pair_materials(owner) -> MaterialSet:
    """Six paradigms of five phenomena, eight pairs each, in BLiMP's form."""
    paths = []
    for uid in PARADIGMS:
        rows = minimal_pairs(uid, PAIRS_PER_PARADIGM, seed=SEED).to_dict("records")
        paths.append(_kept(f"{uid}.jsonl", jsonl_bytes(rows)))
    about = About(PAIRS_NAME, **ABOUT)
    return store_materials(read_materials(paths, format="blimp"), about, owner=owner).material_set


def island_materials(owner) -> MaterialSet:
    """A 2 × 2 design: structure × length."""
    table = whether_island_design(ISLANDS, seed=SEED).to_csv(index=False, lineterminator="\n")
    path = _kept("whether_islands.csv", table.encode())
    about = About(ISLANDS_NAME, **ABOUT)
    return store_materials(read_materials([path], format="table"), about, owner=owner).material_set


def _kept(name: str, content: bytes) -> Path:
    path = folder() / name
    path.write_bytes(content)
    return path
