"""What the sessions that answered last were given, kept in this process for a while."""

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from judgments.models import Session
from judgments.sessions.deliver import FRESH
from judgments.sessions.given import GivenTrial, given_trials
from judgments.sessions.protocol import Protocol, protocol_of

MOST_TRIALS = 20_000  # kept in one process: some 60 MB
KEPT_S = 900.0  # a study's lease may be changed meanwhile


@dataclass
class Sitting:
    """What a session was given, and what is known of its answers and its lease; either may be further on."""

    protocol: Protocol
    lease: timedelta
    trials: dict[str, GivenTrial]  # by public id
    ids: list[int]  # in the order of the session
    reach: int  # every trial up to this position is answered
    screen: str
    lease_expires_at: datetime | None
    kept_at: float

    def is_fresh(self, screen: str, *, now: datetime) -> bool:
        """Whether the lease was renewed just now, on this screen."""
        end = self.lease_expires_at
        return self.screen == screen and end is not None and end - self.lease + FRESH > now


class Sittings:
    """The sittings of the sessions that answered last."""

    def __init__(self, most_trials: int) -> None:
        self.most_trials, self.n_trials = most_trials, 0
        self.sittings: OrderedDict[str, Sitting] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, token: str) -> Sitting | None:
        """The sitting of a token, unless it was kept too long."""
        sitting = self.sittings.get(token)
        if sitting is None or time.monotonic() - sitting.kept_at > KEPT_S:
            return None
        return sitting

    def keep(self, token: str, sitting: Sitting) -> None:
        """Keep a sitting; the oldest go when there are too many trials."""
        with self.lock:
            self._drop(token)
            self.sittings[token] = sitting
            self.n_trials += len(sitting.trials)
            while self.n_trials > self.most_trials and len(self.sittings) > 1:
                self._drop(next(iter(self.sittings)))

    def forget(self, token: str) -> None:
        """Drop a sitting that is no longer true."""
        with self.lock:
            self._drop(token)

    def _drop(self, token: str) -> None:
        dropped = self.sittings.pop(token, None)
        if dropped is not None:
            self.n_trials -= len(dropped.trials)


sittings = Sittings(MOST_TRIALS)


def remember(session: Session, trials: Sequence[GivenTrial] | None = None) -> None:
    """Keep what a session was given, for the answers to come; ``trials`` where they were just read."""
    if session.status != Session.Status.ACTIVE or (trials is None and sittings.get(session.token)):
        return
    trials = given_trials(session) if trials is None else trials
    sitting = Sitting(
        protocol=protocol_of(session.version),
        lease=timedelta(minutes=session.experiment.lease_minutes),
        trials={trial.public_id: trial for trial in trials},
        ids=[trial.pk for trial in trials],
        reach=next((number for number, one in enumerate(trials) if not one.is_answered), len(trials)),
        screen=session.screen,
        lease_expires_at=session.lease_expires_at,
        kept_at=time.monotonic(),
    )
    sittings.keep(session.token, sitting)
