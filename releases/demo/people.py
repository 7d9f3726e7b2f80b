"""The demo's simulated participants: four profiles in a fixed mixture, each in a complete session."""

from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from experiments.models import AuditEntry, Experiment
from judgments.models import Session
from judgments.simulation.participant import Persona, sit

N_MAIN, N_OTHERS = 40, 12  # participants of the main study and of each other one
PROFILES = {2: "careless", 5: "left-biased", 8: "random"}  # by last digit; the others are honest
SEED = 7
OPENED_AGO, MAX_DURATION = timedelta(days=2), timedelta(minutes=30)


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
