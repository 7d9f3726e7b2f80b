"""Studies with answers, for the tests of the concluding side."""

from django.core.files.base import ContentFile
from django.utils import timezone

from experiments.models import Experiment, TrialKind
from experiments.operation import job_runner
from judgments.models import Judgment, Session, Trial
from releases.gold.freeze import request_release
from releases.gold.options import Options
from releases.models import Release, ScoringRun
from releases.scoring.runs import request_scoring
from tests import cast

NUMBERS = {"yes_no": ("1", "0"), "likert": ("6", "2")}


def judged_study(slug: str = "agreement", *, people: int = 6, **fields) -> Experiment:
    """A study in which everybody but the last prefers the expected member; the last one never does."""
    experiment = cast.study(slug, **fields)
    for number in range(people):
        add_sitting(experiment, f"p{number}", agrees=number < people - 1)
    return experiment


def add_sitting(
    experiment: Experiment, name: str, *, agrees: bool = True, catch: bool | None = None
) -> Session:
    """One participant judges everything: every pair, or both members of every pair."""
    person = cast.participant(
        experiment, name, is_native=True, background={"age": "30", "email": "x@example.org"}
    )
    sitting = Session.objects.create(
        experiment=experiment,
        version=experiment.current_version(),
        participant=person,
        status=Session.Status.COMPLETE,
        list=experiment.lists.first(),
        external_id=f"SUBMISSION-{experiment.slug}-{name}",
        completed_at=timezone.now(),
    )
    pairs = experiment.materials.pairs.select_related("good__item", "bad")
    fields = [
        {"item": pair.good.item, **trial_fields}
        for pair in pairs
        for trial_fields in _trials(experiment, pair)
    ]
    trials = Trial.objects.bulk_create(
        Trial(session=sitting, position=position, **trial_fields)
        for position, trial_fields in enumerate(fields, start=1)
    )
    Judgment.objects.bulk_create(judgment(trial, experiment, agrees=agrees) for trial in trials)
    if catch is not None:
        trial = Trial.objects.create(session=sitting, position=len(trials) + 1, kind=TrialKind.CATCH)
        Judgment.objects.create(
            trial=trial, response="1", value=1, is_correct=catch, received_at=timezone.now()
        )
    return sitting


def judgment(trial: Trial, experiment: Experiment, *, agrees: bool) -> Judgment:
    """A judgment as a form would leave it, not stored yet."""
    if trial.pair:
        return Judgment(
            trial=trial,
            response="1",
            value=float(agrees),
            chosen=trial.pair.good if agrees else trial.pair.bad,
            rt_ms=900,
            received_at=timezone.now(),
        )
    high, low = NUMBERS[experiment.task]
    better = (trial.sentence.expected == "acceptable") == agrees
    wobble = trial.position % 2 if experiment.task == "likert" else 0
    value = float(high if better else low) - wobble
    return Judgment(trial=trial, response=f"{value:g}", value=value, rt_ms=900, received_at=timezone.now())


def _trials(experiment: Experiment, pair) -> list[dict]:
    if experiment.task == "forced_choice":
        return [{"pair": pair, "expected_first": True}]
    return [{"sentence": pair.good}, {"sentence": pair.bad}]


def scores_file(study, *, missing: int = 0) -> ContentFile:
    """Two models: one that prefers the good member, one that does not."""
    rows = ["sentence_id,bright,dull"]
    for number, sentence in enumerate(study.materials.sentences.all()[missing:]):
        good = sentence.expected == "acceptable"
        rows.append(
            f"{sentence.key},{-5.5 - number * 0.01 if good else -9.0 - number * 0.02},{-7.0 + number * 0.3}"
        )
    return ContentFile("\n".join(rows).encode(), name="scores.csv")


def ready_release(study, **options) -> Release:
    """A frozen release."""
    release = request_release(study, Options(**options), user=cast.ada())
    job_runner.run(release.job_id)
    release.refresh_from_db()
    return release


def scored(study, column: str, **fields) -> ScoringRun:
    """A finished run."""
    run = request_scoring(study, scores_file(study, **fields), column=column, user=cast.ada())
    job_runner.run(run.job_id)
    run.refresh_from_db()
    return run
