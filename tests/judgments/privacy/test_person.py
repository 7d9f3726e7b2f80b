"""One person's data: handed out on request, and forgotten on request."""

import json

import pytest
from django.core.management import CommandError, call_command

from experiments.models import AuditEntry
from judgments.models import Judgment, Participant, PlatformIdentity
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


def test_the_assessment_of_a_study_and_the_record_come_from_page_and_command(client, study, settings, capsys):
    settings.VAULT_DAYS, settings.BACKUP_KEEP = 45, 3
    study.questionnaire = [{"name": "age", "label": "How old are you?", "kind": "number"}]
    study.save()
    client.force_login(cast.cleo())
    assert client.get("/studies/agreement/data-protection.md").status_code == 404
    client.force_login(cast.ben())
    assert (
        "/studies/agreement/data-protection.md"
        in client.get("/studies/agreement/participants/").content.decode()
    )
    response = client.get("/studies/agreement/data-protection.md")
    text = response.content.decode()
    for words in (
        "How old are you?",
        "45 days after a study closes",
        "the newest 3 are kept",
        "[to fill in:",
        study.title,
    ):
        assert words in text, words
    assert "attachment" in response["Content-Disposition"]
    call_command("data_protection", "agreement")
    assert capsys.readouterr().out.strip() == text.strip()
    call_command("data_protection")
    assert capsys.readouterr().out.strip() == client.get("/privacy/record.md").content.decode().strip()
    assert "| Uploads that are not imported | 7 days |" in client.get("/privacy/record.md").content.decode()
    with pytest.raises(CommandError, match="no study"):
        call_command("data_protection", "none")
