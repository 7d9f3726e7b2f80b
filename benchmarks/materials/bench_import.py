"""Import of 67 × 1,000 minimal pairs: seconds, peak memory, and the ratio to bare inserts of the same rows.

Run ``python benchmarks/materials/bench_import.py``; ``DATABASE_URL`` chooses the database, in which a
test database is made and dropped. The bound is ``executemany`` of the very rows that the import stored, into
the same tables with their indexes and constraints, in the same run.
"""

import json
import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django  # noqa: E402

django.setup()

from django.db import connection, transaction  # noqa: E402

from experiments.intake.store import MaterialSetInfo, store_materials  # noqa: E402
from experiments.materials.checks import check  # noqa: E402
from experiments.materials.readers.detect import read_materials  # noqa: E402
from experiments.models import Item, MaterialSet, MinimalPair, Paradigm, Phenomenon, Sentence  # noqa: E402

PARADIGMS, PAIRS = 67, 1_000
WORDS = (
    "some",
    "of",
    "the",
    "many",
    "guests",
    "who",
    "had",
    "not",
    "seen",
    "by",
    "Anna's",
    "ever",
    "praise",
    "today",
)


def write_pairs(path: Path) -> None:
    """Write a BLiMP-style file with all ten fields of each pair."""
    rng = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for paradigm in range(PARADIGMS):
            for number in range(PAIRS):
                words = rng.choices(WORDS, k=9)
                good = " ".join(words).capitalize() + f" {number}."
                pair = {
                    "sentence_good": good,
                    "sentence_bad": " ".join(reversed(words)).capitalize() + f" {number}.",
                    "field": "syntax",
                    "linguistics_term": f"phenomenon_{paradigm % 12}",
                    "UID": f"paradigm_{paradigm}",
                    "simple_LM_method": True,
                    "one_prefix_method": False,
                    "two_prefix_method": False,
                    "lexically_identical": True,
                    "pairID": str(number),
                }
                file.write(json.dumps(pair) + "\n")


def timed_import(path: Path) -> dict[str, float]:
    """Seconds of each step of the import."""
    marks = [time.perf_counter()]
    materials = read_materials([path])
    marks.append(time.perf_counter())
    report = check(materials)
    marks.append(time.perf_counter())
    stored = store_materials(materials, MaterialSetInfo("benchmark"), report=report)
    marks.append(time.perf_counter())
    assert stored.created and stored.counts["pairs"] == PARADIGMS * PAIRS
    steps = dict(
        zip(("read", "check", "store"), (b - a for a, b in zip(marks, marks[1:], strict=False)), strict=True)
    )
    return {**steps, "total": marks[-1] - marks[0]}


def timed_bare_inserts() -> float:
    """Seconds that the driver alone needs for the same rows."""
    taken = []
    with connection.cursor() as cursor:
        for model in (MaterialSet, Phenomenon, Paradigm, Item, Sentence, MinimalPair):
            cursor.execute(f"SELECT * FROM {model._meta.db_table}")
            taken.append(
                (model._meta.db_table, [column[0] for column in cursor.description], cursor.fetchall())
            )
    MaterialSet.objects.all().delete()
    connection.ensure_connection()
    start = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        for table, columns, rows in taken:
            names, holes = ", ".join(f'"{name}"' for name in columns), ", ".join(["%s"] * len(columns))
            cursor.executemany(
                f"INSERT INTO {table} ({names}) VALUES ({holes})", [adapted(row) for row in rows]
            )
    return time.perf_counter() - start


def adapted(row: tuple) -> tuple:
    """JSON comes from PostgreSQL as values and goes back as text."""
    return tuple(json.dumps(value) if isinstance(value, dict | list) else value for value in row)


def main() -> None:
    """Measure and print one JSON document."""
    with tempfile.TemporaryDirectory() as folder:
        connection.settings_dict["TEST"]["NAME"] = (
            str(Path(folder) / "bench.sqlite3") if connection.vendor == "sqlite" else "bench_import"
        )
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            path = Path(folder) / "pairs.jsonl"
            write_pairs(path)
            steps = timed_import(path)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            bare = timed_bare_inserts()
        finally:
            connection.creation.destroy_test_db(connection.settings_dict["TEST"]["NAME"], verbosity=0)
    figures = {f"{name}_s": round(seconds, 2) for name, seconds in steps.items()}
    figures |= {"bare_inserts_s": round(bare, 2), "ratio_to_bare": round(steps["total"] / bare, 2)}
    print(json.dumps({"database": connection.vendor, **figures, "peak_mb": round(peak), "must_be_s": 20}))


if __name__ == "__main__":
    main()
