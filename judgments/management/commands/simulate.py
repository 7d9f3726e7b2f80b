"""``manage.py simulate``: run simulated participants through a study over its real URLs."""

import time
from argparse import ArgumentParser
from collections import Counter
from datetime import timedelta
from typing import Any

import numpy as np
from django.db.models import Sum
from django.utils import timezone
from rich.console import Console
from rich.progress import track

from analysis.choices import SCORE_SIGNS
from analysis.errors import BadInput, UnknownName
from config.commands import ContractCommand
from experiments.models import Experiment
from experiments.studies.creation import find_experiment
from judgments.models import Judgment, Session
from judgments.simulation.http_client import InProcess, Live
from judgments.simulation.model_scores import ModelScores, read_scores
from judgments.simulation.participant import KINDS, MODEL_LIKE, Persona, retime
from judgments.simulation.walkthrough import visit

BEFORE_S, BETWEEN_S = 90, 1.5  # seconds before the first trial, and between trials


class Command(ContractCommand):
    """Simulate participants over the direct link."""

    help = (
        "Simulate participants: consent and questions through the pages of the study, trials over the API "
        "that the pages use."
    )
    example = "manage.py simulate demo --profiles honest:40,careless:5,left-biased:2 --seed 7"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the study, the participants and the way their answers are sent."""
        parser.add_argument("experiment", metavar="EXPERIMENT", help="the study's short name")
        parser.add_argument(
            "--participants", type=int, metavar="N", help="number of participants of one profile"
        )
        parser.add_argument("--profile", default="honest", choices=KINDS, help="answering behaviour")
        parser.add_argument(
            "--profiles", default="", metavar="NAME:N,…", help="several profiles, in random order"
        )
        parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the participants")
        parser.add_argument(
            "--through",
            default="api",
            choices=["api", "forms"],
            help="send answers over the JSON API (as with JavaScript) or through forms (as without)",
        )
        parser.add_argument(
            "--scores",
            default="",
            metavar="FILE|RUN",
            help="scores for the profile model-like: a file with sentence_id, or the name of a stored run",
        )
        parser.add_argument("--column", default="", metavar="NAME", help="column of scores in the file")
        parser.add_argument(
            "--sign",
            default="",
            choices=SCORE_SIGNS,
            help="lower: lower scores mean better sentences (surprisal)",
        )
        parser.add_argument(
            "--server",
            "--url",
            default="",
            dest="url",
            help="URL of a running server that uses this database",
        )

    def run(self, **options: Any) -> None:
        """Simulate each participant and report the results."""
        experiment = find_experiment(options["experiment"])
        profiles = wanted_profiles(options)
        scores = None
        if MODEL_LIKE in profiles:
            chosen = {"column": options["column"], "sign": options["sign"]}
            scores = read_scores(experiment, options["scores"], **chosen)
        personas = mix_personas(profiles, seed=options["seed"])
        visits = track(personas, console=Console(stderr=True), disable=not self.wants_progress(options))
        began, sessions = time.perf_counter(), []
        for persona in visits:
            if session := _simulated_session(experiment, persona, options, scores=scores):
                sessions.append(session)
        report = _report(experiment, sessions, options, profiles, seconds=time.perf_counter() - began)
        if options["json"]:
            self.print_json(report)
        else:
            mix = ", ".join(f"{n} {name}" for name, n in profiles.items())
            self.stdout.write(
                f"{report['completed']} of {report['participants']} participants ({mix}) completed "
                f"{experiment.slug!r}: {report['judgments']} judgments in {report['seconds']} s."
                + (
                    f" {report['turned_away']} found the study full or closed."
                    if report["turned_away"]
                    else ""
                )
            )


def wanted_profiles(options: dict[str, Any]) -> dict[str, int]:
    """Number of participants by profile, from ``--profiles``, else ``--participants`` and ``--profile``."""
    if options["seed"] < 0:
        raise BadInput("the seed has to be at least 0.")
    if not options["profiles"]:
        if options["participants"] is None or options["participants"] < 1:
            raise BadInput("participants has to be at least 1.", remedy="Give --participants or --profiles.")
        return {options["profile"]: options["participants"]}
    counts: Counter[str] = Counter()
    for part in options["profiles"].split(","):
        name, _, number = part.strip().partition(":")
        if name not in KINDS:
            raise UnknownName("profile", name, KINDS)
        if not number.isdecimal() or int(number) < 1:
            raise BadInput(
                f"{part.strip()!r} is not a profile with a number.", remedy="Write honest:40,careless:5."
            )
        counts[name] += int(number)
    if options["participants"] not in (None, counts.total()):
        raise BadInput(
            f"the profiles add up to {counts.total()} participants, not {options['participants']}."
        )
    return dict(counts)


def mix_personas(profiles: dict[str, int], *, seed: int) -> list[Persona]:
    """The participants in order of arrival; several profiles are shuffled by the seed."""
    personas = [
        Persona(f"{profile}-{seed}-{n}", profile, seed=seed)
        for profile, number in profiles.items()
        for n in range(number)
    ]
    if len(profiles) == 1:
        return personas
    order = np.random.default_rng(seed).permutation(len(personas))
    return [personas[index] for index in order]


def _simulated_session(
    experiment: Experiment, persona: Persona, options: dict[str, Any], *, scores: ModelScores | None
) -> Session | None:
    """One simulated session; over the API its start and end are set to fit its response times."""
    browser = Live(options["url"]) if options["url"] else InProcess()
    session = visit(browser, experiment, persona, through=options["through"], scores=scores)
    if session is None or options["through"] == "forms":
        return session
    answers = Judgment.objects.filter(trial__session=session)
    spent = timedelta(milliseconds=answers.aggregate(ms=Sum("rt_ms"))["ms"] or 0)
    if session.started_at and session.completed_at and session.completed_at - session.started_at < spent:
        lasted = spent + timedelta(seconds=BEFORE_S + BETWEEN_S * answers.count())
        retime(session, timezone.now() - lasted, np.random.default_rng([persona.seed, *persona.key.encode()]))
    return session


def _report(
    experiment: Experiment,
    sessions: list[Session],
    options: dict[str, Any],
    profiles: dict[str, int],
    *,
    seconds: float,
) -> dict[str, Any]:
    rows = Session.objects.filter(pk__in=[session.pk for session in sessions]).select_related(
        "participant", "list"
    )
    n_participants = sum(profiles.values())
    return {
        "experiment": experiment.slug,
        "profile": next(iter(profiles)) if len(profiles) == 1 else "mixed",
        "profiles": profiles,
        "through": options["through"],
        "seed": options["seed"],
        "participants": n_participants,
        "turned_away": n_participants - len(sessions),
        "completed": sum(row.status == Session.Status.COMPLETE for row in rows),
        "judgments": Judgment.objects.filter(trial__session__in=rows).count(),
        "seconds": round(seconds, 2),
        "sessions": [
            {
                "participant": row.participant.pseudonym,
                "list": row.list.label if row.list else None,
                "status": row.status,
            }
            for row in rows
        ],
    }
