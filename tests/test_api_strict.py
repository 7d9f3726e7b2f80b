"""Each operation of the OpenAPI document, with one unknown key or parameter: 400, with a near name."""

from collections.abc import Iterator
from string import Formatter
from typing import Any
from uuid import uuid4

import pytest
from celery import current_app
from django.core.files.uploadedfile import SimpleUploadedFile
from drf_spectacular.views import SpectacularAPIView
from rest_framework.serializers import Serializer
from rest_framework.test import APIClient

from config.api_bases import StrictSerializer, StrictView
from config.api_schema import DocumentGenerator
from experiments.generation.paradigms import read_source
from experiments.generation.stored.library import save_paradigm
from experiments.generation.stored.pair_sets import create_pair_set
from experiments.intake.previews import PURPOSE
from experiments.intake.uploads import save_uploads
from experiments.models import Experiment, Webhook, WordList
from judgments.models import Judgment
from tests import cast
from tests.judgments.deliveries import row, send
from tests.releases.study import judged_study, ready_release
from tests.routes import views

pytestmark = pytest.mark.django_db
SESSIONS = "/api/v1/sessions/"
DRAFTS = {("/api/v1/studies/{slug}/", "patch")}
METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return DocumentGenerator().get_schema(request=None, public=True)


@pytest.fixture
def api() -> APIClient:
    client = APIClient()
    client.force_authenticate(cast.ada())
    return client


def operations(document) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Address, method and description of every operation but those of sessions."""
    for path, item in document["paths"].items():
        for method in METHODS & item.keys():
            if not path.startswith(SESSIONS):
                yield path, method, item[method]


def resolve(document, schema: dict[str, Any]) -> dict[str, Any]:
    for part in (schema, *schema.get("allOf", [])):
        if "$ref" in part:
            return document["components"]["schemas"][part["$ref"].rpartition("/")[2]]
    return schema


def bodies(document, schema: dict[str, Any]) -> Iterator[Any]:
    """Bodies with the unknown key at each level of a schema."""
    schema = resolve(document, schema)
    if "items" in schema:
        yield from ([body] for body in bodies(document, schema["items"]))
    elif "properties" in schema:
        assert schema["additionalProperties"] is False
        yield {"unheard_of": 1}
        for name, part in schema["properties"].items():
            yield from ({name: body} for body in bodies(document, part))


def has_key(errors: Any, key: str) -> bool:
    """Whether the errors name the key at any level."""
    if isinstance(errors, dict):
        return key in errors or any(has_key(part, key) for part in errors.values())
    return isinstance(errors, list) and any(has_key(part, key) for part in errors)


@pytest.fixture
def address(document):
    """Return the address of an operation on stored rows of Ada's."""
    current_app.loader.import_default_modules()  # the kinds of jobs, as a worker imports them
    study = judged_study("agreement", people=2)
    cast.draft("draft", materials=study.materials)
    cast.lab("agreement", ada="manager")
    release = ready_release(study)
    webhook = Webhook.objects.create(experiment=study, address="https://example.org/hook")
    text = read_source("wh_island", language="en").decode().replace('"wh_island"', '"own"', 1)
    paradigm = save_paradigm(cast.ada(), text).paradigm
    file = SimpleUploadedFile("sentences.csv", b"sentence_id,sentence\na,It is.\n")
    upload = save_uploads(cast.ada(), [file], purpose=PURPOSE, options={})[0]
    pairs = create_pair_set(cast.ada(), name="Pairs", addresses=["en:wh_island"], n=1, seed=1)
    words = WordList.objects.create(owner=cast.ada(), name="birds", language="en")
    rows = SimpleUploadedFile("ratings.csv", b"participant,sentence,rating\np1,It is.,6\n")
    options = {"experiment": "Ratings", "format": "table"}
    judgments = save_uploads(cast.ada(), [rows], purpose="judgments", options=options)[0]
    ids = {
        "/pair-sets/{id}/": pairs.pk,
        "/word-lists/{id}/": words.pk,
        "/judgment-uploads/{id}/": judgments.batch,
        "/webhooks/{id}/": webhook.pk,
        "/own-paradigms/{id}/": paradigm.pk,
        "/material-uploads/{id}/": upload.batch,
        "/checklist/{check}/": "preview",
    }

    def fill(path: str, method: str) -> str:
        values = {"slug": "draft" if (path, method) in DRAFTS else study.slug, "number": release.number}
        identifier = next((value for part, value in ids.items() if part in path), 1)
        for name in (name for _, name, _, _ in Formatter().parse(path) if name):
            path = path.replace(f"{{{name}}}", str(values.get(name, identifier)))
        return path

    return fill


