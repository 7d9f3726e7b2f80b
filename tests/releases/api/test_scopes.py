"""Which scopes of a token each address of the API asks for; an address without a line here fails."""

import json

import pytest
from django.test import Client
from django.urls import resolve

from experiments.models import Experiment
from judgments.models import PlatformIdentity
from releases.gold.describe import has_people
from releases.models import Publication
from releases.study_templates.export import build_template
from tests import cast
from tests.releases.study import judged_study, ready_release
from tests.routes import path_of, routes

pytestmark = pytest.mark.django_db
READ, WRITE, PEOPLE = ("read",), ("write",), ("read", "people")
HANDLE_PEOPLE, PAY = ("write", "people"), ("write", "money")
EVERY = {"read", "write", "people", "money"}
METHODS = ("get", "post", "put", "patch", "delete")
#: Scopes of each method of each address. Further scopes of some requests have tests of their own below:
#: *people* for files with rows of single participants, *money* for what a study pays.
SCOPES = {
    "api-archive": {"post": WRITE},
    "api-unarchive": {"post": WRITE},
    "api-judgments": {"get": PEOPLE},
    "api-mturk-batch": {"get": PEOPLE},
    "api-studies": {"get": READ, "post": WRITE},
    "api-study": {"get": READ, "patch": WRITE},
    "api-copy": {"post": WRITE},
    "api-design": {"get": READ, "patch": WRITE},
    "api-checklist": {"get": READ},
    "api-waiver": {"put": WRITE, "delete": WRITE},
    "api-preview": {"post": WRITE},
    "api-dry-run": {"post": WRITE},
    "api-start-pilot": {"post": WRITE},
    "api-open": {"post": WRITE},
    "api-pause": {"post": WRITE},
    "api-close": {"post": WRITE},
    "api-round-start": {"post": WRITE},
    "api-split": {"post": WRITE},
    "api-left-out": {"post": WRITE},
    "api-rounds": {"post": WRITE},
    "api-round": {"patch": WRITE, "delete": WRITE},
    "api-judgment-uploads": {"post": HANDLE_PEOPLE},
    "api-judgment-upload": {"get": PEOPLE, "patch": HANDLE_PEOPLE, "delete": HANDLE_PEOPLE},
    "api-judgment-import": {"post": HANDLE_PEOPLE},
    "api-preregistered-version": {"put": WRITE},
    "api-run-file": {"delete": WRITE},
    "api-surprisals": {"get": READ, "post": WRITE},
    "api-paradigm-sharing": {"put": WRITE},
    "api-pair-set-sharing": {"put": WRITE},
    "api-pair-set-materials": {"post": WRITE},
    "api-drawn-pair": {"patch": WRITE},
    "api-word-lists": {"get": READ, "post": WRITE},
    "api-word-list": {"get": READ, "patch": WRITE, "delete": WRITE},
    "api-words-sharing": {"put": WRITE},
    "api-accounts": {"get": READ},
    "api-campaigns": {"get": READ, "post": PAY},
    "api-campaign": {"get": READ, "patch": PAY, "delete": PAY},
    "api-campaign-checks": {"get": READ},
    "api-campaign-publish": {"post": PAY},
    "api-campaign-actions": {"post": PAY},
    "api-campaign-places": {"post": PAY},
    "api-campaign-read": {"post": HANDLE_PEOPLE},
    "api-campaign-submissions": {"get": PEOPLE},
    "api-campaign-messages": {"post": HANDLE_PEOPLE},
    "api-campaign-decisions": {"post": PAY},
    "api-campaign-sending": {"get": READ, "post": PAY},
    "api-campaign-release": {"post": PAY},
    "api-platform-calls": {"get": ("read", "money")},
    "api-call-ask": {"post": PAY},
    "api-call-settle": {"post": PAY},
    "api-channels": {"get": READ, "post": WRITE},
    "api-channel": {"get": READ, "patch": WRITE},
    "api-channel-state": {"post": WRITE},
    "api-quotas": {"get": READ, "put": WRITE},
    "api-links": {"post": HANDLE_PEOPLE},
    "api-alerts": {"get": READ},
    "api-alert": {"delete": WRITE},
    "api-alert-settings": {"get": READ, "patch": WRITE},
    "api-study-lab": {"put": HANDLE_PEOPLE},
    "api-review-links": {"get": READ, "post": HANDLE_PEOPLE},
    "api-review-link": {"delete": HANDLE_PEOPLE},
    "api-labs": {"get": READ, "post": HANDLE_PEOPLE},
    "api-lab": {"get": READ, "patch": HANDLE_PEOPLE, "delete": HANDLE_PEOPLE},
    "api-study-members": {"get": READ, "post": HANDLE_PEOPLE},
    "api-study-member": {"delete": HANDLE_PEOPLE},
    "api-study-invitations": {"get": READ, "post": HANDLE_PEOPLE},
    "api-study-invitation": {"delete": HANDLE_PEOPLE},
    "api-study-invitation-resend": {"post": HANDLE_PEOPLE},
    "api-lab-members": {"get": READ, "post": HANDLE_PEOPLE},
    "api-lab-member": {"delete": HANDLE_PEOPLE},
    "api-lab-invitations": {"get": READ, "post": HANDLE_PEOPLE},
    "api-lab-invitation": {"delete": HANDLE_PEOPLE},
    "api-lab-invitation-resend": {"post": HANDLE_PEOPLE},
    "api-delete": {"post": HANDLE_PEOPLE},
    "api-participants": {"get": PEOPLE},
    "api-check": {"post": HANDLE_PEOPLE},
    "api-erase": {"post": HANDLE_PEOPLE},
    "api-person-data": {"post": HANDLE_PEOPLE},
    "api-purge-date": {"put": HANDLE_PEOPLE},
    "api-flags": {"post": HANDLE_PEOPLE},
    "api-flags-lift": {"post": HANDLE_PEOPLE},
    "api-flag": {"delete": HANDLE_PEOPLE},
    "api-payments": {"get": ("read", "money"), "post": PAY},
    "api-payment-undo": {"post": PAY},
    "api-pay": {"post": PAY},
    "api-material-uploads": {"post": WRITE},
    "api-material-upload": {"get": READ, "patch": WRITE, "delete": WRITE},
    "api-material-import": {"post": WRITE},
    "api-webhooks": {"get": READ, "post": WRITE},
    "api-webhook": {"get": READ, "patch": WRITE, "delete": WRITE},
    "api-webhook-secret": {"post": WRITE},
    "api-webhook-test": {"post": WRITE},
    "api-webhook-deliveries": {"get": READ},
    "api-webhook-send": {"post": WRITE},
    "api-materials": {"get": READ},
    "api-material": {"get": READ, "delete": WRITE},
    "api-pairs": {"get": READ},
    "api-sentences": {"get": READ},
    "api-paradigms": {"get": READ},
    "api-paradigm-lint": {"post": WRITE},
    "api-paradigm-generate": {"post": WRITE},
    "api-paradigm": {"get": READ},
    "api-own-paradigms": {"get": READ, "post": WRITE},
    "api-own-paradigm": {"get": READ, "put": WRITE, "patch": WRITE, "delete": WRITE},
    "api-pair-sets": {"get": READ, "post": WRITE},
    "api-pair-set": {"get": READ, "delete": WRITE},
    "api-drawn-pairs": {"get": READ},
    "api-job": {"get": READ},
    "api-token": {"get": READ},
    "api-power": {"get": READ},
    "api-exclusions": {"get": READ},
    "api-progress": {"get": READ},
    "api-items": {"get": READ},
    "api-reliability": {"get": READ},
    "api-effects": {"get": READ},
    "api-groups": {"get": READ},
    "api-sequential": {"get": READ},
    "api-times": {"get": READ},
    "api-multiverse": {"get": READ},
    "api-ordinal": {"get": READ},
    "api-pilot": {"get": READ},
    "api-deviations": {"get": READ, "post": WRITE},
    "api-judgments-csv": {"get": PEOPLE},
    "api-judgments-jsonl": {"get": PEOPLE},
    "api-agreement": {"get": READ},
    "api-ratings": {"get": READ},
    "api-plans": {"get": READ, "post": WRITE},
    "api-study-reports": {"get": READ, "post": WRITE},
    "api-study-report": {"get": READ},
    "api-study-report-file": {"get": READ},
    "api-study-template": {"get": READ},
    "api-study-templates": {"get": READ, "post": WRITE},
    "api-releases": {"get": READ, "post": WRITE},
    "api-release": {"get": READ},
    "api-publications": {"get": READ, "post": WRITE},
    "api-publication-preview": {"post": WRITE},
    "api-release-zip": {"get": READ},
    "api-release-file": {"get": READ},
    "api-leaderboard": {"get": READ},
    "api-score-sets": {"post": WRITE},
    "api-runs": {"get": READ, "post": WRITE},
    "api-run": {"get": READ},
    "api-run-retry": {"post": WRITE},
    "api-model-runs": {"post": WRITE},
    "api-comparisons": {"get": READ, "post": WRITE},
    "api-comparison": {"get": READ},
}
WITHOUT_TOKEN = {
    "api-session-judgments": "the participant's own address",
    "api-session-plan": "the participant's own address",
    "api-schema": "the document of the API",
    "api-docs": "the document of the API, as a page for a login",
}


