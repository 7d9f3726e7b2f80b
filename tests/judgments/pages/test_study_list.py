"""The list of studies: search, filters, folders, pages and the archive, by page and over REST."""

import re
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.errors import BadInput
from experiments.models import AuditEntry, Campaign, Experiment, LabMembership, Membership, PlatformAccount
from experiments.page_cache import cache
from experiments.studies.lifecycle import close, open_study, pause
from experiments.studies.study_list import move_to_folder
from judgments.models import Alert, Judgment, Session
from judgments.pages.overview_views import PER_PAGE
from judgments.study_archive import archive, unarchive
from tests import cast
from tests.judgments.deliveries import row, send

pytestmark = pytest.mark.django_db
API = "/api/v1/studies/"


@pytest.fixture(autouse=True)
def fresh_numbers():
    """No numbers of another test."""
    cache.clear()


@pytest.fixture
def ada(client):
    client.force_login(cast.ada())
    return client


@pytest.fixture
def materials():
    return cast.material_set("agreement")


@pytest.fixture
def studies(materials):
    """Four studies that differ in everything that a filter reads."""
    lab = cast.lab("Syntax lab", ada="manager")
    cast.draft("islands", materials=materials, description="Whether phrases", folder="Islands", lab=lab)
    cast.study("agreement", materials=materials, title="Attraction of number", folder="Pilot 2026")
    cast.study("clefts", materials=materials, lab=lab)
    pause(Experiment.objects.get(slug="clefts"), cast.ada())
    archive(cast.draft("old-islands", materials=materials, folder="Islands"), by=cast.ada())


def titles(response):
    return set(re.findall(r'<h2 id="study-\d+"><a href="/studies/([\w-]+)/"', response.content.decode()))


QUERIES = [
    ("", {"islands", "agreement", "clefts"}),
    ("search=WHETHER", {"islands"}),
    ("search=number+attraction", {"agreement"}),
    ("search=number+whether", set()),
    ("search=syntax", {"islands", "clefts"}),
    ("search=ada", {"islands", "agreement", "clefts"}),
    ("search=pilot", {"agreement"}),
    ("search=100%25", set()),
    ("status=draft", {"islands"}),
    ("status=open", {"agreement"}),
    ("status=paused", {"clefts"}),
    ("status=archived", {"old-islands"}),
    ("status=all", {"islands", "agreement", "clefts", "old-islands"}),
    ("lab=syntax-lab", {"islands", "clefts"}),
    ("lab=-", {"agreement"}),
    ("folder=Islands", {"islands"}),
    ("folder=-", {"clefts"}),
    ("folder=Islands&status=all", {"islands", "old-islands"}),
    ("search=clefts&lab=syntax-lab&status=open", set()),
]


@pytest.mark.parametrize(("query", "slugs"), QUERIES)
def test_page_and_api_filter_alike(ada, studies, query, slugs):
    assert titles(ada.get(f"/?{query}")) == slugs
    assert {study["slug"] for study in ada.get(f"{API}?{query}").json()["results"]} == slugs


def test_filters_show_nothing_of_others(client, studies):
    client.force_login(cast.cleo())
    for query in ("", "status=all", "search=islands", "folder=Islands", "lab=syntax-lab"):
        assert titles(client.get(f"/?{query}")) == set()
        assert client.get(f"{API}?{query}").json()["count"] == 0
    page = client.get("/").content.decode()
    assert "Islands" not in page and "Syntax lab" not in page


def test_a_study_of_two_memberships_is_listed_once(ada, studies):
    lab = Experiment.objects.get(slug="clefts").lab
    LabMembership.objects.create(lab=lab, user=cast.ben(), role="viewer")
    ada.force_login(cast.ben())
    assert ada.get(API).json()["count"] == 3
    assert ada.get("/").content.decode().count('href="/studies/clefts/"') == 1


def test_filters_stay_in_the_form_and_in_the_links_between_pages(ada, materials):
    for number in range(PER_PAGE + 1):
        cast.draft(f"study-{number:02}", materials=materials, folder="Islands & more")
    cast.draft("other", materials=materials)
    first = ada.get("/", {"folder": "Islands & more"})
    page = first.content.decode()
    assert len(titles(first)) == PER_PAGE and f"{PER_PAGE + 1} studies match" in page
    assert '<option value="Islands &amp; more" selected>' in page
    (address,) = re.findall(r'rel="next" href="([^"]+)"', page)
    second = ada.get("/" + address.replace("&amp;", "&"))
    assert len(titles(second)) == 1 and not titles(second) & titles(first)
    assert titles(ada.get("/?page=99&folder=Islands+%26+more")) == titles(second)


