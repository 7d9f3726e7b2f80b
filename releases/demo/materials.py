"""Materials of the demo: generated pairs and an island design, imported from files like other materials."""

from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User

from analysis.gold.writers import jsonl_bytes
from experiments.generation import PARADIGMS, minimal_pairs, whether_island_design
from experiments.intake.store import MaterialSetInfo, store_materials
from experiments.materials.collection import Materials
from experiments.materials.readers.detect import read_materials
from experiments.models import MaterialSet

PAIRS_NAME, ISLANDS_NAME = "Demo minimal pairs", "Demo whether-islands"
PAIRS_PER_PARADIGM, ISLANDS, SEED = 8, 16, 2026
ABOUT = {"source": "Generated from templates and a lexicon of our own.", "licence": "GPL-3.0-or-later"}


def folder() -> Path:
    """Folder of the demo's files, also for trying imports and scorers manually."""
    path: Path = settings.VAR / "demo"
    path.mkdir(parents=True, exist_ok=True)
    return path


def pair_materials(owner: User) -> MaterialSet:
    """Six paradigms of five phenomena, eight pairs each, in BLiMP's form."""
    paths = []
    for uid in PARADIGMS:
        pairs = minimal_pairs(uid, PAIRS_PER_PARADIGM, seed=SEED)
        rows = [{str(name): value for name, value in row.items()} for row in pairs.to_dict("records")]
        paths.append(_write_file(f"{uid}.jsonl", jsonl_bytes(rows)))
    return _store_materials(PAIRS_NAME, read_materials(paths, format="blimp"), owner)


def island_materials(owner: User) -> MaterialSet:
    """A 2 × 2 design: structure × length."""
    table = whether_island_design(ISLANDS, seed=SEED).to_csv(index=False, lineterminator="\n")
    path = _write_file("whether_islands.csv", table.encode())
    return _store_materials(ISLANDS_NAME, read_materials([path], format="table"), owner)


def _store_materials(name: str, materials: Materials, owner: User) -> MaterialSet:
    """Return the demo's materials; those of an earlier version stay, because its studies refer to them."""
    earlier = MaterialSet.objects.filter(name=name, owner=owner).first()
    return earlier or store_materials(materials, MaterialSetInfo(name, **ABOUT), owner=owner).material_set


def _write_file(name: str, content: bytes) -> Path:
    path = folder() / name
    path.write_bytes(content)
    return path