def methods_of(route: str) -> list[str]:
    """The methods that the view of an address has."""
    view = resolve(path_of(route, {})).func
    actions = getattr(view, "actions", None)
    if actions:  # the first request adds "head" to them
        return sorted(name for name in actions if name in METHODS)
    return [name for name in METHODS if hasattr(view.cls, name)]


API = {name: route for name, route in routes() if route.startswith("api/v1/")}


def test_every_address_of_the_api_states_its_scopes():
    assert API.keys() == SCOPES.keys() | WITHOUT_TOKEN.keys()
    stated = {name: sorted(SCOPES[name]) for name in SCOPES}
    assert stated == {name: sorted(methods_of(API[name])) for name in SCOPES}


def request(token: str, path: str, method: str = "get", body: dict | None = None):
    client = Client(headers={"Authorization": f"Token {token}"})
    options = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
    return getattr(client, method)(path, **options)


def is_refused(response) -> bool:
    """Whether the response refuses the token for its scopes."""
    return response.status_code == 403 and response.json()["code"] == "scope"


def test_an_address_opens_with_its_scopes_and_with_nothing_less():
    """Of a study that there is not, so that no request changes anything that the next one needs."""
    scopes = {(), READ, WRITE, PEOPLE} | {tuple(sorted(EVERY - {scope})) for scope in EVERY}
    tokens = {needed: cast.token(cast.ada(), scopes=needed) for needed in scopes}
    wrong = [
        (name, method, allowed)
        for name, methods in SCOPES.items()
        for method, needed in methods.items()
        for allowed, token in tokens.items()
        if is_refused(request(token, path_of(API[name], {}), method)) == (set(needed) <= set(allowed))
    ]
    assert wrong == []


