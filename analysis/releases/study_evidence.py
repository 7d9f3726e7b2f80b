"""What a study's figures are drawn from: its judgments under a plan, and its newest comparison."""

from dataclasses import replace
from typing import Any

import pandas as pd

import analysis  # figures through the package, which loads Altair when the first one is drawn
from analysis.releases import reading
from analysis.releases.comparing import comparison_frames, comparisons_of, release_table
from analysis.releases.models import Comparison
from analysis.releases.people import sittings_of
from analysis.releases.plans import find_plan, judgments_for
from experiments.models import Experiment
from judgments.models import Judgment, Participant, Session

FORMS = ("svg", "png", "pdf", "csv")


def study_evidence(
    study: Experiment,
    *,
    exclude: str = "",
    drawing: "analysis.figures.Drawing | None" = None,
    round_number: int | None = None,
) -> "analysis.figures.Evidence":
    """Everything the study's figures are drawn from, or what one of them needs."""
    plan = find_plan(study, exclude)
    if drawing is not None and drawing.about == "models":
        return comparison_evidence(newest_comparison(study))
    judgments = judgments_for(study, plan, round_number=round_number)
    imported = study.origin == Experiment.Origin.IMPORTED  # who arrived and consented is not known
    arrived = None if imported else stages(study, round_number)
    found = analysis.figures.Evidence(judgments=judgments, plan=plan, stages=arrived)
    if drawing is not None:
        return found
    beside = comparison_evidence(newest_comparison(study))
    models = {name: getattr(beside, name) for name in ("human", "pairs", "scores", "report", "sentences")}
    return replace(found, **models)


def newest_comparison(study: Experiment) -> Comparison | None:
    """The newest comparison that was computed."""
    return comparisons_of(study).exclude(report={}).order_by("-pk").first()


def comparison_evidence(found: Comparison | None) -> "analysis.figures.Evidence":
    """What the figures of a comparison are drawn from: a frozen release and the stored scores."""
    if found is None:
        return analysis.figures.Evidence()
    human, pairs, scores = comparison_frames(found)
    text = release_table(found.release, "sentences.csv").set_index("sentence_id")["sentence"]
    options = found.options
    return analysis.figures.Evidence(
        human=human,
        pairs=pairs,
        scores=scores,
        report=found.report,
        sentences={str(key): str(value) for key, value in text.items()},
        already_standardized=options["already_standardized"],
        signs=options["signs"],
        deltas=tuple(float(delta) for delta in options["deltas"]),
        seed=int(options.get("seed", 0)),
        basis=f"Release {found.release.number}; its plan: {found.release.options.get('exclude') or 'none'}.",
    )


def stages(study: Experiment, round_number: int | None = None) -> pd.DataFrame:
    """Who opened the study, or a round of it, consented, gave an answer and finished; tests are left out."""
    sittings = sittings_of(study, round_number)
    answered = Judgment.objects.filter(trial__session__in=sittings).values("trial__session__participant")
    refused = Participant.objects.filter(consents__given=False).exclude(consents__given=True)
    people = {
        "opened": sittings.values("participant").distinct().count(),
        "consented": sittings.exclude(participant__in=refused).values("participant").distinct().count(),
        "started": answered.distinct().count(),
        "finished": sittings.filter(status=Session.Status.COMPLETE).values("participant").distinct().count(),
    }
    return pd.DataFrame({"stage": list(people), "participants": list(people.values())})


def study_file(study: Experiment, name: str, form: str, *, exclude: str = "", **looks: Any) -> bytes:
    """A figure of the study as a file, drawn once for the same data, plan and looks."""
    drawing = analysis.figures.FIGURES[name]
    compared = newest_comparison(study) if drawing.about == "models" else None
    choices = {"exclude": exclude, "form": form, "of": compared.pk if compared else 0, **looks}

    def make() -> bytes:
        chart = analysis.figures.draw(name, study_evidence(study, exclude=exclude, drawing=drawing))
        return analysis.figures.export_figure(chart, form, **looks)  # type: ignore[arg-type]

    content: bytes = reading.cached(study, f"figure-{name}", choices, make)
    return content