def test_pages_are_stable_where_studies_were_made_at_once(ada, materials):
    for number in range(2 * PER_PAGE):
        cast.draft(f"study-{number:02}", materials=materials)
    Experiment.objects.update(created_at=timezone.now())
    pages = [titles(ada.get(f"/?page={page}")) for page in (1, 2)]
    assert len(pages[0] | pages[1]) == 2 * PER_PAGE


def test_the_number_of_queries_does_not_grow_with_the_number_of_studies(ada, materials):
    def more(numbers):
        for number in numbers:
            study = cast.draft(f"study-{number}", materials=materials, lab=lab)
            Experiment.objects.filter(pk=study.pk).update(status="closed" if number % 2 else "draft")
            cast.participant(study, "pia")

    def queries(address):
        ada.get(address)  # what is constant for a minute is cached
        with CaptureQueriesContext(connection) as context:
            assert ada.get(address).status_code == 200
        return len(context)

    lab = cast.lab("Syntax lab", ada="manager")
    more(range(4))
    addresses = ["/", "/?search=study&status=all", API]
    few = [queries(address) for address in addresses[:2]]
    more(range(4, 2 * PER_PAGE))
    assert [queries(address) for address in addresses[:2]] == few
    assert max(few) <= 24


@pytest.mark.parametrize(
    "query", ["status=wrong", "search=%00", "lab=%00", "page=-1", "page=x", "folder=%F0%9F"]
)
def test_bad_filters_are_no_fault_of_the_server(ada, studies, query):
    assert ada.get(f"/?{query}").status_code == 200
    assert ada.get(f"{API}?{query}").status_code in {200, 400, 404}


def test_an_empty_list_says_what_to_do(ada, studies):
    page = ada.get("/?search=nothing+of+the+kind").content.decode()
    assert "No study matches." in page and "Show all studies" in page
    page = ada.get("/?search=old-islands").content.decode()
    assert "1 in the archive does" in page and 'href="?search=old-islands&amp;status=archived"' in page
    Experiment.objects.exclude(slug="old-islands").delete()
    page = ada.get("/").content.decode()
    assert "All your studies are in the archive." in page and "Show archived studies" in page


# Folders


def test_an_editor_moves_a_study_in_any_state_between_folders(ada, materials):
    study = cast.study("agreement", materials=materials)
    close(study, cast.ada())
    page = ada.post("/studies/agreement/folder/", {"folder": "  Islands   2026 "}, follow=True)
    study.refresh_from_db()
    assert study.folder == "Islands 2026" and "the folder Islands 2026 now" in page.content.decode()
    ada.post("/studies/agreement/folder/", {"folder": "Islands 2026"})
    ada.post("/studies/agreement/folder/", {"folder": ""})
    entries = study.audit.filter(action="folder changed").order_by("pk")
    assert [entry.details["to"] for entry in entries] == ["Islands 2026", ""]
    assert [entry.details["from"] for entry in entries] == ["", "Islands 2026"]


@pytest.mark.parametrize("name", ["-", "x" * 81, "a\0b"])
def test_names_that_no_folder_can_have_are_refused(ada, materials, name):
    study = cast.draft("agreement", materials=materials)
    ada.post("/studies/agreement/folder/", {"folder": name})
    answer = ada.patch(f"{API}agreement/", {"folder": name}, content_type="application/json")
    assert answer.status_code in {400, 422}
    study.refresh_from_db()
    assert study.folder == ""


def test_viewers_move_nothing(client, materials):
    study = cast.draft("agreement", materials=materials)
    client.force_login(cast.ben())
    assert client.post("/studies/agreement/folder/", {"folder": "Mine"}).status_code == 403
    with pytest.raises(PermissionDenied):
        move_to_folder(study, "Mine", by=cast.ben())


