"""The demo's user, and the job that creates its content; imports no numerical library."""

import os
import secrets
import sys
from contextlib import suppress

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from config.env import env_secret
from experiments.models import Job
from experiments.operation.demo_job import KEY, KIND
from experiments.operation.job_runner import enqueue, send
from releases.models import Comparison

NAME = "demo"
LAST_STUDY = "demo-likert"  # its comparison is stored last
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL  # race: only one process creates the file


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


def administrator_lines() -> list[str]:
    """Return the line that says how to become administrator; none where there is an administrator."""
    if User.objects.filter(is_superuser=True, is_active=True).exists():
        return []
    python = os.path.relpath(sys.executable, settings.BASE_DIR)
    return [f"Administrator: {python} manage.py createsuperuser, in another terminal, makes your account."]


def login_line() -> str:
    """Login data; a password changed by the user is not shown."""
    user = User.objects.filter(username=NAME).first()
    if user is None:
        return "There is no demo login: `manage.py demo` creates it."
    if not user.check_password(demo_password()):
        return f"Demo login: {NAME}, with the password you have set."
    return f"Demo login: {NAME}, password: {demo_password()}"


def is_complete(owner: User) -> bool:
    """Whether the last step of the demo is stored."""
    last = Comparison.objects.filter(created_by=owner, release__experiment__slug=LAST_STUDY)
    return last.exclude(report={}).exists()


@transaction.atomic
def request_demo() -> Job | None:
    """Queue the job that creates the demo, or what is missing of it; None where it is complete."""
    owner = demo_user()
    if is_complete(owner):
        return None
    # A start that a stop of the server interrupted does not wait until it counts as stale, nor do the jobs
    # that it waited for. Race: one that still runs elsewhere finds at its next step that it was overtaken.
    interrupted = Job.objects.filter(created_by=owner, state=Job.State.RUNNING)
    requeued = list(interrupted.values_list("pk", flat=True))
    interrupted.update(state=Job.State.QUEUED, heartbeat_at=None)
    Job.objects.filter(key=KEY, state__in=Job.State.final()).delete()
    job = enqueue(KIND, {}, user=owner, key=KEY)
    if job.pk in requeued:
        transaction.on_commit(lambda: send(job.pk))
    return job
