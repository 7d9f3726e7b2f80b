"""The usual delivery: one answer to the next trial of a running session, stored by one statement.

What a session was given never changes (its trials, their sentences, its version), so this process keeps it
for a while. What may change is asked of the database by the statement that stores the answer: the lease runs
and is fresh, the participant is on this screen, every earlier trial is answered, this one and the next are
not. A lease that is due is renewed with it, and the last answer completes the session. Where one of these
fails, :mod:`judgments.sessions.deliver` takes over, which stores the same.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from experiments.models import TrialKind
from judgments.models import Judgment
from judgments.sessions.columns import TABLES
from judgments.sessions.deliver import FRESH, Receipt
from judgments.sessions.finish import COMPLETION, completed, completion
from judgments.sessions.given import GivenTrial
from judgments.sessions.incoming import Incoming
from judgments.sessions.prepared import changed_rows
from judgments.sessions.record import judgment_columns, options_of, screen_after
from judgments.sessions.sittings import Sitting, sittings
from judgments.sessions.turns import in_turn
from judgments.tasks.base import BadResponse

COLUMNS = [field.column for field in Judgment._meta.concrete_fields if not field.primary_key]
ROW = f"INSERT INTO {{judgment}} ({', '.join(COLUMNS)}) SELECT {', '.join(['%s'] * len(COLUMNS))}"
FITS = """
FROM {trial} t JOIN {session} s ON s.id = t.session_id
WHERE t.id = %s AND s.id = %s AND (t.shown_at IS NULL) = %s
  AND NOT EXISTS (SELECT 1 FROM {judgment} n WHERE n.trial_id = %s)"""
EARLIER = """
  AND NOT EXISTS (SELECT 1 FROM {trial} e WHERE e.session_id = s.id AND e.position > %s AND e.position < %s
    AND NOT EXISTS (SELECT 1 FROM {judgment} j WHERE j.trial_id = e.id))"""
HERE = """
  AND s.status = 'active' AND s.screen = %s AND s.lease_expires_at >= %s"""
ONCE = """
ON CONFLICT DO NOTHING"""
RENEWAL = """
UPDATE {session} SET lease_expires_at = %s, last_seen_at = %s, screen = %s
WHERE id = %s AND status = 'active' AND lease_expires_at >= %s"""


def store_next(token: str, row: Incoming) -> Receipt | None:
    """Store the next answer; None where it is not that simple, and a delivery has to be sorted out."""
    sitting = sittings.get(token)
    trial = sitting.trials.get(row.trial) if sitting else None
    if sitting is None or trial is None or row.events:
        return None
    if trial.kind == TrialKind.PRACTICE or trial.position <= sitting.reach:
        return None
    try:
        answer = sitting.protocol.task.parse(
            row.delivery.response, sitting.protocol.settings, options=options_of(trial)
        )
    except BadResponse:
        return None
    columns = judgment_columns(trial, answer, row.delivery, protocol=sitting.protocol)
    storing = _Storing(columns, trial, sitting)
    with in_turn():
        is_stored = storing.run()
    if not is_stored:
        sittings.forget(token)
        return None
    sitting.reach = trial.position
    return Receipt(acknowledged=[row.trial], position=trial.position, is_complete=storing.is_last)


class _Storing:
    """Stores one answer, renews the lease where that is due, completes the session with its last answer."""

    def __init__(self, columns: dict[str, Any], trial: GivenTrial, sitting: Sitting) -> None:
        self.trial, self.sitting, now = trial, sitting, timezone.now()
        screen, n_trials = screen_after(trial), len(sitting.ids)
        self.is_due = not sitting.is_fresh(screen, now=now)
        self.is_last = trial.position == n_trials
        self.row = [trial.pk if name == "trial_id" else columns[name] for name in COLUMNS]
        next_one = sitting.ids[min(trial.position, n_trials - 1)]  # positions count from 1
        self.follows = sitting.reach == trial.position - 1
        between = () if self.follows else (sitting.reach, trial.position)
        self.fits = [trial.pk, trial.session_id, trial.shown_at is None, next_one, *between]
        self.here = [screen, now + sitting.lease - FRESH]
        self.renewal = [now + sitting.lease, now, screen, trial.session_id, now]

    def run(self) -> bool:
        """Whether everything was as it has to be, and is stored now."""
        if not self.is_due and not self.is_last:
            return self._does("insert", self.row, self.fits, self.here)
        if self.is_due and self.is_last or connection.vendor != "postgresql":
            return self._one_after_the_other()
        if self.is_due:
            return self._does("renew and insert", self.fits, self.renewal, self.row) and self._is_renewed()
        end = completion(self.trial.session_id, self.sitting.protocol)
        return self._does("insert and complete", self.row, self.fits, self.here, end, [self.trial.pk])

    def _one_after_the_other(self) -> bool:
        with transaction.atomic():
            if not self.is_due or (self._does("renew", self.renewal) and self._is_renewed()):
                is_stored = self._does("insert", self.row, self.fits, self.here)
                if is_stored and (
                    not self.is_last or completed(self.trial.session_id, self.sitting.protocol)
                ):
                    return True
            transaction.set_rollback(True)
        return False

    def _is_renewed(self) -> bool:
        self.sitting.lease_expires_at, _, self.sitting.screen = self.renewal[:3]
        return True

    def _does(self, statement: str, *values: Sequence[Any]) -> bool:
        sql = _statements(self.follows)[statement]
        return changed_rows(sql, [one for some in values for one in some]) == 1


@cache
def _statements(follows: bool) -> dict[str, str]:
    """The statements for an answer that follows the one known last, or may have others before it."""
    fits = FITS if follows else FITS + EARLIER
    written = {
        "insert": ROW + fits + HERE + ONCE,
        "renew": RENEWAL,
        "renew and insert": f"WITH fits AS (SELECT t.id {fits} AND s.status = 'active'), renewed AS "
        f"({RENEWAL} AND EXISTS (SELECT 1 FROM fits) RETURNING id)\n{ROW} FROM renewed{ONCE}",
        "insert and complete": f"WITH stored AS ({ROW}{fits}{HERE}{ONCE} RETURNING id)"
        f"{COMPLETION} AND t.id <> %s) AND EXISTS (SELECT 1 FROM stored)",
    }
    return {name: sql.format(**TABLES) for name, sql in written.items()}
