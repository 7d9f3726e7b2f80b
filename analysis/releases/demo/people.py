"""The demo's participants: four profiles in a fixed mixture, each through the steps of a session."""

from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
from django.db import transaction
from django.utils import timezone

from experiments.models import Experiment
from judgments.models import Session
from judgments.sessions.simulate import Persona, sit

N_MAIN, N_OTHERS = 40, 12
OTHERS = {2: "careless", 5: "left-biased", 8: "random"}  # of ten; the rest are honest
SEED = 7
OPENED_BEFORE, LONGEST = timedelta(days=2), timedelta(minutes=30)


def personas(study: Experiment, n: int) -> list[Persona]:
    """Seven honest ones in ten; now and then somebody not native, and one who leaves."""
    made = []
    for number in range(n):
        native = number % 13 != 4
        background = {
            "native": "yes" if native else "no",
            "age": 19 + (number * 17) % 50,
            "education": ("No", "No", "A little", "Yes")[number % 4],
        }
        made.append(
            Persona(
                f"{study.slug}-{number}",
                OTHERS.get(number % 10, "honest"),
                seed=SEED,
                is_native=native,
                background=background,
                stops_after=9 if number == n - 3 else None,
            )
        )
    return made


def take_part(study: Experiment, n: int, *, tell: Callable[[str], None]) -> int:
    """Let n simulated people take the study, those who have not done so yet; gives how many came now."""
    done = Session.objects.filter(experiment=study, participant__is_simulated=True).count()
    if done >= n or not study.is_taking_participants:
        return 0
    tell(f"{n} simulated participants take {study.slug!r} ...")
    for persona, began_at in zip(personas(study, n), arrivals(study, n), strict=True):
        with transaction.atomic():
            sit(study, persona, began_at=began_at)
    return n - done


def arrivals(study: Experiment, n: int) -> list[datetime]:
    """When they come: one after the other since the study opened, the last of them done by now."""
    rng, opened = np.random.default_rng([SEED, n]), study.opened_at
    steps = np.cumsum(rng.exponential(size=n + 1))
    room = timezone.now() - opened - LONGEST
    return [opened + room * float(step / steps[-1]) for step in steps[:-1]]


def begin_earlier(study: Experiment) -> Experiment:
    """Let the demo's study have been opened two days ago, so that its simulated people had time to come."""
    moment = timezone.now() - OPENED_BEFORE
    Experiment.objects.filter(pk=study.pk).update(created_at=moment, opened_at=moment)
    study.audit.update(at=moment)
    study.versions.update(created_at=moment)
    study.exclusion_plans.update(created_at=moment)
    study.refresh_from_db()
    return study
