"""Creation of the demo's content and simulated participants; a second call changes nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from experiments.models import AuditEntry, Experiment
from judgments.models import Judgment, Session
from judgments.simulation.participant import Persona, sit
from releases.demo.campaign import closed_campaign
from releases.demo.conclusions import (
    TRAINING,
    create_comparison,
    create_plan,
    create_release,
    create_runs,
    create_training_runs,
)
from releases.demo.login import LAST_STUDY, demo_user, is_complete
from releases.demo.materials import island_materials, pair_materials
from releases.demo.studies import open_demo_study, plans
from releases.models import Comparison, Release

N_MAIN, N_OTHERS = 40, 12  # participants of the main study and of each other one
PROFILES = {2: "careless", 5: "left-biased", 8: "random"}  # by last digit; the others are honest
SEED = 7
N_FURTHER = 9  # steps beside the participants
OPENED_AGO, MAX_DURATION = timedelta(days=2), timedelta(minutes=30)
MAIN, RATED = "demo", LAST_STUDY
Progress = Callable[[int, int, str], None]


def personas(study: Experiment, n: int) -> list[Persona]:
    """Seven of ten honest, one of 13 not a native speaker, and one who leaves early."""
    result = []
    for number in range(n):
        native = number % 13 != 4
        background = {
            "native": "yes" if native else "no",
            "age": 19 + (number * 17) % 50,
            "education": ("No", "No", "A little", "Yes")[number % 4],
        }
        result.append(
            Persona(
                f"{study.slug}-{number}",
                PROFILES.get(number % 10, "honest"),
                seed=SEED,
                is_native=native,
                background=background,
                stops_after=9 if number == n - 3 else None,
            )
        )
    return result


def simulate_participants(study: Experiment, n: int, *, notify: Callable[[str], None]) -> int:
    """Simulate n participants unless they exist; returns the number of new ones."""
    n_done = Session.objects.filter(experiment=study, participant__is_simulated=True).count()
    if n_done >= n or not study.is_taking_participants:
        return 0
    for number, (persona, began_at) in enumerate(zip(personas(study, n), arrivals(study, n), strict=True), 1):
        with transaction.atomic():
            sit(study, persona, began_at=began_at)
        notify(f"{study.title} Simulated participant {number} of {n} has finished.")
    return n - n_done


def arrivals(study: Experiment, n: int) -> list[datetime]:
    """Random arrival times since the study opened, the last early enough to finish by now."""
    if study.opened_at is None:
        raise ValueError(f"{study.slug} is not open")
    rng, opened = np.random.default_rng([SEED, n]), study.opened_at
    steps = np.cumsum(rng.exponential(size=n + 1))
    available = timezone.now() - opened - MAX_DURATION
    return [opened + available * float(step / steps[-1]) for step in steps[:-1]]


def backdate_opening(study: Experiment) -> Experiment:
    """Move the opening two days back, so that arrivals of simulated participants are plausible."""
    opened_at = timezone.now() - OPENED_AGO
    Experiment.objects.filter(pk=study.pk).update(created_at=opened_at, opened_at=opened_at)
    # The demo's past is made up, its history with it; no other code changes entries.
    QuerySet(AuditEntry).filter(experiment=study).update(at=opened_at)
    study.versions.update(created_at=opened_at)
    study.exclusion_plans.update(created_at=opened_at)
    study.refresh_from_db()
    return study


@dataclass(frozen=True)
class Demo:
    """Content of the demo, and whether this call created it."""

    studies: list[str]
    judgments: int
    releases: int
    comparisons: int
    is_new: bool


class Steps:
    """Counts the steps of the demo and reports each, with what is being done."""

    def __init__(self, report: Progress, total: int) -> None:
        self.report, self.total, self.n_done = report, total, 0

    def notify(self, message: str) -> None:
        """Report a step."""
        self.report(self.n_done, self.total, message)
        self.n_done = min(self.n_done + 1, self.total)


def make_demo(report: Progress = lambda done, total, message: None) -> Demo:
    """Create materials, studies, participants, releases, scores and comparisons, each where it is missing."""
    owner = demo_user()
    is_new = not is_complete(owner)
    if is_new:
        _create(owner, Steps(report, N_MAIN + N_OTHERS * (len(plans()) - 1) + N_FURTHER))
    studies = Experiment.objects.filter(slug__in=[plan.slug for plan in plans()], owner=owner)
    return Demo(
        list(studies.values_list("slug", flat=True)),
        Judgment.objects.filter(trial__session__experiment__in=studies).count(),
        Release.objects.filter(created_by=owner, state=Release.State.READY).count(),
        Comparison.objects.filter(created_by=owner).count(),
        is_new,
    )


def _create(owner: User, steps: Steps) -> None:
    steps.notify("Sentences and minimal pairs are generated.")
    materials = {"demo-yes-no": island_materials(owner)}
    pairs = pair_materials(owner)
    studies = {}
    for plan in plans():
        study = studies[plan.slug] = open_demo_study(plan, materials.get(plan.slug, pairs), owner)
        create_plan(study, owner)
        if not study.sessions.exists():
            backdate_opening(study)
        simulate_participants(study, N_MAIN if plan.slug == MAIN else N_OTHERS, notify=steps.notify)
    steps.notify("A closed campaign is stored.")
    closed_campaign(studies[MAIN], owner)
    steps.notify("N-gram models score the sentences.")
    runs = create_runs(studies[MAIN], owner)
    steps.notify("N-gram models of several corpora score the sentences.")
    trained = create_training_runs(studies[MAIN], owner)
    for slug, rule in ((MAIN, "0.75"), (RATED, "")):
        steps.notify(f"{studies[slug].title} A gold release is built.")
        release = create_release(studies[slug], owner, rule=rule)
        if slug == MAIN:
            steps.notify("Models are compared by the size of their corpus.")
            create_comparison(release, trained, owner, title=TRAINING)
        steps.notify(f"{studies[slug].title} Models are compared with people.")
        create_comparison(release, runs, owner)
