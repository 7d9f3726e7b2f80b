"""Agreement of direct probabilities with prompts among the scoring runs of a study."""

from collections import defaultdict
from typing import Any

from analysis.scoring.judgment_prompts import PROMPT_METHODS
from analysis.scoring.method_agreement import method_agreement
from experiments.models import Experiment, MinimalPair
from releases.material_frames import score_table
from releases.models import ScoringRun


def prompted_models(study: Experiment) -> list[dict[str, Any]]:
    """Return the prompted models of a study, each prompt of theirs beside each direct measure.

    Runs belong to one model if its name and revision are equal; their options may differ. Pairs that the
    materials mark as not to be used are left out.
    """
    by_model: dict[tuple[str, str], list[ScoringRun]] = defaultdict(list)
    for run in ScoringRun.objects.of_study(study).done().order_by("pk"):
        by_model[run.model.partition("?")[0], run.revision].append(run)
    prompted = {
        key: runs for key, runs in by_model.items() if any(run.method in PROMPT_METHODS for run in runs)
    }
    pairs = MinimalPair.objects.filter(material_set=study.materials_id, discard=False)
    members = list(pairs.values_list("good__key", "bad__key")) if prompted else []
    return [
        {"model": model, "revision": revision, "rows": _agreements(runs, members)}
        for (model, revision), runs in prompted.items()
    ]


def _agreements(runs: list[ScoringRun], pairs: list[tuple[str, str]]) -> list[dict[str, Any]]:
    by_column = {f"{run.pk}:{run.method}": run for run in runs}
    scores = score_table(runs).set_axis(["sentence_id", *by_column], axis=1)
    rows = []
    for report in method_agreement(scores, pairs):
        n = report["pairs"]
        shares = {
            f"{name}_share": (report["both"] + report[f"{name}_only"]) / n if n else None
            for name in ("direct", "prompt")
        }
        runs_of_row = {name: by_column[report[name]] for name in ("direct", "prompt")}
        rows.append(report | shares | runs_of_row)
    return rows
