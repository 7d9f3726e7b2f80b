"""Erasure: every text of every table that belongs to a participant is exported, and then deleted."""

import itertools
import json
import pickle

import pytest
from django.apps import apps
from django.core.cache import caches
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, models
from django.utils import timezone

from experiments.models import AuditEntry, PlatformAccount
from judgments.flags import raise_flag
from judgments.models import Participant, PlatformCall, PlatformIdentity, Signal, Submission
from judgments.privacy.person import export_person, forget
from judgments.recruitment import decisions, ledger, payments
from releases.models import Exclusion, ExclusionPlan
from releases.reports import judgment_cache
from tests import cast
from tools.doubles.memory import MemoryRecruiter, Platform

pytestmark = pytest.mark.django_db
WHO = "5f0c1d2e3a4b5c6d7e8f9012"
#: What docs/how-to/privacy.md names as retained, or what holds no words: keys, digests, states, choices.
RETAINED = {
    "Participant": {"pseudonym"},
    "Consent": {"text_sha256", "statements"},
    "Session": {
        "token", "status", "screen", "completion_code", "external_id", "submission_status",
    },
    "Submission": {"external_id", "status", "platform_status", "decision", "category"},
    "Payment": {"kind", "currency", "idempotency_key"},
    "PlatformCall": {"kind", "key", "state", "currency", "external_id"},
    "Exclusion": {"step"},
}  # fmt: skip
#: Deleted and not exported: what only the platform's own programs can read.
NOT_EXPORTED = {("PlatformIdentity", "external_digest")}
#: Texts that hold one of a few words, by a constraint of the database, and go with their rows.
WORDS = {("Trial", "kind"), ("Judgment", "status")}


def rows_by_model(model, rows, found=None):
    """The rows that belong to a person, of every table that points to them, directly or through others."""
    found = {} if found is None else found
    new = set(rows) - found.setdefault(model, set())
    found[model] |= new
    for relation in model._meta.related_objects if new else ():
        target = relation.related_model
        if not target._meta.auto_created:
            of_new = target._base_manager.filter(**{f"{relation.field.name}__in": new})
            rows_by_model(target, of_new.values_list("pk", flat=True), found)
    return found


def text_columns(model):
    """Columns with texts or JSON, other than those with an answer of a fixed set."""
    kinds = models.CharField, models.TextField, models.JSONField, models.BinaryField
    return [
        column
        for column in model._meta.concrete_fields
        if isinstance(column, kinds)
        and column.name not in RETAINED.get(model.__name__, ())
        and (model.__name__, column.name) not in WORDS
    ]


def fill(person):
    """Write a mark of its own into every text of a person; returns the marks by table and column."""
    marks, numbers = {}, itertools.count(100)
    for model, rows in rows_by_model(Participant, [person.pk]).items():
        assert rows, f"the person has no row of {model.__name__}: add one to the fixture"
        for column in text_columns(model):
            for row in model._base_manager.filter(pk__in=rows):
                mark = f"Zq{next(numbers)}"
                marks.setdefault((model.__name__, column.name), []).append(mark)
                value = getattr(row, column.name)
                if isinstance(column, models.JSONField) or isinstance(value, (dict, list)):
                    words = {"reason": mark, "message": mark, "note": mark, "text": mark}
                    value = {**value, **words} if isinstance(value, dict) else [words]
                else:
                    value = mark
                model._base_manager.filter(pk=row.pk).update(**{column.name: value})
    return marks


def everything_stored(folder) -> dict[str, str]:
    """Every row of every table, every file, and what the process keeps in memory, as text."""
    texts = {
        model._meta.db_table: repr(list(model._base_manager.values_list())) for model in apps.get_models()
    }
    for model in (PlatformIdentity, PlatformAccount):  # encrypted columns are decrypted when they are read
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(model._meta.db_table)}")
            texts[model._meta.db_table] = repr(cursor.fetchall())
    for path in folder.rglob("*"):
        if path.is_file():
            texts[str(path.relative_to(folder))] = path.read_bytes().decode(errors="replace")
    texts["cache of pages"] = repr([pickle.loads(value) for value in caches["pages"]._cache.values()])
    frames = [frame.to_json() for frame, _ in judgment_cache.FRAMES.frames.values()]
    return texts | {"frames in memory": "".join(frames)}


def places_with(texts, folder):
    """Places that hold one of the texts."""
    return {
        (text, place)
        for place, stored in everything_stored(folder).items()
        for text in texts
        if text in stored
    }


@pytest.fixture
def media(tmp_path, settings):
    """Folders of uploads and releases of the test's own."""
    files = "django.core.files.storage.FileSystemStorage"
    folders = {
        name: {"BACKEND": files, "OPTIONS": {"location": tmp_path / name}} for name in ("default", "releases")
    }
    settings.STORAGES = {**settings.STORAGES, **folders}
    return tmp_path


