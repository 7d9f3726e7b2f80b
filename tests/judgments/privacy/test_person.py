"""One person's data: handed out on request, and forgotten on request."""

import json

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from experiments.models import AuditEntry, Campaign, PlatformAccount
from judgments.models import Judgment, Participant, PlatformIdentity, Session, SessionEvent, Submission
from tests import cast

pytestmark = pytest.mark.django_db
WHO = "5f0c1d2e3a4b5c6d7e8f9012"
PROVEN = {"recruiter": "prolific", "external_id": WHO}


@pytest.fixture
def study():
    experiment = cast.study("agreement")
    cast.sit(experiment, "pia", **PROVEN)
    cast.sit(experiment, "quentin", recruiter="prolific", external_id="another")
    return experiment


def names(study):
    return list(study.participants.order_by("pk").values_list("pseudonym", flat=True))


def test_forget_deletes_one_person_in_all_studies_by_platform_id(study, capsys):
    other = cast.study("other")
    cast.sit(other, "pia", **PROVEN)
    n_each = Judgment.objects.filter(trial__session__participant__pseudonym=names(study)[0]).count()
    call_command("forget", WHO, json=True)
    report = json.loads(capsys.readouterr().out)
    assert [(row["study"], row["judgments"]) for row in report["participants"]] == [
        ("agreement", n_each),
        ("other", n_each),
    ]
    assert [row.external_id for row in PlatformIdentity.objects.all()] == ["another"]
    assert Judgment.objects.count() == n_each
    with pytest.raises(CommandError, match="no participant"):
        call_command("forget", WHO)


def test_forget_by_pseudonym_after_the_answers_were_deleted_alone(study, client):
    client.force_login(cast.ada())
    person = study.participants.order_by("pk").first()
    client.post(f"/studies/agreement/participants/{person.pk}/erase/")
    assert PlatformIdentity.objects.filter(participant=person).exists()
    assert (
        f"/participants/{person.pk}/erase/" in client.get("/studies/agreement/participants/").content.decode()
    )
    call_command("forget", person.pseudonym, study="agreement")
    assert not PlatformIdentity.objects.filter(participant=person).exists()


def test_a_dry_run_and_an_ambiguous_name_delete_nothing(study):
    Participant.objects.create(experiment=study, pseudonym="twin")
    Participant.objects.create(experiment=cast.study("other"), pseudonym="twin")
    before = Judgment.objects.count()
    call_command("forget", WHO, dry_run=True)
    for name, study_name in (("twin", ""), ("", ""), (WHO, "none")):
        with pytest.raises(CommandError):
            call_command("forget", name, study=study_name)
    assert Judgment.objects.count() == before and PlatformIdentity.objects.count() == 2


def test_the_export_holds_answers_consent_and_id_and_no_secret(study, tmp_path):
    file = tmp_path / "person.json"
    call_command("export_person", WHO, to=str(file))
    document = json.loads(file.read_text())
    [data] = document["studies"]
    assert data["study"]["name"] == "agreement" and data["identity"]["external_id"] == WHO
    assert data["consents"][0]["given"] is True
    [session] = data["sessions"]
    assert len(session["answers"]) == 4
    assert all(answer["sentences"] and answer["judgment"]["response"] for answer in session["answers"])
    text = file.read_text()
    assert study.sessions.order_by("pk").first().token not in text and "another" not in text
    assert AuditEntry.objects.filter(action="data of a person exported").count() == 1
    with pytest.raises(CommandError, match="exists already"):
        call_command("export_person", WHO, to=str(file))


def test_an_editor_downloads_the_data_from_the_page_and_a_viewer_cannot(client, study):
    person = study.participants.order_by("pk").first()
    address = f"/studies/agreement/participants/{person.pk}/data.json"
    client.force_login(cast.ben())
    assert client.post(address).status_code == 403
    client.force_login(cast.cleo())
    assert client.post(address).status_code == 404
    client.force_login(cast.ada())
    assert client.get(address).status_code == 405
    response = client.post(address)
    assert response["Cache-Control"] == "no-store" and "attachment" in response["Content-Disposition"]
    assert response.json()["participant"]["pseudonym"] == person.pseudonym
    assert AuditEntry.objects.get(action="data of a person exported").user == cast.ada()


def test_the_page_deletes_answers_and_id(client, study):
    client.force_login(cast.ada())
    person = study.participants.order_by("pk").first()
    client.post(f"/studies/agreement/participants/{person.pk}/erase/", {"forget": "on"})
    assert not PlatformIdentity.objects.filter(participant=person).exists()
    assert not Judgment.objects.filter(trial__session__participant=person).exists()


def test_ids_are_found_by_editors_on_the_page_and_by_no_other_search(client, study):
    person, other = names(study)
    page = f"/studies/agreement/participants/?who={WHO}"
    client.force_login(cast.ada())
    html = client.get(page).content.decode()
    assert person in html and other not in html
    for user in (cast.ben(), cast.user("staff", is_staff=True)):
        client.force_login(user)
        assert person not in client.get(page).content.decode()
    client.force_login(cast.user("root", is_staff=True, is_superuser=True))
    assert person in client.get(page).content.decode()
    assert "0 results" in client.get(f"/admin/judgments/platformidentity/?q={WHO}").content.decode()


