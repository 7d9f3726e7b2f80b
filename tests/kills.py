"""Kills of a process at every commit and at every request, one at a time.

A kill before a commit loses the transaction, as the death of a process does; one after it keeps it.
"""

from contextlib import contextmanager
from unittest import mock

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper


class Killed(BaseException):
    """The process dies here."""


class Kills:
    """Counts the places at which the process can die, and dies at one of them."""

    def __init__(self, at: int) -> None:
        self.at, self.n = at, 0
        self.happened = ""

    def place(self, name: str) -> None:
        """A place at which the process can die."""
        self.n += 1
        if self.n == self.at:
            self.happened = name
            raise Killed(name)


@contextmanager
def killed_at(number: int, *requests):
    """Kill at the place with this number; ``requests`` are (object, method) pairs that send requests."""
    kills = Kills(number)
    commit = BaseDatabaseWrapper.commit

    def killing_commit(self):
        try:
            kills.place("before a commit")
        except Killed:
            self.connection.rollback()  # what the server does when a connection dies
            raise
        commit(self)
        kills.place("after a commit")

    def wrapped(original):
        def send(*args, **kwargs):
            kills.place("before a request")
            answer = original(*args, **kwargs)
            kills.place("after a request")
            return answer

        return send

    patches = [mock.patch.object(BaseDatabaseWrapper, "commit", killing_commit)]
    patches += [
        mock.patch.object(target, method, wrapped(getattr(target, method))) for target, method in requests
    ]
    for patch in patches:
        patch.start()
    try:
        yield kills
    except Killed:
        pass
    finally:
        for patch in patches:
            patch.stop()
        connection.close()
