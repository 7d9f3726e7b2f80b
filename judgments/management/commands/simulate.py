"""``manage.py simulate``: participants who are none go through the real doors of a study."""

import time
from collections import Counter
from datetime import timedelta
from typing import Any

import numpy as np
from django.db.models import Sum
from django.utils import timezone
from rich.console import Console
from rich.progress import track

from analysis.errors import BadInput, UnknownName
from config.commands import ContractCommand
from experiments.models import Experiment
from judgments.models import Judgment, Session
from judgments.sessions.browser import InProcess, Live
from judgments.sessions.clock import retime
from judgments.sessions.model_scores import ModelScores, read_scores
from judgments.sessions.simulate import KINDS, MODEL_LIKE, Persona
from judgments.sessions.visit import visit

BEFORE_S, BETWEEN_S = 90, 1.5  # texts and questions; from one trial to the next


class Command(ContractCommand):
    """Simulate participants over the direct link."""

    help = (
        "Simulate participants: consent and questions through the pages a person sees, trials over the API "
        "that a browser uses."
    )
    example = "manage.py simulate demo --profiles honest:40,careless:5,left-biased:2 --seed 7"

    def add_options(self, parser) -> None:
        """Study, how many, of which kind, through which door."""
        parser.add_argument("experiment", metavar="EXPERIMENT", help="the study's short name")
        parser.add_argument("--participants", type=int, metavar="N", help="how many of one profile")
        parser.add_argument("--profile", default="honest", choices=KINDS, help="how they answer")
        parser.add_argument(
            "--profiles", default="", metavar="NAME:N,…", help="several profiles at once, in mixed order"
        )
        parser.add_argument(
            "--seed", type=int, default=0, metavar="S", help="the same seed brings the same participants back"
        )
        parser.add_argument(
            "--through",
            default="api",
            choices=["api", "forms"],
            help="trials over the JSON API, as with JavaScript, or through plain forms, as without",
        )
        parser.add_argument(
            "--scores",
            default="",
            metavar="FILE|RUN",
            help="for model-like: a file of scores by sentence_id, or the name of a stored run",
        )
        parser.add_argument("--column", default="", metavar="NAME", help="column of the file of scores")
        parser.add_argument(
            "--server", "--url", default="", dest="url", help="address of a running server on this database"
        )

    def run(self, **options: Any) -> None:
        """Let each participant visit; tell what came of it."""
        experiment = _found(options["experiment"])
        profiles = wanted_profiles(options)
        scores = None
        if MODEL_LIKE in profiles:
            scores = read_scores(experiment, options["scores"], column=options["column"])
        personas = mixed(profiles, seed=options["seed"])
        shown = track(personas, console=Console(stderr=True), disable=not self.wants_progress(options))
        began, sessions = time.perf_counter(), []
        for persona in shown:
            if session := _visited(experiment, persona, options, scores=scores):
                sessions.append(session)
        told = _told(experiment, sessions, options, profiles, seconds=time.perf_counter() - began)
        if options["json"]:
            self.print_json(told)
        else:
            named = ", ".join(f"{n} {name}" for name, n in profiles.items())
            self.stdout.write(
                f"{told['completed']} of {told['participants']} participants ({named}) completed "
                f"{experiment.slug!r}: {told['judgments']} judgments in {told['seconds']} s."
                + (f" {told['turned_away']} found the study full or closed." if told["turned_away"] else "")
            )


def wanted_profiles(options: dict[str, Any]) -> dict[str, int]:
    """How many of each profile, from ``--profiles`` or from ``--participants`` and ``--profile``."""
    if options["seed"] < 0:
        raise BadInput("the seed has to be at least 0.")
    if not options["profiles"]:
        if options["participants"] is None or options["participants"] < 1:
            raise BadInput("participants has to be at least 1.", remedy="Give --participants or --profiles.")
        return {options["profile"]: options["participants"]}
    wanted: Counter[str] = Counter()
    for part in options["profiles"].split(","):
        name, _, number = part.strip().partition(":")
        if name not in KINDS:
            raise UnknownName("profile", name, KINDS)
        if not number.isdecimal() or int(number) < 1:
            raise BadInput(
                f"{part.strip()!r} is no profile with a number.", remedy="Write honest:40,careless:5."
            )
        wanted[name] += int(number)
    if options["participants"] not in (None, wanted.total()):
        raise BadInput(f"the profiles come to {wanted.total()} participants, not {options['participants']}.")
    return dict(wanted)


def mixed(profiles: dict[str, int], *, seed: int) -> list[Persona]:
    """The participants in the order they come, those of several profiles shuffled by the seed."""
    personas = [
        Persona(f"{profile}-{seed}-{n}", profile, seed=seed)
        for profile, number in profiles.items()
        for n in range(number)
    ]
    if len(profiles) == 1:
        return personas
    order = np.random.default_rng(seed).permutation(len(personas))
    return [personas[index] for index in order]


def _visited(
    experiment: Experiment, persona: Persona, options: dict[str, Any], *, scores: ModelScores | None
) -> Session | None:
    """One visit; a session done over the API gets the times its response times add up to."""
    browser = Live(options["url"]) if options["url"] else InProcess()
    session = visit(browser, experiment, persona, through=options["through"], scores=scores)
    if session is None or options["through"] == "forms":
        return session
    answers = Judgment.objects.filter(trial__session=session)
    spent = timedelta(milliseconds=answers.aggregate(ms=Sum("rt_ms"))["ms"] or 0)
    if session.completed_at and session.completed_at - session.started_at < spent:
        lasted = spent + timedelta(seconds=BEFORE_S + BETWEEN_S * answers.count())
        retime(session, timezone.now() - lasted, np.random.default_rng([persona.seed, *persona.key.encode()]))
    return session


def _found(slug: str) -> Experiment:
    experiment = Experiment.objects.filter(slug=slug).first()
    if experiment is None:
        raise UnknownName("study", slug, list(Experiment.objects.values_list("slug", flat=True)))
    return experiment


def _told(
    experiment: Experiment,
    sessions: list[Session],
    options: dict[str, Any],
    profiles: dict[str, int],
    *,
    seconds: float,
) -> dict[str, Any]:
    rows = Session.objects.filter(pk__in=[one.pk for one in sessions]).select_related("participant", "list")
    wanted = sum(profiles.values())
    return {
        "experiment": experiment.slug,
        "profile": next(iter(profiles)) if len(profiles) == 1 else "mixed",
        "profiles": profiles,
        "through": options["through"],
        "seed": options["seed"],
        "participants": wanted,
        "turned_away": wanted - len(sessions),
        "completed": sum(one.status == Session.Status.COMPLETE for one in rows),
        "judgments": Judgment.objects.filter(trial__session__in=rows).count(),
        "seconds": round(seconds, 2),
        "sessions": [
            {
                "participant": one.participant.pseudonym,
                "list": one.list.label if one.list else None,
                "status": one.status,
            }
            for one in rows
        ],
    }