def test_the_record_of_processing_is_filled_from_the_settings(client, settings):
    settings.DATA_CONTROLLER, settings.VAULT_DAYS = "Example University, Linguistics", 45
    assert client.get("/privacy/record/").status_code == 302
    client.force_login(cast.cleo())
    page = client.get("/privacy/record/").content.decode()
    assert "Example University, Linguistics" in page and "45 days after a study closes" in page
    assert "DATA_PROTECTION_CONTACT" in page


@pytest.mark.parametrize(
    ("name", "content"),
    [("default", "uploaded files"), ("releases", "gold releases"), ("backups", "backups of the database")],
)
def test_the_record_names_the_operator_of_s3_with_what_is_stored_there(client, settings, name, content):
    client.force_login(cast.cleo())
    assert "the S3 storage" not in client.get("/privacy/record/").content.decode()
    on_s3 = {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": {"bucket_name": "b"}}
    settings.STORAGES = {**settings.STORAGES, name: on_s3}
    page = client.get("/privacy/record/").content.decode()
    assert f"The operator of the S3 storage: {content}" in page


def everything_stored(folder) -> dict[str, str]:
    """Every row of every table, and every file below a folder, as text."""
    texts = {
        model._meta.db_table: repr(list(model._base_manager.values_list())) for model in apps.get_models()
    }
    for model in (PlatformIdentity, PlatformAccount):  # encrypted columns are decrypted when they are read
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(model._meta.db_table)}")
            texts[model._meta.db_table] = repr(cursor.fetchall())
    files = (path for path in folder.rglob("*") if path.is_file())
    return texts | {path.name: path.read_bytes().decode(errors="replace") for path in files}


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
def noted(study, client, media):
    """Pia, of whom every part of the platform holds something."""
    person = study.participants.order_by("pk").first()
    session = person.sessions.get()
    address = f"/take/{study.public_slug or study.slug}/prolific/?PROLIFIC_PID={WHO}&STUDY_ID=1&SESSION_ID=99"
    client.get(address)
    client.force_login(cast.ada())
    Participant.objects.filter(pk=person.pk).update(background={"dialect": "BACKGROUND"})
    Session.objects.filter(pk=session.pk).update(user_agent="BROWSER", attributes={"label": "LABEL"})
    SessionEvent.objects.create(session=session, kind="closing", details={"comment": "COMMENT"})
    campaign = Campaign.objects.create(experiment=study, recruiter="prolific", name="c", currency="GBP")
    for decision in ("reject", ""):
        Submission.objects.create(
            campaign=campaign, external_id=f"submission{decision}", session=session if decision else None,
            decision=decision, category="x" if decision else "", message="MESSAGE" if decision else "",
            reason="DECISION" if decision else "", entered_code="CODE" if decision else "",
            data={"note": "DATA"} if decision else {}, last_seen_at=timezone.now(),
        )  # fmt: skip
    client.post(f"/studies/agreement/participants/{person.pk}/flag/", {"reason": "FLAGGED"})
    pay = {"decision": "not_paid", "reason": "PAYMENT", "key": "k1", "amount": "0", "currency": "GBP"}
    client.post(f"/studies/agreement/sessions/{session.pk}/pay/", pay)
    client.get("/studies/agreement/agreement.json")  # cached
    client.get(f"/studies/agreement/participants/?who={WHO}")
    return person


OF_PIA = ("BACKGROUND", "BROWSER", "LABEL", "COMMENT", "MESSAGE", "DECISION", "CODE", "DATA")
REMAINING = {  # as docs/how-to/privacy.md lists it
    "FLAGGED": {"experiments_auditentry"},
    "PAYMENT": {"judgments_payment", "experiments_auditentry"},
}


def test_the_platform_id_is_in_the_vault_only_and_encrypted_there(noted, media):
    assert [name for name, text in everything_stored(media).items() if WHO in text] == []
    assert PlatformIdentity.objects.get(participant=noted).external_id == WHO


def test_nothing_of_a_forgotten_person_is_in_any_table_or_file_but_what_is_documented(noted, media):
    before = everything_stored(media)
    for text in (*OF_PIA, *REMAINING):
        assert [name for name in before if text in before[name]], text
    call_command("forget", WHO)
    after = everything_stored(media)
    assert not PlatformIdentity.objects.filter(participant=noted).exists()
    assert [name for name in after if WHO in after[name]] == []
    for text in OF_PIA:
        assert [name for name in after if text in after[name]] == [], text
    for text, tables in REMAINING.items():
        assert {name for name in after if text in after[name]} <= tables, text


def test_the_export_holds_everything_that_is_stored_of_the_person(noted, tmp_path):
    file = tmp_path / "person.json"
    call_command("export_person", WHO, to=str(file))
    text = file.read_text()
    for written in (*OF_PIA, *REMAINING, WHO):
        assert written in text, written
    [data] = json.loads(text)["studies"]
    assert data["flags"][0]["reason"] == "FLAGGED" and data["participant"]["background"] == {
        "dialect": "BACKGROUND"
    }
    [session] = data["sessions"]
    assert session["payments"][0]["reason"] == "PAYMENT"
    assert "closing" in [event["kind"] for event in session["events"]]
    assert session["submissions"][0]["message"] == "MESSAGE"
