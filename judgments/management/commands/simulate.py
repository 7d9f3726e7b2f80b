"""``manage.py simulate``: participants who are none go through the real doors of a study."""

import time
from typing import Any

from rich.console import Console
from rich.progress import track

from analysis.errors import BadInput, UnknownName
from config.commands import ContractCommand
from experiments.models import Experiment
from judgments.models import Judgment, Session
from judgments.sessions.browser import InProcess, Live
from judgments.sessions.simulate import Persona
from judgments.sessions.visit import visit
from judgments.tasks.base import PROFILES


class Command(ContractCommand):
    """Simulate participants over the direct link."""

    help = "Simulate participants: consent, questions and every trial through the pages a person sees."
    example = "manage.py simulate demo --participants 20 --profile careless --seed 7"

    def add_options(self, parser) -> None:
        """Study, how many, of which kind."""
        parser.add_argument("experiment", metavar="EXPERIMENT", help="the study's short name")
        parser.add_argument("--participants", type=int, required=True, metavar="N", help="how many")
        parser.add_argument("--profile", default="honest", choices=PROFILES, help="how they answer")
        parser.add_argument(
            "--seed", type=int, default=0, metavar="S", help="the same seed brings the same participants back"
        )
        parser.add_argument("--url", default="", help="address of a running server on this database")

    def run(self, **options: Any) -> None:
        """Let each participant visit; tell what came of it."""
        experiment = _found(options["experiment"])
        if options["participants"] < 1 or options["seed"] < 0:
            raise BadInput("participants has to be at least 1 and the seed at least 0.")
        names = [f"{options['profile']}-{options['seed']}-{n}" for n in range(options["participants"])]
        personas = [Persona(name, options["profile"], seed=options["seed"]) for name in names]
        shown = track(personas, console=Console(stderr=True), disable=not self.wants_progress(options))
        began, sessions = time.perf_counter(), []
        for persona in shown:
            browser = Live(options["url"]) if options["url"] else InProcess()
            if session := visit(browser, experiment, persona):
                sessions.append(session)
        told = _told(experiment, sessions, options, seconds=time.perf_counter() - began)
        if options["json"]:
            self.print_json(told)
        else:
            self.stdout.write(
                f"{told['completed']} of {told['participants']} {options['profile']} participants completed "
                f"{experiment.slug!r}: {told['judgments']} judgments in {told['seconds']} s."
            )


def _found(slug: str) -> Experiment:
    experiment = Experiment.objects.filter(slug=slug).first()
    if experiment is None:
        raise UnknownName("study", slug, list(Experiment.objects.values_list("slug", flat=True)))
    return experiment


def _told(
    experiment: Experiment, sessions: list[Session], options: dict[str, Any], *, seconds: float
) -> dict[str, Any]:
    rows = Session.objects.filter(pk__in=[one.pk for one in sessions]).select_related("participant", "list")
    return {
        "experiment": experiment.slug,
        "profile": options["profile"],
        "seed": options["seed"],
        "participants": options["participants"],
        "turned_away": options["participants"] - len(sessions),
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