def test_over_rest_the_folder_of_an_opened_study_changes_and_nothing_else(ada, materials):
    cast.study("agreement", materials=materials)
    body = {"folder": "Islands"}
    answer = ada.patch(f"{API}agreement/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["folder"]) == (200, "Islands")
    answer = ada.patch(f"{API}agreement/", {**body, "title": "Other"}, content_type="application/json")
    assert answer.status_code == 409
    study = Experiment.objects.get()
    assert (study.folder, study.title) == ("Islands", "Study agreement")
    made = ada.post(
        API, {"title": "New", "task": "yes_no", "folder": " Islands "}, content_type="application/json"
    )
    assert (made.status_code, made.json()["folder"]) == (201, "Islands")


# The archive


def test_a_study_goes_to_the_archive_and_comes_back_as_it_was(ada, materials):
    study = cast.study("agreement", materials=materials, reward_minor=0)
    session = cast.sit(study)
    pause(study, cast.ada())
    before = Experiment.objects.filter(pk=study.pk).values().get()
    assert 'href="/studies/agreement/archive/"' in ada.get("/studies/agreement/").content.decode()
    assert "loses nothing" in ada.get("/studies/agreement/archive/").content.decode()
    page = ada.post("/studies/agreement/archive/", {"sure": "yes"}, follow=True)
    assert titles(page) == set() and "is in the archive" in page.content.decode()
    overview = ada.get("/studies/agreement/").content.decode()
    assert "Take back from the archive" in overview and "/studies/agreement/archive/" not in overview
    assert session.trials.count() and ada.get("/studies/agreement/judgments/").status_code == 200
    ada.post("/studies/agreement/unarchive/")
    assert titles(ada.get("/")) == {"agreement"}
    assert Experiment.objects.filter(pk=study.pk).values().get() == before
    actions = list(study.audit.order_by("pk").values_list("action", flat=True))[-2:]
    assert actions == ["archived", "taken back from the archive"]


def test_alerts_of_an_archived_study_are_not_on_the_start_page(ada, materials):
    study = cast.study("agreement", materials=materials, reward_minor=0)
    pause(study, cast.ada())
    kind, address = Alert.Kind.IDLE, "/studies/agreement/live/"
    Alert.objects.create(
        experiment=study,
        kind=kind,
        key="idle",
        title="Nobody came today",
        address=address,
        raised_at=timezone.now(),
    )
    assert "Nobody came today" in ada.get("/").content.decode()
    archive(study, by=cast.ada())
    assert "Nobody came today" not in ada.get("/?status=archived").content.decode()


def test_an_archived_study_accepts_nobody(client, materials):
    study = cast.study("agreement", materials=materials)
    left = cast.sit(study, "pia", n=1)
    pause(study, cast.ada())
    Session.objects.update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    archive(study, by=cast.ada())
    for step in (open_study, pause, close):
        with pytest.raises(BadInput, match="in the archive"):
            step(study, cast.ada())
    client.force_login(cast.ada())
    page = client.post("/studies/agreement/move/open/", follow=True).content.decode()
    assert "Take it back from the archive first" in page
    client.logout()
    assert "consent" not in client.get("/take/agreement/", follow=True).content.decode().lower()
    answer = send(left, row(left.trials.get(position=2)))
    assert (answer.status_code, answer.json()["code"]) == (409, "no_place")
    assert (Session.objects.count(), Judgment.objects.count()) == (1, 1)
    unarchive(study, by=cast.ada())
    assert open_study(study, cast.ada()).status == "open"


@pytest.mark.parametrize("status", ["open", "pilot"])
def test_a_study_that_takes_participants_is_not_archived(ada, materials, status):
    study = cast.study("agreement", materials=materials, status=status)
    page = ada.post("/studies/agreement/archive/", {"sure": "yes"}, follow=True).content.decode()
    assert f"It is {status}: pause or close it first." in page
    answer = ada.post(f"{API}agreement/archive/", {"confirm": True}, content_type="application/json")
    assert answer.status_code == 422 and "pause or close it first" in answer.json()["message"]
    with pytest.raises(IntegrityError), transaction.atomic():  # whatever the path
        Experiment.objects.filter(pk=study.pk).update(archived_at=timezone.now())


def test_a_study_with_somebody_in_session_is_not_archived(materials):
    study = cast.study("agreement", materials=materials)
    cast.begin(study, "pia")
    pause(study, cast.ada())
    with pytest.raises(BadInput, match="1 participant in session"):
        archive(study, by=cast.ada())
    Session.objects.update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    assert archive(study, by=cast.ada()).archived_at is not None


def test_a_study_whose_campaign_has_open_matters_is_not_archived(ada, materials):
    study = cast.study("agreement", materials=materials)
    pause(study, cast.ada())
    account = PlatformAccount.objects.create(platform="prolific", label="Lab", secrets=b"")
    campaign = Campaign.objects.create(
        experiment=study, recruiter="prolific", account=account, name="autumn", state=Campaign.State.PAUSED
    )
    page = ada.get("/studies/agreement/archive/").content.decode()
    assert "Campaign autumn: It takes participants: stop it first." in page and "<button" in page
    with pytest.raises(BadInput, match="autumn"):
        archive(study, by=cast.ada())
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    assert archive(study, by=cast.ada()).archived_at is not None


def test_sessions_without_a_decision_on_pay_need_a_confirmation(ada, materials):
    study = cast.study("agreement", materials=materials, reward_minor=150)
    cast.sit(study)
    pause(study, cast.ada())
    page = ada.get("/studies/agreement/archive/").content.decode()
    assert "1 complete session without a decision on pay." in page and "Archive all the same" in page
    answer = ada.post(f"{API}agreement/archive/", content_type="application/json")
    assert answer.status_code == 422 and "without a decision on pay" in answer.json()["message"]
    answer = ada.post(f"{API}agreement/archive/", {"confirm": True}, content_type="application/json")
    assert answer.status_code == 200 and answer.json()["archived_at"]


def test_archiving_twice_and_taking_back_twice_has_one_effect(materials):
    study = cast.draft("agreement", materials=materials)
    first = archive(study, by=cast.ada()).archived_at
    assert archive(study, by=cast.ada()).archived_at == first
    unarchive(study, by=cast.ada())
    unarchive(study, by=cast.ada())
    assert AuditEntry.objects.filter(action__in=["archived", "taken back from the archive"]).count() == 2


def test_archiving_needs_an_editor_and_a_token_that_may_write(client, materials):
    study = cast.draft("agreement", materials=materials)
    Membership.objects.create(experiment=study, user=cast.cleo(), role="editor")
    reading = {"HTTP_AUTHORIZATION": f"Token {cast.token(cast.cleo(), scopes=('read',))}"}
    writing = {"HTTP_AUTHORIZATION": f"Token {cast.token(cast.cleo(), scopes=('read', 'write'))}"}
    viewer = {"HTTP_AUTHORIZATION": f"Token {cast.token(cast.ben())}"}
    stranger = {"HTTP_AUTHORIZATION": f"Token {cast.token(cast.user('dora'))}"}
    for operation in ("archive", "unarchive"):
        path = f"{API}agreement/{operation}/"
        answers = [
            client.post(path, content_type="application/json", **who).status_code
            for who in (reading, viewer, stranger, writing)
        ]
        assert answers == [403, 403, 404, 200], operation
    assert study.audit.filter(user=cast.cleo()).count() == 2


def test_a_copy_of_an_archived_study_is_not_in_the_archive(ada, materials):
    archive(cast.draft("agreement", materials=materials, folder="Islands"), by=cast.ada())
    ada.post("/studies/agreement/copy/")
    copy = Experiment.objects.get(archived_at__isnull=True)
    assert (copy.folder, copy.status) == ("Islands", "draft")
    page = ada.get("/").content.decode()
    assert f'href="/studies/{copy.slug}/#keep"' in page  # the way from the list to copying


# Several studies at once


@pytest.fixture
def three(materials):
    """Two drafts that Ada may change, and one of Cleo's that Ada may read."""
    studies = [cast.draft(name, materials=materials) for name in ("first", "second", "third")]
    Membership.objects.filter(experiment=studies[2], user=cast.ada()).update(role="viewer")
    Membership.objects.create(experiment=studies[2], user=cast.cleo(), role="owner")
    return studies


def selected(client, action, *slugs, query="", **fields):
    return client.post(
        f"/selected-studies/{query}", {"action": action, "study": slugs, **fields}, follow=True
    )


def test_cards_offer_only_what_the_user_may_do(ada, three):
    archive(three[1], by=cast.ada())
    page = ada.get("/?status=all").content.decode()
    offers = re.findall(r'<a class="small" href="/studies/([\w-]+)/#keep">([^<]+)<', page)
    assert dict(offers) == {
        "first": "Copy, move, archive",
        "second": "Copy, move, take back",
        "third": "Export, copy",
    }
    boxes = re.findall(r'<input class="pick" type="checkbox" name="study" value="([\w-]+)"', page)
    assert set(boxes) == {"first", "second"}


def test_a_viewer_of_everything_has_no_bar(client, three):
    client.force_login(cast.ben())
    page = client.get("/").content.decode()
    assert len(titles(client.get("/"))) == 3
    assert 'id="bulk"' not in page and 'class="pick"' not in page and "selection.js" not in page


def test_selected_studies_move_together_and_the_list_keeps_its_filters(ada, three):
    move_to_folder(three[0], "Islands", by=cast.ada())
    page = selected(ada, "move", "first", "second", query="?status=draft&search=study", folder=" Islands ")
    assert page.redirect_chain == [("/?status=draft&search=study", 302)]
    assert "2 studies in the folder Islands now (1 of them before, too)." in page.content.decode()
    folders = Experiment.objects.order_by("slug").values_list("folder", flat=True)
    assert list(folders) == ["Islands", "Islands", ""]
    assert AuditEntry.objects.filter(action="folder changed").count() == 2
    page = selected(ada, "move", "first", folder="").content.decode()
    assert "1 study in no folder now." in page and Experiment.objects.get(slug="first").folder == ""


def test_archiving_several_asks_first_and_names_what_cannot_go(ada, materials):
    cast.draft("ready", materials=materials)
    unpaid = cast.study("unpaid", materials=materials, reward_minor=150)
    cast.sit(unpaid)
    pause(unpaid, cast.ada())
    cast.study("running", materials=materials)
    archive(cast.draft("gone", materials=materials), by=cast.ada())
    question = selected(ada, "archive", "ready", "unpaid", "running", "gone").content.decode()
    assert "2 can be archived" in question and "1 complete session without a decision on pay." in question
    assert "1 cannot be archived yet" in question and "It is open: pause or close it first." in question
    assert "1 of the selected is in the archive already." in question
    sent = re.findall(r'<input type="hidden" name="study" value="([\w-]+)"', question)
    assert sent == ["ready", "unpaid"] and Experiment.objects.filter(archived_at=None).count() == 3
    page = selected(ada, "archive", *sent, sure="yes")
    assert (
        titles(page) == {"running"} and "In the archive: Study ready, Study unpaid." in page.content.decode()
    )


def test_a_study_opened_since_the_question_stays_and_the_others_go(ada, materials):
    cast.draft("ready", materials=materials)
    cast.study("running", materials=materials)
    page = selected(ada, "archive", "running", "ready", sure="yes").content.decode()
    assert (
        "Study running: the study cannot be archived yet" in page and "In the archive: Study ready." in page
    )
    assert (
        Experiment.objects.get(slug="ready").archived_at
        and not Experiment.objects.get(slug="running").archived_at
    )


def test_selected_studies_come_back_from_the_archive(ada, three):
    for study in three[:2]:
        archive(study, by=cast.ada())
    page = ada.get("/?status=archived").content.decode()
    assert "Take back from the archive" in page and "Archive …" not in page
    assert "Take back from the archive" not in ada.get("/").content.decode()
    page = selected(ada, "unarchive", "first", "second")
    assert titles(page) == {"first", "second", "third"}


@pytest.mark.parametrize("action", ["move", "archive", "unarchive"])
def test_one_study_of_others_in_the_selection_refuses_all_of_it(client, three, action):
    archive(three[1], by=cast.ada())
    before = list(Experiment.objects.order_by("pk").values())
    fields = {"sure": "yes", "folder": "Mine"}
    client.force_login(cast.ada())
    assert selected(client, action, "first", "second", "third", **fields).status_code == 403
    client.force_login(cast.cleo())
    assert selected(client, action, "third", "first", **fields).status_code == 404
    assert selected(client, action, "third", "no-such-study", **fields).status_code == 404
    client.logout()
    assert "/accounts/login/" in selected(client, action, "third", **fields).redirect_chain[0][0]
    assert list(Experiment.objects.order_by("pk").values()) == before


def test_an_empty_selection_a_bad_folder_and_no_action_change_nothing(ada, three):
    assert "Select between 1 and" in selected(ada, "move", folder="Islands").content.decode()
    assert "stands for no folder" in selected(ada, "move", "first", "second", folder="-").content.decode()
    assert "No action was chosen" in selected(ada, "delete", "first").content.decode()
    assert ada.get("/selected-studies/").status_code == 405
    assert not AuditEntry.objects.exclude(action="created").filter(experiment__in=three).exists()
