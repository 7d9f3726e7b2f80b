"""The demo's login; its password is generated once and stored in a file readable by its owner only."""

import os
import secrets
from contextlib import suppress

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from config.env import env_secret

NAME = "demo"
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


def login_line() -> str:
    """How to log in; a password changed by the user is not shown."""
    user = User.objects.filter(username=NAME).first()
    if user is None:
        return "There is no demo login: `manage.py demo` creates it."
    if not user.check_password(demo_password()):
        return f"Demo login: {NAME}, with the password you have set."
    return f"Demo login: {NAME}, password: {demo_password()}"