def test_an_unknown_key_in_any_body_at_any_level_is_400(document, api, address):
    n_bodies = 0
    for path, method, operation in operations(document):
        if method == "get":
            continue
        contents = operation.get("requestBody", {}).get("content", {"application/json": {}})
        for media_type, content in contents.items():
            form = "multipart" if media_type == "multipart/form-data" else "json"
            for body in bodies(document, content["schema"]) if content else [{"unheard_of": 1}]:
                answer = getattr(api, method)(address(path, method), body, format=form)
                place = f"{method} {path} {body}: {answer.content!r}"
                assert (answer.status_code, answer.json()["code"]) == (400, "invalid"), place
                assert has_key(answer.json()["fields"], "unheard_of"), place
                n_bodies += 1
    assert n_bodies > 25


def test_an_unknown_or_repeated_parameter_of_any_operation_is_400(document, api):
    for path, method, operation in operations(document):
        values = {
            each["name"]: uuid4() if each["schema"].get("format") == "uuid" else 1
            for each in operation.get("parameters", [])
        }
        url = path.format(**values)
        known = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
        for query in ("unheard_of=1", *(f"{name}=1&{name}=2" for name in known)):
            answer = getattr(api, method)(f"{url}?{query}")
            place = f"{method} {url}?{query}: {answer.content[:300]!r}"
            assert answer.status_code == 400, place
            assert query.partition("=")[0] in answer.json()["fields"], place


@pytest.mark.parametrize(
    ("method", "path", "sent", "field", "message"),
    [
        ("get", "agreement/?exlude=catch_failed", None, "exlude", "'exclude'"),
        ("get", "judgments/?knid=target", None, "knid", "'kind'"),
        ("post", "releases/", {"exlude": "catch_failed"}, "exlude", "'exclude'"),
        ("post", "comparisons/", {"delta": [2]}, "delta", "'deltas'"),
    ],
)
def test_a_misspelt_name_gets_the_near_one(api, method, path, sent, field, message):
    cast.study()
    answer = getattr(api, method)(f"/api/v1/studies/agreement/{path}", sent, format="json")
    assert answer.status_code == 400
    assert message in answer.json()["fields"][field][0]


def test_a_misspelt_key_in_a_step_makes_no_plan(api):
    study = cast.study()
    step = {"name": "c", "scope": "participant", "rule": "catch_failed", "on_mising": "exclude"}
    body = {"name": "mine", "steps": [{**step, "paramters": {"max_errors": 3}}]}
    answer = api.post("/api/v1/studies/agreement/exclusion-plans/", body, format="json")
    assert answer.status_code == 400
    errors = answer.json()["fields"]["steps"]["0"]
    assert "'parameters'" in errors["paramters"][0] and "'on_missing'" in errors["on_mising"][0]
    assert not study.exclusion_plans.exists()


def test_a_read_only_key_is_refused_and_nothing_changes(api):
    cast.draft("agreement")
    body = {"status": "open", "title": "Another"}
    answer = api.patch("/api/v1/studies/agreement/", body, format="json")
    assert answer.status_code == 400
    assert "read-only" in answer.json()["fields"]["status"][0] and "title" not in answer.json()["fields"]
    study = Experiment.objects.get()
    assert (study.status, study.title) == ("draft", "Study agreement")


def test_an_answer_with_unknown_keys_is_stored(document):
    session = cast.begin(cast.study())
    trial = session.trials.first()
    answer = send(session, row(trial, colour="red"), engine="1.0", tab={"id": 1})
    assert answer.status_code == 200
    assert answer.json()["acknowledged"] == [trial.public_id]
    assert Judgment.objects.get().trial == trial
    for name in ("DeliveryRequest", "AnswerRequest"):
        assert "additionalProperties" not in document["components"]["schemas"][name]


def test_every_view_and_serializer_of_the_api_has_the_strict_base():
    own = [view for _, route, view in views() if route.startswith("api/v1/")]
    classes = {view.view_class if hasattr(view, "view_class") else getattr(view, "cls", None) for view in own}
    loose = {each for each in classes - {None} if not issubclass(each, StrictView)}
    assert loose == {SpectacularAPIView}
    packages = ("config.", "experiments.", "judgments.", "releases.")
    serializers, waiting = set(), [Serializer]
    while waiting:
        serializers.add(each := waiting.pop())
        waiting += each.__subclasses__()
    assert {
        each.__module__
        for each in serializers
        if each.__module__.startswith(packages) and not issubclass(each, StrictSerializer)
    } == {"judgments.api.session_schema"}
