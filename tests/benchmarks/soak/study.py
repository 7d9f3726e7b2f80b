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


def step(name: str, environment: dict[str, str], given: Any = None) -> Any:
    """Run one step against the database of an environment."""
    done = subprocess.run(
        [sys.executable, "-m", __name__, name],
        cwd=ROOT,
        env=environment,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{name} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def make(given: dict[str, Any]) -> str:
    """Migrate, gather static files, open a study."""
    from django.core.management import call_command

    from tests import cast

    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    materials = cast.material_set(SLUG, n_items=given.pop("n_items"))
    cast.study(SLUG, materials=materials, **given)
    return SLUG


def facts(given: None) -> dict[str, Any]:
    """Sessions, judgments and conflicts as they are stored."""
    from django.utils import timezone

    from judgments.models import Judgment, Participant, Session, SessionEvent

    judgments = Judgment.objects.order_by("pk").values_list(
        "trial__session__token", "trial__public_id", "response"
    )
    return {
        "sessions": [
            {
                "token": one.token,
                "participant": one.participant_id,
                "list": one.list_id,
                "status": one.status,
                "code": one.completion_code,
                "n_trials": one.trials.count(),
                "n_answered": one.trials.filter(judgment__isnull=False).count(),
                "is_lapsed": one.lease_expires_at < timezone.now(),
            }
            for one in Session.objects.order_by("pk")
        ],
        "participants": Participant.objects.count(),
        "judgments": list(judgments),
        "conflicts": SessionEvent.objects.filter(kind="conflict").count(),
    }


def lapse(given: list[str]) -> int:
    """Set the clock of these sessions forward: their leases ran out."""
    from datetime import timedelta

    from django.utils import timezone

    from judgments.models import Session

    past = timezone.now() - timedelta(seconds=1)
    return Session.objects.filter(token__in=given).update(lease_expires_at=past)


def sweep(given: None) -> int:
    """What the scheduler does every minute."""
    from judgments.sessions.leases import expire_sessions

    return expire_sessions()


STEPS = {"make": make, "facts": facts, "lapse": lapse, "sweep": sweep}

if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(STEPS[sys.argv[1]](json.load(sys.stdin))))
