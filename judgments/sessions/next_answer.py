"""The usual delivery: one answer to the next trial of a running session, stored by one statement.

What a session was given never changes (its trials, their sentences, its version), so this process keeps it
for a while. What may change is asked of the database by the statement that stores the answer: the lease runs
and is fresh, the participant is on this screen, every earlier trial is answered, this one and the next are
not. A lease that is due is renewed in the same transaction. Where one of these fails nothing is written, and
:mod:`judgments.sessions.deliver` takes over, which stores the same.
"""

from datetime import datetime
from functools import cache
from typing import Any

from django.db import transaction
from django.utils import timezone

from experiments.models import TrialKind
from judgments.models import Judgment
from judgments.sessions.columns import TABLES
from judgments.sessions.deliver import FRESH, Receipt
from judgments.sessions.finish import completed
from judgments.sessions.given import GivenTrial
from judgments.sessions.incoming import Incoming
from judgments.sessions.prepared import changed_rows
from judgments.sessions.record import judgment_columns, options_of, screen_after
from judgments.sessions.sittings import Sitting, sittings
from judgments.sessions.turns import in_turn
from judgments.tasks.base import BadResponse

COLUMNS = [field.column for field in Judgment._meta.concrete_fields if not field.primary_key]
STATEMENT = """
INSERT INTO {judgment} ({columns}) SELECT {marks}
FROM {trial} t JOIN {session} s ON s.id = t.session_id
WHERE t.id = %s AND s.id = %s AND (t.shown_at IS NULL) = %s
  AND s.status = 'active' AND s.screen = %s AND s.lease_expires_at >= %s
  AND NOT EXISTS (SELECT 1 FROM {judgment} n WHERE n.trial_id = %s){earlier}
ON CONFLICT DO NOTHING"""
EARLIER = """
  AND NOT EXISTS (SELECT 1 FROM {trial} e WHERE e.session_id = s.id AND e.position > %s AND e.position < %s
    AND NOT EXISTS (SELECT 1 FROM {judgment} j WHERE j.trial_id = e.id))"""
RENEWAL = """
UPDATE {session} SET lease_expires_at = %s, last_seen_at = %s, screen = %s
WHERE id = %s AND status = 'active' AND lease_expires_at >= %s""".format(**TABLES)


def store_next(token: str, row: Incoming) -> Receipt | None:
    """Store the next answer; None where it is not that simple, and nothing was written."""
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
    with in_turn():
        is_stored = _stored(columns, trial, sitting)
    if not is_stored:
        sittings.forget(token)
        return None
    sitting.reach = trial.position
    is_last = trial.position == len(sitting.ids)
    if is_last and not completed(trial.session_id, sitting.protocol):
        return None
    return Receipt(acknowledged=[row.trial], position=trial.position, is_complete=is_last)


def _stored(columns: dict[str, Any], trial: GivenTrial, sitting: Sitting) -> bool:
    """Whether the row is in the database, the lease renewed with it where that is due."""
    screen, now = screen_after(trial), timezone.now()
    if sitting.is_fresh(screen, now=now):
        return _insert(columns, trial, sitting, now=now)
    with transaction.atomic():
        if _renewed(trial.session_id, sitting, screen=screen, now=now):
            if _insert(columns, trial, sitting, now=now):
                return True
            transaction.set_rollback(True)
    return False


def _renewed(session_id: int, sitting: Sitting, *, screen: str, now: datetime) -> bool:
    end = now + sitting.lease
    if changed_rows(RENEWAL, [end, now, screen, session_id, now]) != 1:
        return False
    sitting.screen, sitting.lease_expires_at = screen, end
    return True


def _insert(columns: dict[str, Any], trial: GivenTrial, sitting: Sitting, *, now: datetime) -> bool:
    """Whether the statement found everything as it has to be, and stored the row."""
    follows = sitting.reach == trial.position - 1
    columns["trial_id"] = trial.pk
    conditions = [
        trial.pk,
        trial.session_id,
        trial.shown_at is None,
        screen_after(trial),
        now + sitting.lease - FRESH,
        sitting.ids[min(trial.position, len(sitting.ids) - 1)],  # the next trial: positions count from 1
        *(() if follows else (sitting.reach, trial.position)),
    ]
    values = [columns[name] for name in COLUMNS]
    return changed_rows(_statement(follows), [*values, *conditions]) == 1


@cache
def _statement(follows: bool) -> str:
    return STATEMENT.format(
        **TABLES,
        columns=", ".join(f'"{name}"' for name in COLUMNS),
        marks=", ".join(["%s"] * len(COLUMNS)),
        earlier="" if follows else EARLIER.format(**TABLES),
    )
