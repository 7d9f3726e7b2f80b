"""One person's data: found by pseudonym or platform id, given out, and forgotten."""

from typing import Any

from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.forms.models import model_to_dict

from analysis.errors import BadInput
from experiments.models import AuditEntry, Campaign, Experiment
from experiments.models.team import DELETED_TEXT, AuditQuerySet
from judgments.models import (
    Consent,
    Flag,
    Judgment,
    Participant,
    Payment,
    PlatformCall,
    PlatformIdentity,
    Session,
    SessionEvent,
    Signal,
    Submission,
    Trial,
)
from judgments.models.participant import identity_digests, participant_forgotten
from judgments.recruitment import decisions, ledger
from judgments.sessions.removal import ANSWERS_DELETED, ON_REQUEST, erase

FORMAT = 2
Row = dict[str, Any]
#: What a call needs to be sent, or settled, for the other submissions that it carries.
SHARED_ARGUMENTS = ("bonuses", "prepared_id", "paid_before", "expected_bonuses")
SHARED_RESPONSES = ("external_id", "amount_minor", "fee_minor", "paid_before", "code", "ends_batch")


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


@transaction.atomic
def forget(participant: Participant, *, by: Any = None, reason: str = ON_REQUEST) -> int:
    """Delete a person's answers, platform id and all texts to and about them; return the number of judgments.

    Retained: the pseudonym, the consent with its time, the states and pay of sessions, the number and
    decision of a submission, and who decided what and when, without the reasons. Decisions that were not
    sent and need a text are undone.
    """
    submissions = Submission.objects.filter(session__participant=participant)
    _cancel_texts(submissions, by=by)
    n_judgments = erase(participant, reason=reason, by=by, delete_identity=True)
    history(participant).exclude(action=ANSWERS_DELETED).delete_texts()
    for call in platform_calls(participant):
        _delete_call_texts(call, participant)
    # A rejection and a decision not to pay need a text by constraints of the database.
    is_rejected = Q(decision=Submission.Decision.REJECT)
    submissions.filter(is_rejected).update(message=DELETED_TEXT)
    submissions.exclude(is_rejected).update(message="")
    submissions.update(entered_code="", data={}, mismatches=[], reason="")
    Payment.objects.filter(session__participant=participant).exclude(reason="").update(reason=DELETED_TEXT)
    participant_forgotten.send(Participant, participant=participant)
    return n_judgments


def _cancel_texts(submissions: QuerySet[Submission], *, by: Any) -> None:
    """Undo rejections and requests to return, and cancel messages, that were not sent."""
    with_text = submissions.filter(
        decision__in=[Submission.Decision.REJECT, Submission.Decision.REQUEST_RETURN]
    )
    for campaign in Campaign.objects.filter(submissions__in=with_text).distinct():
        decisions.undo(campaign, with_text, by=by)
    ledger.cancel(PlatformCall.objects.filter(submission__in=submissions, kind=PlatformCall.Kind.MESSAGE))


def platform_calls(participant: Participant) -> QuerySet[PlatformCall]:
    """Calls about one person's submissions, and those that pay them, which may pay others too."""
    about = Q(submission__session__participant=participant)
    paying = Q(payments__session__participant=participant)
    return PlatformCall.objects.filter(about | paying).select_related("submission").distinct().order_by("pk")


def _delete_call_texts(call: PlatformCall, participant: Participant) -> None:
    """Delete the texts of a call; a shared call keeps those of the other participants."""
    request = {name: call.request[name] for name in SHARED_ARGUMENTS if name in call.request}
    submission_ids = _submission_ids(participant)
    for row in request.get("bonuses", []):
        if row["submission"] in submission_ids:
            row["reason"] = decisions.BONUS_REASON
    call.request = request
    call.response = {name: call.response[name] for name in SHARED_RESPONSES if name in call.response}
    call.problem = DELETED_TEXT if call.problem else ""
    call.save(update_fields=["request", "response", "problem"])


def _submission_ids(participant: Participant) -> set[str]:
    rows = Submission.objects.filter(session__participant=participant)
    return {*rows.values_list("external_id", flat=True)}


def history(participant: Participant) -> AuditQuerySet:
    """Entries of the study's history about one person: by pseudonym, session, submission or platform call."""
    names = {
        "session": participant.sessions.values_list("pk", flat=True),
        "submission": Submission.objects.filter(session__participant=participant).values_list(
            "pk", flat=True
        ),
        "call": platform_calls(participant).values_list("pk", flat=True),
    }
    about = Q(details__participant=participant.pseudonym)
    for name, pks in names.items():
        about |= Q(**{f"details__{name}__in": list(pks)})
    return AuditEntry.objects.filter(about, experiment=participant.experiment)


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
        "platform_calls": [_platform_call(call, participant) for call in platform_calls(participant)],
        "history": _rows(history(participant)),
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
        "exclusions": _rows(session.exclusions.all()),
    }


def _platform_call(call: PlatformCall, participant: Participant) -> Row:
    """Values of a call, without what it holds of other participants."""
    submission_ids = _submission_ids(participant)
    bonuses = [row for row in call.request.get("bonuses", []) if row["submission"] in submission_ids]
    row = _values(call, "key", "amount_minor", "fee_minor") if bonuses else _values(call, "key")
    for name in ("request", "response"):
        values = {**row[name], **({"bonuses": bonuses} if "bonuses" in row[name] else {})}
        for sums in {"paid_before", "expected_bonuses"} & set(values):
            values[sums] = {key: value for key, value in values[sums].items() if key in submission_ids}
        row[name] = values
    return row


def _answer(trial: Trial) -> Row:
    texts = [trial.sentence.text] if trial.sentence else []
    texts = [trial.pair.good.text, trial.pair.bad.text] if trial.pair else texts
    judgment = Judgment.objects.filter(trial=trial).first()
    return {
        **_values(trial),
        "sentences": texts,
        "judgment": _values(judgment) if judgment else None,
    }


def _rows(rows: Any, *hidden: str) -> list[Row]:
    return [_values(row, *hidden) for row in rows]


def _values(row: Model, *hidden: str) -> Row:
    """Every field of a row but references to other rows, times set by the database included."""
    related = {field.name for field in row._meta.concrete_fields if field.is_relation}
    names = [field.name for field in row._meta.concrete_fields if field.name not in related | {"id", *hidden}]
    editable = model_to_dict(row, fields=names)
    return {name: editable.get(name, getattr(row, name)) for name in names}