@pytest.fixture
def campaign(monkeypatch, media):
    """Pia and Quentin, of whom every part of the platform holds something."""
    recruiter = MemoryRecruiter(Platform())
    monkeypatch.setattr("judgments.recruitment.decisions.get_recruiter", lambda _: recruiter)
    study = cast.study("agreement", reward_minor=100)
    campaign = study.campaigns.create(name="run", recruiter="memory", reward_minor=100, state="running")
    for name, external_id in (("pia", WHO), ("quentin", "another")):
        session = cast.sit(study, name, recruiter="prolific", external_id=external_id)
        session.events.create(kind="blur")
        Signal.objects.create(session=session, name="speed", version=1, value=1.0, reason="fast")
        Submission.objects.create(
            campaign=campaign, external_id=f"s-{name}", session=session, last_seen_at=timezone.now(),
            status="submitted",
        )  # fmt: skip
        raise_flag(session.participant, f"Zq flag of {name}", by=cast.ada())
        payments.give_bonus(
            session, amount_minor=50, currency="GBP", reason=f"Zq bonus of {name}", key="k", by=cast.ada()
        )
        plan, _ = ExclusionPlan.objects.get_or_create(experiment=study, name="strict", version=1)
        Exclusion.objects.create(plan=plan, session=session, step="flagged", reason="flagged")
    return campaign


@pytest.fixture
def pia(campaign):
    return Participant.objects.get(sessions__submission__external_id="s-pia")


def sent(call, *, state="confirmed"):
    """The call as it is after it was sent."""
    PlatformCall.objects.filter(pk=call.pk).update(state=state, sent_at=timezone.now())
    call.refresh_from_db()
    return call


@pytest.fixture
def calls(campaign, pia):
    """A bonus call that pays both, a message, and a rejection, all sent."""
    submission = pia.sessions.get().submission
    decisions.plan_sending(campaign, by=cast.ada())
    sent(PlatformCall.objects.get())
    text = {"text": "Zq dear Pia"}
    sent(ledger.plan(campaign, "message", key="m", by=None, submission=submission, request=text))
    return PlatformCall.objects.all()


def visit(client):
    """Open pages whose results are cached or stored in files, and search for the id."""
    client.force_login(cast.ada())
    for page in ("agreement.json", "items.json", "exclusions.json", "reliability.json", "effects.json",
                 "multiverse.json", "judgments/", f"participants/?who={WHO}"):  # fmt: skip
        assert client.get(f"/studies/agreement/{page}").status_code == 200, page


def test_every_text_of_a_person_is_exported_and_then_deleted(
    pia, calls, media, client, django_capture_on_commit_callbacks
):
    rejected = pia.sessions.get().submission
    decisions.reject(
        rejected.campaign, Submission.objects.filter(pk=rejected.pk), category="LOW_EFFORT",
        message="Zq rejected: every answer within half a second", by=cast.ada(), reason="Zq for the team",
    )  # fmt: skip
    call = ledger.plan(rejected.campaign, "reject", key="r", by=None, submission=rejected)
    ledger.settle(sent(call, state="unknown"), took_effect=True, note="Zq seen there", by=cast.ada())
    visit(client)
    marks = fill(pia)
    pia.refresh_from_db()
    of_quentin = ("Zq bonus of quentin", "Zq flag of quentin")
    judgment_cache.FRAMES.frames.clear()
    caches["pages"].clear()
    visit(client)
    all_marks = {mark for column in marks.values() for mark in column}
    written = ("Zq rejected", "Zq for the team", "Zq flag of pia", "Zq bonus of pia", "Zq seen there")
    before = places_with({*all_marks, *written, WHO}, media)
    assert {text for text, _ in before} == {*all_marks, *written} - {
        mark for column in ("external_id", "parameters") for mark in marks["PlatformIdentity", column]
    }, "each is stored, and in the vault encrypted"

    assert "frames in memory" in {place for _, place in before}
    reports = {*media.glob("default/reports/*/*")}

    exported = json.dumps(export_person(pia), cls=DjangoJSONEncoder)
    for column in marks.keys() - NOT_EXPORTED:
        assert all(mark in exported for mark in marks[column]), column
    assert all(text in exported for text in written) and "quentin" not in exported

    with django_capture_on_commit_callbacks(execute=True):
        forget(pia)
    assert reports and not any(path.exists() for path in reports)
    visit(client)
    left = places_with({*all_marks, *written, WHO}, media)
    names = {mark: column for column, of_column in marks.items() for mark in of_column}
    assert {(names.get(text, text), place) for text, place in left} == set()
    assert {text for text, _ in places_with(of_quentin, media)} == set(of_quentin)
    [shared] = [row for row in calls.all() if row.payments.count() == 2]
    assert [row["reason"] for row in shared.request["bonuses"]] == [
        decisions.BONUS_REASON, "Zq bonus of quentin",
    ]  # fmt: skip


def test_what_was_not_sent_is_undone_or_cancelled_before_its_text_is_deleted(pia, campaign, media):
    submission = pia.sessions.get().submission
    decisions.request_return(
        campaign, Submission.objects.filter(pk=submission.pk), message="Zq please", by=cast.ada()
    )
    decisions.plan_sending(campaign, by=cast.ada())
    ledger.plan(campaign, "message", key="m", by=None, submission=submission, request={"text": "Zq dear"})
    forget(pia)
    submission.refresh_from_db()
    assert submission.decision == ""
    kinds = ("request_return", "message")
    assert {*PlatformCall.objects.filter(kind__in=kinds).values_list("state", flat=True)} == {"cancelled"}
    assert places_with(("Zq please", "Zq dear"), media) == set()
    assert AuditEntry.objects.filter(action="decision on a submission undone").count() == 1
