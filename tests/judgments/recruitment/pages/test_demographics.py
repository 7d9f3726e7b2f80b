"""Prolific's demographic export: joined to pseudonyms, usable in exports, and no id outside the vault."""

import csv
import io
import json
import re

import pytest
from django.apps import apps
from django.core import serializers
from django.core.files.uploadedfile import SimpleUploadedFile

from experiments.models import AuditEntry
from judgments.models import Participant, PlatformIdentity, Submission
from releases.gold.describe import published_questions
from tests import cast
from tests.judgments.recruitment.pages.conftest import STUDY

pytestmark = pytest.mark.django_db
HEADER = "Submission id,Participant id,Status,Started at,Completion code,Age,Sex,Fluent languages"


@pytest.fixture
def page(campaign):
    """The address of the page."""
    return f"{STUDY}{campaign.pk}/demographics/"


@pytest.fixture
def people(arrive):
    """Three submissions with their participants' ids."""
    return [(row, row.session.participant.identity.external_id) for row in (arrive(), arrive(), arrive())]


def export(*lines):
    text = "\n".join([HEADER, *lines, ""])
    return SimpleUploadedFile("prolific_demographic_export.csv", text.encode("utf-8-sig"), "text/csv")


def line(row, person, age, sex="Female", languages='"English, German"'):
    return f"{row.external_id},{person},APPROVED,2026-11-20 10:00,C0DE,{age},{sex},{languages}"


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def sealed(response):
    return re.search(r'name="joined" value="([^"]+)"', response.content.decode())[1]


def upload(browser, page, *lines):
    return browser.post(page, {"file": export(*lines)})


def places_of(text):
    """The models whose rows hold a text."""
    return {
        model._meta.label
        for model in apps.get_models()
        if text in serializers.serialize("json", model._default_manager.all())
    }


def test_answers_are_previewed_then_stored_under_pseudonyms(ada, page, people):
    (one, one_id), (two, two_id), (three, three_id) = people
    lines = [
        line(one, one_id, "31"),
        line(two, two_id, "DATA_EXPIRED"),
        line(three, one_id, "44"),  # the submission of another person
        f"{'0' * 24},{'9' * 24},APPROVED,2026-11-20 10:00,C0DE,52,Male,English",
    ]
    preview = upload(ada, page, *lines)
    shown = text_of(preview)
    assert "2 participants of 4 rows" in shown and "1 row without a session here" in shown
    assert "belongs to another person here" in shown and "1 answer that Prolific withholds" in shown
    assert "English, German (2)" in shown
    assert not Participant.objects.exclude(background={}).exists()
    form = {
        "joined": sealed(preview),
        "column": ["prolific_age", "prolific_sex"],
        "published": ["prolific_sex"],
    }
    assert "Stored with 2 participants" in text_of(ada.post(page, form, follow=True))
    first, second, third = (row.session.participant for row, _ in people)
    for person in (first, second, third):
        person.refresh_from_db()
    assert first.background == {"prolific_age": "31", "prolific_sex": "Female"}
    assert (second.background, third.background) == ({"prolific_sex": "Female"}, {})
    assert published_questions(first.experiment) == ["prolific_sex"]
    file = b"".join(ada.get("/studies/agreement/participants.csv").streaming_content).decode()
    ages = {row["participant"]: row["background_prolific_age"] for row in csv.DictReader(io.StringIO(file))}
    assert ages == {first.pseudonym: "31", second.pseudonym: "", third.pseudonym: ""}


def test_an_upload_again_replaces_its_columns_and_keeps_the_questionnaire(ada, page, people):
    (row, person), *_ = people
    Participant.objects.filter(pk=row.session.participant_id).update(background={"dialect": "Scots"})
    for age in ("31", "32"):
        form = {"joined": sealed(upload(ada, page, line(row, person, age))), "column": "prolific_age"}
        ada.post(page, form)
    participant = Participant.objects.get(pk=row.session.participant_id)
    assert participant.background == {"dialect": "Scots", "prolific_age": "32"}


def test_ids_of_the_platform_are_in_the_vault_and_with_their_submission_only(ada, page, people, campaign):
    (row, person), *_ = people
    before = places_of(person)
    note = f"I am {person}"  # an id in a column of answers
    preview = upload(ada, page, line(row, person, "31", languages=note))
    assert person not in preview.content.decode() and row.external_id not in preview.content.decode()
    form = {"joined": sealed(preview), "column": ["prolific_age", "prolific_fluent_languages"]}
    ada.post(page, form)
    assert Participant.objects.get(pk=row.session.participant_id).background == {"prolific_age": "31"}
    assert places_of(person) == before == {PlatformIdentity._meta.label}
    assert Submission._meta.label in places_of(row.external_id)
    entry = AuditEntry.objects.get(action="campaign: demographics stored")
    assert entry.details == {
        "campaign": campaign.name,
        "columns": ["prolific_age", "prolific_fluent_languages"],
        "participants": 1,
    }
    for name in ("participants.csv", "mturk-batch.csv"):
        response = ada.get(f"/studies/agreement/{name}")
        content = b"".join(response.streaming_content).decode()
        assert person not in content and row.external_id not in content, name


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"Age,Sex\n31,Female\n", "neither a column “Submission id” nor “Participant id”"),
        (b"Submission id,Age\n", "has no rows"),
        (b"Submission id,Age\nx\n", "Row 2 has 1 cells"),
        (b"Submission id,Age\n\xff,3\n", "not UTF-8"),
        (b"Submission id,Status\nx,APPROVED\n", "no column with answers"),
    ],
)
def test_a_file_that_is_no_export_says_why_and_stores_nothing(ada, page, people, content, words):
    response = ada.post(page, {"file": SimpleUploadedFile("x.csv", content, "text/csv")})
    assert response.status_code == 422
    assert words in text_of(response)


def test_a_preview_of_another_campaign_or_without_a_signature_stores_nothing(ada, page, people):
    (row, person), *_ = people
    seal = sealed(upload(ada, page, line(row, person, "31")))
    forged = json.dumps({"campaign": row.campaign_id, "labels": {}, "answers": {}})
    for text in (seal[:-2] + "xx", forged):
        ada.post(page, {"joined": text, "column": "prolific_age"})
    assert not Participant.objects.exclude(background={}).exists()


def test_viewers_upload_nothing_and_strangers_find_nothing(client, page, people):
    for person, status in ((cast.ben(), 403), (cast.cleo(), 404)):
        client.force_login(person)
        assert client.get(page).status_code == status
        assert client.post(page, {"file": export()}).status_code == status
