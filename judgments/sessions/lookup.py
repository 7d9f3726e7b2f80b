"""What a delivery of answers looks up: its session and the trials it names, in one query.

Storing an answer is the busiest thing the platform does, and building this query anew each time would cost
more than running it; so it is written out, once, in SQL that PostgreSQL and SQLite share.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.db import connection

from experiments.lifecycle import FROZEN_FIELDS
from experiments.models import Experiment, ExperimentVersion, MinimalPair
from judgments.models import Judgment, Session, Trial
from judgments.sessions.columns import TABLES, document, flag, moment
from judgments.sessions.compiled import Compiled
from judgments.sessions.prepared import named_rows

# A session with study and version. Texts come from the protocol; what else is left out is read if asked for.
whole_session = Compiled(
    lambda token: (
        Session.objects.select_related("experiment", "version")
        .defer("version__snapshot", *(f"experiment__{name}" for name in FROZEN_FIELDS))
        .filter(token=token)
    )
)

# LIMIT keeps PostgreSQL from working the inner query out again for every trial.
WITHOUT_TRIALS = """
WITH s AS (
  SELECT s.id, s.token, s.status, s.screen, s.lease_expires_at, s.last_seen_at, s.experiment_id, s.version_id,
    e.lease_minutes AS lease_minutes, v.sha256 AS version_sha256,
    (SELECT t.position FROM {trial} t
     WHERE t.session_id = s.id AND NOT EXISTS (SELECT 1 FROM {judgment} j WHERE j.trial_id = t.id){but_for}
     ORDER BY t.position LIMIT 1) AS waits_at
  FROM {session} s JOIN {experiment} e ON e.id = s.experiment_id
    JOIN {experimentversion} v ON v.id = s.version_id
  WHERE s.token = %s LIMIT 1)
SELECT s.*{columns} FROM s{joins}"""
COLUMNS = """, t.id AS trial_id, t.position AS trial_position, t.kind AS trial_kind, t.block AS trial_block,
  t.public_id AS trial_public_id, t.pair_id AS trial_pair_id, t.expected_first AS trial_expected_first,
  t.shown AS trial_shown, t.correct AS trial_correct, t.shown_at AS trial_shown_at,
  p.good_id AS pair_good_id, p.bad_id AS pair_bad_id,
  j.id AS known_id, j.response AS known_response, j.is_correct AS known_is_correct"""
READ = {"id", "token", "status", "screen", "lease_expires_at", "last_seen_at", "experiment_id", "version_id"}
OWN = [field.attname for field in Session._meta.concrete_fields if field.attname in READ]
JOINS = """ LEFT JOIN {trial} t ON t.session_id = s.id AND t.public_id IN ({marks})
  LEFT JOIN {judgment} j ON j.trial_id = t.id LEFT JOIN {minimalpair} p ON p.id = t.pair_id"""


@lru_cache(maxsize=512)
def _sql(n: int) -> str:
    marks = ", ".join(["%s"] * n)
    but_for = f" AND t.public_id NOT IN ({marks})" if n else ""
    joins = JOINS.format(**TABLES, marks=marks) if n else ""
    return WITHOUT_TRIALS.format(**TABLES, but_for=but_for, columns=COLUMNS if n else "", joins=joins)


def session_of(token: str, *, sent: Sequence[str] = ()) -> Session | None:
    """The session of a token.

    It has ``waits_at``, the first position that a delivery of ``sent`` leaves open, and ``named``: those
    of its trials that are sent, by public id, each with ``known``, the judgment it has already.
    """
    ids = list(dict.fromkeys(sent))
    rows = named_rows(_sql(len(ids)), [*ids, token, *ids])
    if not rows:
        return None
    first, db = rows[0], connection.alias
    first.lease_expires_at, first.last_seen_at = moment(first.lease_expires_at), moment(first.last_seen_at)
    session = Session.from_db(db, OWN, [getattr(first, name) for name in OWN])
    session.experiment = Experiment.from_db(
        db, ["id", "lease_minutes"], [first.experiment_id, first.lease_minutes]
    )
    session.version = ExperimentVersion.from_db(
        db, ["id", "sha256"], [first.version_id, first.version_sha256]
    )
    session.waits_at = first.waits_at
    session.named = {row.trial_public_id: _trial(row) for row in rows if ids and row.trial_id is not None}
    return session


def _trial(row: Any) -> Trial:
    """A trial from the columns beside its session's, with its pair and its judgment."""
    db = connection.alias
    values = {
        "id": row.trial_id,
        "session_id": row.id,
        "position": row.trial_position,
        "kind": row.trial_kind,
        "block": row.trial_block,
        "public_id": row.trial_public_id,
        "pair_id": row.trial_pair_id,
        "expected_first": flag(row.trial_expected_first),
        "shown": document(row.trial_shown),
        "correct": document(row.trial_correct),
        "shown_at": moment(row.trial_shown_at),
    }
    names = [field.attname for field in Trial._meta.concrete_fields if field.attname in values]
    trial = Trial.from_db(db, names, [values[name] for name in names])
    if trial.pair_id is not None:
        members = [trial.pair_id, row.pair_good_id, row.pair_bad_id]
        trial.pair = MinimalPair.from_db(db, ["id", "good_id", "bad_id"], members)
    trial.known = None
    if row.known_id is not None:
        known = [row.known_id, trial.pk, row.known_response, flag(row.known_is_correct)]
        trial.known = Judgment.from_db(db, ["id", "trial_id", "response", "is_correct"], known)
    return trial
