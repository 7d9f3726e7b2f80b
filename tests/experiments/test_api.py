"""Studies, materials and jobs over REST."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from experiments.api.serializers import StudySerializer
from experiments.models import Experiment, Job
from experiments.pages.settings import SettingsForm
from tests import cast

pytestmark = pytest.mark.django_db
PAIR = {"options": [{"text": "She sleeps."}, {"text": "She sleep."}], "correct": 0}


@pytest.fixture
def api():
    return APIClient()


def as_(api, user):
    api.force_authenticate(user)
    return api


def test_stranger_without_token_is_asked_for_one(api):
    answer = api.get("/api/v1/studies/")
    assert answer.status_code == 401
    assert answer.json()["code"] == "not_authenticated"


def test_token_opens_what_its_owner_may_open(api):
    cast.draft("agreement")
    api.credentials(HTTP_AUTHORIZATION=f"Token {cast.token(cast.ben())}")
    assert [study["slug"] for study in api.get("/api/v1/studies/").json()["results"]] == ["agreement"]


@pytest.mark.parametrize(
    "address",
    [
        "studies/agreement/",
        "materials/agreement/",
        "materials/agreement/pairs/",
        "materials/agreement/sentences/",
    ],
)
def test_strangers_find_nothing(api, address):
    cast.draft("agreement")
    assert as_(api, cast.ben()).get(f"/api/v1/{address}").status_code == 200
    answer = as_(api, cast.cleo()).get(f"/api/v1/{address}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_study_is_made_and_changed_while_it_is_a_draft(api):
    as_(api, cast.cleo())
    sent = {"title": "Islands", "task": "forced_choice", "catch_trials": [PAIR]}
    response = api.post("/api/v1/studies/", sent, format="json")
    assert response.status_code == 201, response.json()
    assert (response.json()["slug"], response.json()["status"]) == ("islands", "draft")
    changed = api.patch("/api/v1/studies/islands/", {"consent": "You may stop."}, format="json")
    assert changed.json()["consent"] == "You may stop."
    assert Experiment.objects.get().audit.filter(action="settings changed").exists()


def test_opened_study_is_not_changed_over_the_api(api):
    cast.study("agreement")
    answer = as_(api, cast.ada()).patch("/api/v1/studies/agreement/", {"consent": "No."}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "not_a_draft")


@pytest.mark.parametrize("body", [False, 3, "folder", [{"folder": "x"}]])
def test_a_change_that_is_no_object_is_refused(api, body):
    cast.study("agreement")
    answer = as_(api, cast.ada()).patch("/api/v1/studies/agreement/", body, format="json")
    assert answer.status_code == 400


def test_a_study_that_opens_during_a_change_stays_open_and_unchanged(api, monkeypatch):
    study = cast.draft("agreement", consent="Yes.")
    validate = StudySerializer.validate

    def open_meanwhile(self, attributes):
        Experiment.objects.filter(pk=study.pk).update(status=Experiment.Status.OPEN)
        return validate(self, attributes)

    monkeypatch.setattr(StudySerializer, "validate", open_meanwhile)
    answer = as_(api, cast.ada()).patch("/api/v1/studies/agreement/", {"consent": "No."}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "not_a_draft")
    study.refresh_from_db()
    assert (study.status, study.consent) == ("open", "Yes.")


def test_a_change_keeps_what_another_request_changed_meanwhile(api, monkeypatch):
    study = cast.draft("agreement", consent="Yes.")
    validate = StudySerializer.validate

    def change_meanwhile(self, attributes):
        Experiment.objects.filter(pk=study.pk).update(debrief="Thanks.")
        return validate(self, attributes)

    monkeypatch.setattr(StudySerializer, "validate", change_meanwhile)
    as_(api, cast.ada()).patch("/api/v1/studies/agreement/", {"consent": "Of course."}, format="json")
    study.refresh_from_db()
    assert (study.consent, study.debrief) == ("Of course.", "Thanks.")


def test_viewer_changes_nothing(api):
    cast.draft("agreement")
    answer = as_(api, cast.ben()).patch("/api/v1/studies/agreement/", {"title": "Mine"}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"task": "telepathy"}, 400),
        ({"title": ""}, 400),
        ({"materials": "hidden"}, 400),
        ({"materials": "never-was"}, 400),
        ({"parameters": {"points": 7}}, 422),
        ({"parameters": {"question": "a\u0000b"}}, 400),
        ({"questionnaire": [{"label": "Age?", "type": "telepathy"}]}, 422),
        ({"questionnaire": ["Age?"]}, 400),
        ({"catch_trials": [{"text": "No answer."}]}, 422),
        ({"catch_trials": [{"options": "both", "correct": 0}]}, 422),
        ({"target_judgments": -1}, 400),
        ({"lease_minutes": 10**30}, 400),
    ],
)
def test_what_does_not_fit_is_explained(api, sent, status):
    cast.draft("agreement")
    hidden = cast.material_set("hidden")
    hidden.owner = cast.cleo()
    hidden.save()
    answer = as_(api, cast.ada()).patch("/api/v1/studies/agreement/", sent, format="json")
    assert answer.status_code == status, answer.json()
    assert answer.json()["code"] in {"invalid", "bad_input"}
    assert answer.json()["message"]


def test_broken_json_is_a_client_error(api):
    as_(api, cast.cleo())
    answer = api.post("/api/v1/studies/", data=b'{"title": ', content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")


def test_studies_are_filtered_and_come_in_pages(api):
    cast.draft("one")
    cast.study("two", materials=cast.material_set("second"))
    as_(api, cast.ada())
    assert api.get("/api/v1/studies/?status=open").json()["count"] == 1
    assert api.get("/api/v1/studies/?search=ONE").json()["results"][0]["slug"] == "one"
    assert len(api.get("/api/v1/studies/?page_size=1").json()["results"]) == 1
    assert api.get("/api/v1/studies/?status=asleep").status_code == 400
    assert api.get("/api/v1/studies/?page=99").status_code == 404


def test_materials_come_with_their_sizes_pairs_and_sentences(api):
    cast.draft("agreement", materials=cast.material_set("agreement", n_items=3, paradigms=("a", "b")))
    as_(api, cast.ada())
    materials = api.get("/api/v1/materials/").json()["results"][0]
    assert (materials["n_sentences"], materials["n_pairs"]) == (12, 6)
    pairs = api.get("/api/v1/materials/agreement/pairs/?paradigm=a").json()
    assert pairs["count"] == 3
    assert pairs["results"][0] == {
        "pair_id": "a-1",
        "good_id": "a-1-good",
        "bad_id": "a-1-bad",
        "paradigm": "a",
        "phenomenon": "agreement",
        "sentence_good": "The keys 1 are here.",
        "sentence_bad": "The keys 1 is here.",
        "discard": False,
    }
    sentences = api.get("/api/v1/materials/agreement/sentences/?condition=bad").json()
    assert {row["expected"] for row in sentences["results"]} == {"unacceptable"}


def test_job_is_seen_by_its_team_only(api):
    job = Job.objects.create(kind="demo", experiment=cast.draft("agreement"), progress=1, total=4)
    document = as_(api, cast.ben()).get(f"/api/v1/jobs/{job.pk}/").json()
    assert (document["study"], document["percent"], document["state"]) == ("agreement", 25, "queued")
    assert as_(api, cast.cleo()).get(f"/api/v1/jobs/{job.pk}/").status_code == 404
    assert api.get(f"/api/v1/jobs/{10**30}/").status_code == 404


SETTINGS = {
    "lab_mode": True,
    "partial_code": "HALF-1",
    "completion_code": "ALL-1",
    "screen_out_code": "OUT-1",
    "contact": "lab@example.org",
    "consent_statements": [{"text": "I am 18 or older.", "required": True}],
    "practice_expected": "As we thought.",
    "practice_other": "We thought of another one.",
    "closing_comment": True,
    "resume_gap_minutes": 20,
    "resume_limit_days": 3,
    "reward_minor": 250,
    "currency": "EUR",
}


def test_every_setting_of_the_pages_is_read_and_written(api):
    study = cast.draft("agreement")
    as_(api, cast.ada())
    question = {"label": "Was anything unclear?", "type": "text", "required": True}
    sent = {**SETTINGS, "closing_questions": [question]}
    changed = api.patch("/api/v1/studies/agreement/", sent, format="json")
    assert changed.status_code == 200, changed.json()
    assert {name: changed.json()[name] for name in SETTINGS} == SETTINGS
    study.refresh_from_db()
    assert (study.lab_mode, study.partial_code, study.reward_minor) == (True, "HALF-1", 250)
    assert study.closing_questions[0]["required"] is False
    assert {*SettingsForm.Meta.fields} <= {*changed.json()}
    (entry,) = study.audit.filter(action="settings changed")
    assert entry.details["changes"]["lab_mode"] == {"old": False, "new": True}


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"lab_mode": "perhaps"}, 400),
        ({"partial_code": "x" * 41}, 400),
        ({"currency": "euro"}, 400),
        ({"resume_limit_days": 0}, 400),
        ({"reward_minor": -1}, 400),
        ({"consent_statements": [{"text": ""}]}, 422),
        ({"consent_statements": [{"text": "I agree.", "required": "yes"}]}, 422),
        ({"consent_statements": [{"text": "I agree.", "tick": True}]}, 422),
        ({"closing_questions": [{"label": "Why?", "type": "telepathy"}]}, 422),
    ],
)
def test_a_setting_that_no_page_would_store_is_refused(api, sent, status):
    cast.draft("agreement")
    answer = as_(api, cast.ada()).patch("/api/v1/studies/agreement/", sent, format="json")
    assert answer.status_code == status, answer.json()


def test_document_is_valid_and_states_every_failure(api):
    document = api.get("/api/v1/schema/?format=json").json()
    assert document["openapi"].startswith("3.")
    change = document["paths"]["/api/v1/studies/{slug}/"]["patch"]["responses"]
    assert {"200", "400", "401", "403", "404", "409", "422"} <= set(change)


def test_documentation_page_names_every_address_without_script(client):
    page = client.get("/api/v1/docs/").content.decode()
    assert "/api/v1/studies/{slug}/judgments.csv" in page
    assert "<script" not in page


def test_address_that_leads_nowhere_answers_in_json(api):
    answer = api.get("/api/v1/nowhere/")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_api_document_links_new_rows_to_their_addresses(api):
    document = as_(api, cast.ada()).get("/api/v1/schema/?format=json").json()
    created = document["paths"]["/api/v1/studies/"]["post"]["responses"]["201"]["links"]
    assert created["studies_retrieve"]["parameters"] == {"slug": "$response.body#/slug"}
    listed = document["paths"]["/api/v1/studies/{slug}/releases/"]["get"]["responses"]["200"]["links"]
    assert listed["studies_releases_retrieve"]["parameters"] == {
        "slug": "$request.path.slug",
        "number": "$response.body#/results/0/number",
    }
    assert listed["jobs_retrieve"]["parameters"] == {"id": "$response.body#/results/0/job"}
    several = document["paths"]["/api/v1/studies/{slug}/model-runs/"]["post"]["responses"]["202"]["links"]
    assert several["jobs_retrieve"]["parameters"] == {"id": "$response.body#/0/job"}
    operations = {
        operation["operationId"]
        for path_item in document["paths"].values()
        for method, operation in path_item.items()
        if method != "parameters"
    }
    assert created.keys() | listed.keys() | several.keys() <= operations


def test_api_document_names_the_files_of_forms(api):
    document = as_(api, cast.ada()).get("/api/v1/schema/?format=json").json()
    posted = document["paths"]["/api/v1/studies/{slug}/score-sets/"]["post"]
    encoding = posted["requestBody"]["content"]["multipart/form-data"]["encoding"]
    names = {
        field: part["headers"]["Content-Disposition"]["schema"]["example"] for field, part in encoding.items()
    }
    assert names == {
        "file": 'form-data; name="file"; filename="scores.csv"',
        "models": 'form-data; name="models"; filename="models.csv"',
    }


def test_lists_take_as_many_queries_for_many_rows_as_for_one(client):
    client.force_login(cast.ada())
    cast.study("first")
    counts = []
    for extra in ("", "second", "third"):
        if extra:
            cast.study(extra)
        with CaptureQueriesContext(connection) as queries:
            listed = client.get("/api/v1/studies/").json()
        counts.append(len(queries))
    assert listed["count"] == 3 and [row["version"] for row in listed["results"]] == [1, 1, 1]
    assert counts[0] == counts[1] == counts[2]
