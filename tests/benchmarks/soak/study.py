"""The database's side of a soak: each step is a process of its own that goes by the soak's environment.

``python -m tests.benchmarks.soak.study STEP``: ``make`` prepares a study, ``facts`` tells what is stored,
``lapse`` lets leases run out, ``sweep`` notes it. Arguments come as JSON on standard input, the result goes
as JSON to standard output.
"""

import json
import subprocess
import sys
from typing import Any

from tests.benchmarks.soak.services import ROOT

SLUG = "soak"


def step(name: str, environment: dict[str, str], argument: Any = None) -> Any:
    """Run one step against the database of an environment."""
    process = subprocess.run(
        [sys.executable, "-m", __name__, name],
        cwd=ROOT,
        env=environment,
        input=json.dumps(argument),
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        raise RuntimeError(f"{name} failed: {process.stderr[-2000:]}")
    return json.loads(process.stdout.strip().splitlines()[-1])


def make(fields: dict[str, Any]) -> str:
    """Migrate, gather static files, open a study."""
    from django.core.management import call_command

    from tests import cast

    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    materials = cast.material_set(SLUG, n_items=fields.pop("n_items"))
    cast.study(SLUG, materials=materials, **fields)
    return SLUG


def facts(argument: None) -> dict[str, Any]:
    """Sessions, judgments and conflicts as they are stored."""
    from django.utils import timezone

    from judgments.models import Judgment, Participant, Session, SessionEvent

    judgments = Judgment.objects.order_by("pk").values_list(
        "trial__session__token", "trial__public_id", "response"
    )
    return {
        "sessions": [
            {
                "token": session.token,
                "participant": session.participant_id,
                "list": session.list_id,
                "status": session.status,
                "code": session.completion_code,
                "n_trials": session.trials.count(),
                "n_answered": session.trials.filter(judgment__isnull=False).count(),
                "is_lapsed": session.lease_expires_at < timezone.now(),
            }
            for session in Session.objects.order_by("pk")
        ],
        "participants": Participant.objects.count(),
        "judgments": list(judgments),
        "conflicts": SessionEvent.objects.filter(kind="conflict").count(),
    }


def lapse(tokens: list[str]) -> int:
    """Set the clock of these sessions forward: their leases ran out."""
    from datetime import timedelta

    from django.utils import timezone

    from judgments.models import Session

    past = timezone.now() - timedelta(seconds=1)
    return Session.objects.filter(token__in=tokens).update(lease_expires_at=past)


def sweep(argument: None) -> int:
    """What the scheduler does every minute."""
    from judgments.sessions.leases import expire_sessions

    return expire_sessions()


STEPS = {"make": make, "facts": facts, "lapse": lapse, "sweep": sweep}

if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(STEPS[sys.argv[1]](json.load(sys.stdin))))
