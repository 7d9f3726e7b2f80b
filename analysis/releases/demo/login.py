"""The demo's login: a name, and a password made once and kept in a file that only its owner may read."""

import os
import secrets
from contextlib import suppress

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction

from config.env import env_secret

NAME = "demo"
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def demo_password() -> str:
    """``DEMO_PASSWORD``, or the one made at the first call and kept (mode 600)."""
    if given := env_secret("DEMO_PASSWORD"):
        return given
    file = settings.VAR / "demo_password"
    with suppress(FileExistsError), open(os.open(file, NEW, 0o600), "w") as new:
        new.write(secrets.token_urlsafe(12))
    return str(file.read_text().strip())


@transaction.atomic
def demo_user():
    """The demo's user; made once, and its password is set then only."""
    users = get_user_model().objects
    user, is_new = users.get_or_create(username=NAME, defaults={"email": "demo@localhost"})
    if is_new:
        user.set_password(demo_password())
        user.save(update_fields=["password"])
    return user


def login_line() -> str:
    """How to log in, as a sentence; a changed password is nobody's business."""
    user = get_user_model().objects.filter(username=NAME).first()
    if user is None:
        return "There is no demo login: `manage.py demo` makes it."
    if not user.check_password(demo_password()):
        return f"Demo login: {NAME}, with the password you have set."
    return f"Demo login: {NAME}, password: {demo_password()}"
