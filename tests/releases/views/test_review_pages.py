"""What a link for reviewers opens, asked of every address: totals, and nothing of people, ids or money."""

from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.models import AuditEntry, Design, ReviewLink
from experiments.operation import job_runner
from experiments.teams.review_links import make_link
from judgments.models import Participant, PlatformIdentity
from releases.gold.options import ReportOptions
from releases.study_report.request import request_report
from tests import cast
from tests.releases.study import add_sitting, ready_release
from tests.routes import path_of, routes

pytestmark = pytest.mark.django_db
PEOPLE = ("person-zebra", "person-yak", "person-xerus")
LINKS = "/studies/agreement/team/review-links/"
SENTENCE = "The keys 1 are here."


@pytest.fixture
def study():
    study = cast.study(
        "agreement", task="likert", reward_minor=987654, currency="GBP", completion_code="CODE-9"
    )
    Design.objects.create(experiment=study, n_lists=2, seed=5)
    for name in PEOPLE:
        add_sitting(study, name)
    for person in Participant.objects.all():
        PlatformIdentity.objects.create(
            participant=person, experiment=study, recruiter="prolific", external_id=f"5f1e-{person.pk}-id"
        )
    return study


def token_for(study, *, with_materials=True):
    return make_link(study, "Journal", days=30, with_materials=with_materials, by=cast.ada())


def content(response):
    parts = response.streaming_content if response.streaming else [response.content]
    return b"".join(parts).decode(errors="replace")


def private(study):
    """Whatever a reviewer must not read."""
    sessions = study.sessions.all()
    values = {name for session in sessions for name in (session.token, session.external_id)}
    values |= set(PEOPLE) | {"5f1e-", "9876.54", "9,876", "987654", "CODE-9", "x@example.org"}
    return values - {""}


def test_no_address_shows_people_ids_or_money_to_who_has_a_link(client, study):
    release = ready_release(study)
    report = request_report(study, ReportOptions(), user=cast.ada())
    job_runner.run(report.job.pk)
    token = token_for(study)
    names = [str(file["path"]) for file in release.manifest["files"]] + ["manifest.json"]
    names += [file["path"] for file in report.job.result.get("files", [])] or [
        "report.html", "report.pdf", "numbers.json", "replication.zip"
    ]  # fmt: skip
    session, person = study.sessions.first(), Participant.objects.first()
    values = {
        "slug": "agreement",
        "number": str(release.number),
        "participant_id": str(person.pk),
        "session_id": str(session.pk),
        "form": "svg",
    }
    assert client.get(f"/shared/{token}/").status_code == 200
    assert not client.cookies  # so that the link opens nothing outside its own addresses
    secrets = private(study)
    for _, route in routes():
        if not route.startswith("shared/"):
            text = content(client.get(path_of(route, values)))
            assert not [value for value in secrets if value in text], route
    answers = {}
    for _, route in routes():
        if route.startswith("shared/"):
            for name in names if "<path:name>" in route else [name for name in names if "/" not in name]:
                for number in (release.number, report.number):
                    path = path_of(route, {"token": token, "number": str(number), "name": name})
                    answers[path] = client.get(path)
                    for method in ("post", "put", "patch", "delete"):
                        assert getattr(client, method)(path).status_code == 405
    texts = {path: content(response) for path, response in answers.items()}
    assert {path: value for path in texts for value in private(study) if value in texts[path]} == {}
    opened = {path.split("/")[-1] for path, response in answers.items() if response.status_code == 200}
    assert opened == {
        "", "README.md", "human.csv", "pairs.csv", "methods.md", "datapackage.json", "pairs.jsonl",
        "sentences.csv", "report.html", "report.pdf",
    }  # fmt: skip
    for response in answers.values():
        assert "noindex" in response["X-Robots-Tag"] and response["Referrer-Policy"] == "no-referrer"
        assert "no-store" in response["Cache-Control"]
    assert '<meta name="robots" content="noindex' in texts[f"/shared/{token}/"]
    assert "Ratings by condition" in texts[f"/shared/{token}/"]


def test_a_link_without_materials_shows_no_sentence(client, study):
    release = ready_release(study)
    token = token_for(study, with_materials=False)
    paths = ["", "materials/", "reports/1/report.html"]
    paths += [f"releases/{release.number}/{file['path']}" for file in release.manifest["files"]]
    answers = [client.get(f"/shared/{token}/{path}") for path in paths]
    assert [response.status_code for response in answers][:3] == [200, 404, 404]
    assert not [response.request["PATH_INFO"] for response in answers if SENTENCE in content(response)]
    with_materials = token_for(study)
    assert SENTENCE in client.get(f"/shared/{with_materials}/materials/").content.decode()


def test_an_owner_makes_lists_and_revokes_a_link(client, study):
    client.force_login(cast.ada())
    page = client.post(LINKS, {"label": "Journal", "days": "30"}, follow=True).content.decode()
    address = page.split('<code class="secret">http://testserver')[1].split("</code>")[0]
    token = address.split("/")[2]
    row = ReviewLink.objects.get()
    assert token not in str(ReviewLink.objects.values_list()) + str(AuditEntry.objects.values_list())
    for _ in range(2):
        client.get(address)
    row.refresh_from_db()
    assert (row.n_uses, row.last_used_on) == (2, timezone.now().date())
    team = client.get("/studies/agreement/team/").content.decode()
    assert "Journal" in team and "not shown" in team and token not in team
    client.post(f"{LINKS}{row.pk}/revoke/")
    response = client.get(address)
    assert response.status_code == 404 and "not valid" in response.content.decode()
    assert set(study.audit.values_list("action", flat=True)) >= {
        "link for reviewers made", "link for reviewers revoked"
    }  # fmt: skip


def test_an_expired_link_opens_nothing(client, study):
    token = token_for(study)
    ReviewLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for path in ("", "materials/"):
        response = client.get(f"/shared/{token}/{path}")
        assert response.status_code == 404 and response["Referrer-Policy"] == "no-referrer"


def test_a_link_opens_its_own_study_only(client, study):
    other = cast.study("other")
    release = ready_release(study)
    token = token_for(other)
    assert client.get(f"/shared/{token}/releases/{release.number}/README.md").status_code == 404


@pytest.mark.parametrize("name", ["ben", "emil", "cleo"])
def test_only_owners_make_see_and_revoke_links(client, study, name):
    study.memberships.create(user=cast.user("emil"), role="editor")
    token_for(study)
    row = ReviewLink.objects.get()
    client.force_login(cast.user(name))
    assert client.post(LINKS, {"label": "Mine", "days": "30"}).status_code in {403, 404}
    assert client.post(f"{LINKS}{row.pk}/revoke/").status_code in {403, 404}
    assert 'id="review-links"' not in client.get("/studies/agreement/team/").content.decode()
    row.refresh_from_db()
    assert row.revoked_at is None and ReviewLink.objects.count() == 1


def test_links_are_limited(client, study, monkeypatch):
    monkeypatch.setattr("experiments.teams.review_links.MOST_LINKS", 1)
    token_for(study)
    client.force_login(cast.ada())
    page = client.post(LINKS, {"label": "Second", "days": "30"}, follow=True).content.decode()
    assert "The study has 1 links" in page and ReviewLink.objects.count() == 1
