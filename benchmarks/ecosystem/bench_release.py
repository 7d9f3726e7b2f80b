"""A release of 67 × 1,000 minimal pairs: seconds to build, write and validate it, and peak memory.

Run ``python benchmarks/ecosystem/bench_release.py``; ``DATABASE_URL`` chooses the database, in which a
test database is made and dropped. Each pair has three choices. frictionless validates every row where it is
installed (``make install-validators``). Ends with 1 above 60 CPU seconds in all, which are the seconds on a
core without other work.
"""

import json
import os
import resource
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django  # noqa: E402

django.setup()

from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks.materials.bench_import import PAIRS, PARADIGMS, write_pairs  # noqa: E402
from experiments.intake.store import MaterialSetInfo, store_materials  # noqa: E402
from experiments.materials.readers.detect import read_materials  # noqa: E402
from experiments.models import Experiment, MaterialSet  # noqa: E402
from judgments.models import Judgment, Session, Trial  # noqa: E402
from releases.gold.build import build_release  # noqa: E402
from releases.gold.options import Options  # noqa: E402
from releases.gold.storage import write_folder  # noqa: E402
from tests import cast  # noqa: E402

CHOICES, BOUND_S = 3, 60


def judged(materials: MaterialSet) -> Experiment:
    """A study of forced choice in which every pair has three choices, 1,000 from each participant."""
    study = cast.study("benchmark", materials=materials)
    pairs = list(materials.pairs.select_related("good__item").order_by("pk"))
    for choice in range(CHOICES):
        for start in range(0, len(pairs), PAIRS):
            person = cast.participant(study, f"p{choice}-{start}")
            session = Session.objects.create(
                experiment=study,
                version=study.current_version(),
                participant=person,
                status=Session.Status.COMPLETE,
                list=study.lists.first(),
                completed_at=timezone.now(),
            )
            shown = pairs[start : start + PAIRS]
            trials = Trial.objects.bulk_create(
                Trial(session=session, position=place, item=pair.good.item, pair=pair, expected_first=True)
                for place, pair in enumerate(shown, start=1)
            )
            Judgment.objects.bulk_create(
                Judgment(
                    trial=trial,
                    response="1",
                    value=float(place % 10 > 0),
                    chosen_id=pair.good_id if place % 10 else pair.bad_id,
                    rt_ms=900,
                    received_at=timezone.now(),
                )
                for place, (trial, pair) in enumerate(zip(trials, shown, strict=True))
            )
    return study


def timed_release(study: Experiment, folder: Path) -> dict[str, float]:
    """Seconds of each step."""
    marks = [time.perf_counter()]
    built = build_release(study, Options(rule="blimp"))
    marks.append(time.perf_counter())
    write_folder(folder, built.files)
    marks.append(time.perf_counter())
    if find_spec("frictionless"):
        import frictionless

        report = frictionless.validate(str(folder / "datapackage.json"))
        assert report.valid, report.flatten(["rowNumber", "fieldName", "note"])[:3]
        marks.append(time.perf_counter())
    steps = ("build", "write", "validate")
    seconds = dict(zip(steps, (b - a for a, b in zip(marks, marks[1:], strict=False)), strict=False))
    return {**seconds, "total": marks[-1] - marks[0]}


def main() -> int:
    """Measure and print one JSON document; 1 above the bound."""
    with tempfile.TemporaryDirectory() as folder:
        connection.settings_dict["TEST"]["NAME"] = (
            str(Path(folder) / "bench.sqlite3") if connection.vendor == "sqlite" else "bench_release"
        )
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            path = Path(folder) / "pairs.jsonl"
            write_pairs(path)
            stored = store_materials(read_materials([path]), MaterialSetInfo("benchmark"))
            study = judged(stored.material_set)
            cpu = time.process_time()
            steps = timed_release(study, Path(folder) / "gold")
            cpu = time.process_time() - cpu
        finally:
            connection.creation.destroy_test_db(connection.settings_dict["TEST"]["NAME"], verbosity=0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {f"{name}_s": round(seconds, 1) for name, seconds in steps.items()}
    figures |= {
        "pairs": PARADIGMS * PAIRS,
        "cpu_s": round(cpu, 1),
        "peak_mb": round(peak),
        "must_be_cpu_s": BOUND_S,
    }
    print(json.dumps({"database": connection.vendor, **figures}))
    return int(cpu > BOUND_S)


if __name__ == "__main__":
    sys.exit(main())
