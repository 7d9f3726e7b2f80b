"""What a delivery of answers looks up: its session and its trials, one query each.

Storing an answer is the busiest thing the platform does, and building these two queries anew each time
would cost more than running them; so they are written out, once, in SQL that PostgreSQL and SQLite share.
"""

from collections.abc import Sequence
from functools import lru_cache

from experiments.models import Experiment, ExperimentVersion, MinimalPair
from judgments.models import Judgment, Session, Trial

TABLES = {
    model.__name__.lower(): f'"{model._meta.db_table}"'
    for model in (Session, Trial, Judgment, Experiment, ExperimentVersion, MinimalPair)
}
SESSION = """
SELECT s.id, s.token, s.status, s.screen, s.lease_expires_at, s.last_seen_at, s.experiment_id, s.version_id,
  e.lease_minutes AS lease_minutes, v.sha256 AS version_sha256,
  (SELECT t.position FROM {trial} t LEFT JOIN {judgment} j ON j.trial_id = t.id
   WHERE t.session_id = s.id AND j.id IS NULL{but_for} ORDER BY t.position LIMIT 1) AS waits_at
FROM {session} s JOIN {experiment} e ON e.id = s.experiment_id
  JOIN {experimentversion} v ON v.id = s.version_id
WHERE s.token = %s"""
NAMED = """
SELECT t.id, t.session_id, t.position, t.kind, t.block, t.public_id, t.sentence_id, t.pair_id,
  t.expected_first, t.shown, t.correct, t.shown_at, p.good_id AS good_id, p.bad_id AS bad_id,
  j.id AS known_id, j.response AS known_response, j.is_correct AS known_is_correct
FROM {trial} t LEFT JOIN {judgment} j ON j.trial_id = t.id LEFT JOIN {minimalpair} p ON p.id = t.pair_id
WHERE t.session_id = %s AND t.public_id IN ({marks})"""


@lru_cache(maxsize=512)
def _session_sql(n: int) -> str:
    but_for = f" AND t.public_id NOT IN ({_marks(n)})" if n else ""
    return SESSION.format(**TABLES, but_for=but_for)


@lru_cache(maxsize=512)
def _named_sql(n: int) -> str:
    return NAMED.format(**TABLES, marks=_marks(n))


def _marks(n: int) -> str:
    return ", ".join(["%s"] * n)


def session_of(token: str, *, sent: Sequence[str]) -> Session | None:
    """The session of a token, with ``waits_at``: the first position that this delivery leaves open."""
    found = list(Session.objects.raw(_session_sql(len(sent)), [*sent, token]))
    if not found:
        return None
    session = found[0]
    session.experiment = Experiment.from_db(
        session._state.db, ["id", "lease_minutes"], [session.experiment_id, session.lease_minutes]
    )
    session.version = ExperimentVersion.from_db(
        session._state.db, ["id", "sha256"], [session.version_id, session.version_sha256]
    )
    return session


def named_trials(session: Session, public_ids: Sequence[str]) -> dict[str, Trial]:
    """Trials of a session by their public ids, with ``known``: the judgment that one has already, if any."""
    if not public_ids:
        return {}
    rows = Trial.objects.raw(_named_sql(len(public_ids)), [session.pk, *public_ids])
    return {trial.public_id: _joined(trial) for trial in rows}


def _joined(trial: Trial) -> Trial:
    """Hang the joined columns up where the rest of the code looks for them."""
    db = trial._state.db
    if trial.pair_id is not None:
        trial.pair = MinimalPair.from_db(
            db, ["id", "good_id", "bad_id"], [trial.pair_id, trial.good_id, trial.bad_id]
        )
    trial.known = None
    if trial.known_id is not None:
        is_correct = None if trial.known_is_correct is None else bool(trial.known_is_correct)
        trial.known = Judgment.from_db(
            db,
            ["id", "trial_id", "response", "is_correct"],
            [trial.known_id, trial.pk, trial.known_response, is_correct],
        )
    return trial
