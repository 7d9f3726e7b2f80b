"""Dry run: simulated participants go through the current pages of a study, in any state of the study."""

from typing import Any

from django.contrib.auth.models import User

from analysis.errors import BadInput
from experiments.models import Experiment, ExperimentVersion, Job
from experiments.operation.job_runner import Run, enqueue, job
from experiments.studies.lifecycle import document_sha256, freeze_preview, snapshot
from experiments.studies.rehearsals import DRY_RUN
from judgments.models import Judgment, Participant, Session
from judgments.sessions.enrollment import begin_preview
from judgments.sessions.protocol import load_protocol
from judgments.simulation.http_client import InProcess
from judgments.simulation.participant import Mind, Persona
from judgments.simulation.walkthrough import Through, go_through

FEWEST, MOST = 2, 8  # participants unless a number is chosen
MAX_CHOSEN = 500
FINISHED = {Session.Status.COMPLETE, Session.Status.SCREENED_OUT}


def dry_run_later(study: Experiment, *, user: User, n_participants: int | None = None) -> Job:
    """Queue a dry run; a repeated request while one is waiting or running returns the same job.

    Without ``n_participants`` there is one participant for each list, at least 2 and at most 8 unless there
    are more rounds.
    """
    if n_participants is not None and not 1 <= n_participants <= MAX_CHOSEN:
        raise BadInput(
            f"{n_participants} simulated participants cannot take part.",
            column="participants",
            remedy=f"Choose a number from 1 to {MAX_CHOSEN}.",
        )
    earlier = Job.objects.filter(kind=DRY_RUN, experiment=study)
    active = earlier.exclude(state__in=[Job.State.DONE, Job.State.FAILED]).first()
    if active is not None:
        return active
    key = f"{DRY_RUN}:{study.pk}:{document_sha256(snapshot(study))[:16]}:{earlier.count()}"
    arguments = {"study": study.pk, "participants": n_participants}
    return enqueue(DRY_RUN, arguments, user=user, experiment=study, key=key)


@job(DRY_RUN)
def dry_run(run: Run) -> None:
    """Run the chosen number of participants; the first who does not reach the end fails the job."""
    study = Experiment.objects.get(pk=run.arguments["study"])
    version = freeze_preview(study)
    rounds = sorted(set(version.lists.values_list("round", flat=True)))
    default = max(len(rounds), min(MOST, max(FEWEST, version.lists.count())))
    n = run.arguments.get("participants") or default
    sessions = []
    for number in range(n):
        run.progress(number, n, "simulated participants")
        name, here = f"dry-run-{run.job.pk}-{number}", rounds[number % len(rounds)]
        through: Through = "forms" if number % 2 else "api"  # without JavaScript, and with
        sessions.append(take_part(study, version, name=name, round_number=here, through=through))
    with run.finishing() as result:
        result.update(summary(sessions))


def take_part(
    study: Experiment,
    version: ExperimentVersion,
    *,
    name: str,
    round_number: int | None = None,
    through: Through = "forms",
) -> Session:
    """One honest simulated participant, from the first screen after consent to the end."""
    protocol = load_protocol(version)
    session = begin_preview(
        study, version, key=name, consent_text=protocol.consent, round_number=round_number
    )
    Participant.objects.filter(pk=session.participant_id).update(is_simulated=True)
    browser = InProcess()
    page, mind = browser.get(f"/s/{session.token}/"), Mind(Persona(name), protocol)
    go_through(browser, page, mind, through=through)
    session.refresh_from_db()
    if session.status not in FINISHED:
        raise BadInput(
            f"simulated participant {name.rpartition('-')[2]} did not reach the end.",
            remedy=f"Look at the screen {session.screen!r} in a preview.",
        )
    return session


def summary(sessions: list[Session]) -> dict[str, Any]:
    """Counts for the page of the job."""
    complete = [session for session in sessions if session.status == Session.Status.COMPLETE]
    return {
        "participants": len(sessions),
        "complete": len(complete),
        "judgments": Judgment.objects.filter(trial__session__in=sessions).count(),
    }
