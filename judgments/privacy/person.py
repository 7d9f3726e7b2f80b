"""One person's data: found by pseudonym or platform id, given out, and forgotten."""

from typing import Any

from django.db.models import Model, Q
from django.forms.models import model_to_dict

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment
from judgments.models import (
    Consent,
    Flag,
    Judgment,
    Participant,
    Payment,
    PlatformIdentity,
    Session,
    SessionEvent,
    Signal,
    Submission,
    Trial,
)
from judgments.models.participant import identity_digests
from judgments.sessions.removal import erase

FORMAT = 1
ON_REQUEST = "deleted on request"
DELETED = "(deleted)"
Row = dict[str, Any]


def participants_named(name: str, *, study: str = "") -> list[Participant]:
    """The participants of one person: of a platform id in all studies, of a pseudonym in one study."""
    studies = Experiment.objects.filter(slug=study) if study else Experiment.objects.all()
    if study and not studies.exists():
        raise BadInput(f"there is no study {study!r}.")
    digests = [digest for pk in studies.values_list("pk", flat=True) for digest in identity_digests(pk, name)]
    rows = Participant.objects.filter(experiment__in=studies).select_related("experiment").order_by("pk")
    by_id = list(rows.filter(identity__external_digest__in=digests)) if name else []
    by_name = list(rows.filter(Q(pseudonym=name)))
    if by_id:
        return by_id + [row for row in by_name if study and row not in by_id]
    if not by_name:
        raise BadInput(f"there is no participant {name!r}{f' in {study}' if study else ''}.")
    if len(by_name) > 1:
        slugs = ", ".join(row.experiment.slug for row in by_name)
        raise BadInput(f"the pseudonym {name!r} occurs in {slugs}.", remedy="Name one with --study.")
    return by_name


def forget(participant: Participant, *, by: Any = None, reason: str = ON_REQUEST) -> int:
    """Delete a person's answers and platform id; returns the number of judgments.

    What remains is without answers: the pseudonym, the consent with its time, the states and pay of sessions,
    the number and decision of a submission, and what the history says of decisions.
    """
    n_judgments = erase(participant, reason=reason, by=by, delete_identity=True)
    submissions = Submission.objects.filter(session__participant=participant)
    # A rejection needs a message by a constraint of the database.
    is_rejected = Q(decision=Submission.Decision.REJECT)
    submissions.filter(is_rejected).update(message=DELETED)
    submissions.exclude(is_rejected).update(message="")
    submissions.update(entered_code="", data={}, mismatches=[], reason="")
    return n_judgments


def export_person(participant: Participant, *, by: Any = None) -> Row:
    """All that is stored of one person in a study, as plain values; the history records the export."""
    sessions = Session.objects.filter(participant=participant).select_related("list", "campaign")
    document = {
        "format": FORMAT,
        "study": {"name": participant.experiment.slug, "title": participant.experiment.shown_title},
        "participant": _values(participant),
        "identity": _identity(participant),
        "consents": _rows(Consent.objects.filter(participant=participant)),
        "flags": _rows(Flag.objects.filter(participant=participant)),
        "sessions": [_session(session) for session in sessions],
    }
    AuditEntry.objects.create(
        experiment=participant.experiment,
        user=by,
        action="data of a person exported",
        details={"participant": participant.pseudonym},
    )
    return document


def _identity(participant: Participant) -> Row | None:
    identity = PlatformIdentity.objects.filter(participant=participant).first()
    return _values(identity, "external_digest") if identity else None


def _session(session: Session) -> Row:
    trials = Trial.objects.filter(session=session).select_related("sentence", "pair__good", "pair__bad")
    return {
        **_values(session, "token"),
        "list": session.list.label if session.list else "",
        "campaign": session.campaign.name if session.campaign else "",
        "answers": [_answer(trial) for trial in trials.order_by("position")],
        "events": _rows(SessionEvent.objects.filter(session=session)),
        "signals": _rows(Signal.objects.filter(session=session)),
        "payments": _rows(Payment.objects.filter(session=session), "idempotency_key"),
        "submissions": _rows(Submission.objects.filter(session=session)),
    }


def _answer(trial: Trial) -> Row:
    texts = [trial.sentence.text] if trial.sentence else []
    texts = [trial.pair.good.text, trial.pair.bad.text] if trial.pair else texts
    judgment = Judgment.objects.filter(trial=trial).first()
    return {
        "position": trial.position,
        "kind": trial.kind,
        "shown": trial.shown,
        "sentences": texts,
        "shown_at": trial.shown_at,
        "judgment": _values(judgment, "trial", "chosen") if judgment else None,
    }


def _rows(rows: Any, *hidden: str) -> list[Row]:
    return [_values(row, *hidden) for row in rows]


def _values(row: Model, *hidden: str) -> Row:
    """Every field of a row but references to other rows, times set by the database included."""
    related = {field.name for field in row._meta.concrete_fields if field.is_relation}
    names = [field.name for field in row._meta.concrete_fields if field.name not in related | {"id", *hidden}]
    editable = model_to_dict(row, fields=names)
    return {name: editable.get(name, getattr(row, name)) for name in names}