@pytest.fixture
def release():
    study = judged_study(people=3)
    for person in study.participants.all():
        PlatformIdentity.objects.create(
            experiment=study, participant=person, recruiter="prolific", external_id=f"PLATFORM-{person.pk}"
        )
    return ready_release(study, formats="psych-ds,ewok,minicons")


def content(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_reading_alone_opens_no_file_of_a_release_that_names_a_participant(release):
    base = f"/api/v1/studies/agreement/releases/{release.number}/"
    reading, people = (cast.token(cast.ada(), scopes=scopes) for scopes in (READ, PEOPLE))
    pseudonyms = [name.encode() for name in ("p0", "p1", "p2")]
    with_people = set()
    for file in [*(row["path"] for row in release.manifest["files"]), "manifest.json"]:
        whole = content(request(people, f"{base}files/{file}"))
        # A platform's id is in no file, whatever the scope; the recruitment's own numbers are not either.
        assert b"PLATFORM-" not in whole and b"SUBMISSION-" not in whole, file
        response = request(reading, f"{base}files/{file}")
        assert is_refused(response) == has_people(file), file
        if any(b'"%s"' % name in whole or b"\n%s," % name in whole for name in pseudonyms):
            with_people.add(file)
            assert is_refused(response), file
    assert {"judgments.csv", "participants.csv"} <= with_people
    assert is_refused(request(reading, f"{base}download/"))
    assert content(request(people, f"{base}download/"))[:2] == b"PK"


@pytest.mark.parametrize(
    ("place", "mode", "is_open", "is_public"),
    [
        ("zenodo", "live", True, True),
        ("huggingface", "test", True, True),
        ("zenodo", "live", False, False),
        ("zenodo", "test", True, False),
    ],
)
def test_reading_alone_opens_all_files_of_a_release_that_is_public(release, place, mode, is_open, is_public):
    Publication.objects.create(release=release, place=place, mode=mode, is_open=is_open)
    reading = cast.token(cast.ada(), scopes=READ)
    base = f"/api/v1/studies/agreement/releases/{release.number}/"
    for path in ("files/judgments.csv", "download/"):
        assert is_refused(request(reading, base + path)) is not is_public


def test_the_replication_package_of_a_report_needs_people():
    judged_study(people=2)
    reading, people = (cast.token(cast.ada(), scopes=scopes) for scopes in (READ, PEOPLE))
    base = "/api/v1/studies/agreement/reports/1/files/"
    assert is_refused(request(reading, f"{base}replication.zip"))
    assert not is_refused(request(people, f"{base}replication.zip"))
    assert not is_refused(request(reading, f"{base}report.html"))


def test_what_a_study_pays_is_set_and_changed_with_money_only():
    study = cast.draft(reward_minor=0)
    one, all_ = "/api/v1/studies/agreement/", "/api/v1/studies/"
    writing, money = (
        cast.token(cast.ada(), scopes=scopes) for scopes in (("read", "write"), ("read", "write", "money"))
    )
    new = {"title": "New", "public_title": "A study", "task": "likert"}
    assert request(writing, one, "patch", {"title": "Other", "reward_minor": 0}).status_code == 200
    assert is_refused(request(writing, one, "patch", {"reward_minor": 150}))
    assert is_refused(request(writing, all_, "post", {**new, "reward_minor": 150}))
    assert request(writing, all_, "post", new).status_code == 201
    study.refresh_from_db()
    assert study.reward_minor == 0 and not Experiment.objects.filter(reward_minor=150).exists()
    assert request(money, one, "patch", {"reward_minor": 150}).status_code == 200
    assert is_refused(request(writing, one, "patch", {"currency": "EUR"}))
    assert is_refused(request(writing, one, "patch", {"reward_minor": 0}))
    assert request(writing, one, "patch", {"reward_minor": 150, "title": "Third"}).status_code == 200
    assert request(money, all_, "post", {**new, "reward_minor": 150}).status_code == 201


def test_a_template_sets_no_pay():
    template = build_template(cast.draft()).replace("study:\n", "study:\n  reward_minor: 150\n", 1)
    writing = cast.token(cast.ada(), scopes=("read", "write"))
    body = {"template": template, "title": "Copy"}
    made = request(writing, "/api/v1/study-templates/", "post", body)
    assert made.status_code == 201 and any("reward_minor" in line for line in made.json()["left_out"])
    assert Experiment.objects.get(title="Copy").reward_minor == 0
