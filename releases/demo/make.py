"""Creation of the demo with its login and simulated participants; a second call changes nothing."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from config.env import env_secret
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
from releases.demo.materials import island_materials, pair_materials
from releases.demo.studies import open_demo_study, plans
from releases.models import Comparison, Release

N_MAIN, N_OTHERS = 40, 12  # participants of the main study and of each other one
PROFILES = {2: "careless", 5: "left-biased", 8: "random"}  # by last digit; the others are honest
SEED = 7
OPENED_AGO, MAX_DURATION = timedelta(days=2), timedelta(minutes=30)
NAME = "demo"
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL  # race: only one process creates the file
MAIN, RATED = "demo", "demo-likert"


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
    notify(f"{n} simulated participants take {study.slug!r} ...")
    for persona, began_at in zip(personas(study, n), arrivals(study, n), strict=True):
        with transaction.atomic():
            sit(study, persona, began_at=began_at)
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


def demo_password() -> str:
    """``DEMO_PASSWORD``, or a password generated at the first call and stored (mode 600)."""
    if configured := env_secret("DEMO_PASSWORD"):
        return configured
    file = settings.VAR / "demo_password"
    with suppress(FileExistsError), open(os.open(file, NEW, 0o600), "w") as new:
        new.write(secrets.token_urlsafe(12))
    return str(file.read_text().strip())


@transaction.atomic
def demo_user() -> User:
    """The demo's user; its password is set only when it is created."""
    user, is_new = User.objects.get_or_create(username=NAME, defaults={"email": "demo@localhost"})
    if is_new:
        user.set_password(demo_password())
        user.save(update_fields=["password"])
    return user


def login_line() -> str:
    """Login data; a password changed by the user is not shown."""
    user = User.objects.filter(username=NAME).first()
    if user is None:
        return "There is no demo login: `manage.py demo` creates it."
    if not user.check_password(demo_password()):
        return f"Demo login: {NAME}, with the password you have set."
    return f"Demo login: {NAME}, password: {demo_password()}"


@dataclass(frozen=True)
class Demo:
    """Content of the demo, and whether this call created it."""

    studies: list[str]
    judgments: int
    releases: int
    comparisons: int
    is_new: bool


def make_demo(notify: Callable[[str], None] = lambda line: None) -> Demo:
    """Create materials, studies, participants, releases, scores and comparisons."""
    owner = demo_user()
    is_new = not Comparison.objects.filter(created_by=owner, release__experiment__slug=RATED).exists()
    if is_new:
        notify("Creating the demo (once, about half a minute) ...")
    materials = {"demo-yes-no": island_materials(owner)}
    pairs = pair_materials(owner)
    studies = {}
    for plan in plans():
        study = studies[plan.slug] = open_demo_study(plan, materials.get(plan.slug, pairs), owner)
        if is_new:
            create_plan(study, owner)
            if not study.sessions.exists():
                backdate_opening(study)
            simulate_participants(study, N_MAIN if plan.slug == MAIN else N_OTHERS, notify=notify)
    if is_new:
        closed_campaign(studies[MAIN], owner)
    if is_new:
        notify("Releases, n-gram models, comparisons ...")
        runs = create_runs(studies[MAIN], owner)
        trained = create_training_runs(studies[MAIN], owner)
        for slug, rule in ((MAIN, "0.75"), (RATED, "")):
            release = create_release(studies[slug], owner, rule=rule)
            if slug == MAIN:
                create_comparison(release, trained, owner, title=TRAINING)
            create_comparison(release, runs, owner)
    return Demo(
        list(studies),
        Judgment.objects.filter(trial__session__experiment__in=studies.values()).count(),
        Release.objects.filter(created_by=owner, state=Release.State.READY).count(),
        Comparison.objects.filter(created_by=owner).count(),
        is_new,
    )
