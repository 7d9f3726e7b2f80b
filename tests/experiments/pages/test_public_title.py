"""Participants see a title and an address of their own: those of researchers often name the hypothesis."""

import re

import pytest

from experiments.models import Experiment
from experiments.studies.creation import copy_study, free_slug
from experiments.studies.lifecycle import open_study, snapshot
from tests import cast
from tests.experiments.pages.page_forms import sent_by_browser
from tests.judgments.screens.walk import answer, choices, consent, onward

pytestmark = pytest.mark.django_db
TELLING = re.compile("whether|island", re.IGNORECASE)


@pytest.fixture
def study(client):
    """A study made on the page, with a telling title, and opened."""
    client.force_login(cast.ada())
    materials = cast.material_set("agreement", n_items=2)
    sent = {"title": "Whether islands", "task": "likert", "language": "de", "materials": materials.pk}
    assert client.post("/studies/new/", sent).status_code == 302
    study = Experiment.objects.get()
    Experiment.objects.filter(pk=study.pk).update(consent="Ja?", instructions="Lies.", debrief="Danke.")
    study.refresh_from_db()
    open_study(study)
    client.logout()
    return study


def test_no_page_address_or_cookie_of_a_participant_reveals_the_researchers_title(study, client):
    assert (study.slug, study.title) == ("whether-islands", "Whether islands")
    assert re.fullmatch("[a-z0-9]{8}", study.public_slug)
    address = f"/take/{study.public_slug}/"
    pages = [client.get(address).content.decode()]
    session = consent(client, address)
    pages += [session, *(cookie.OutputString() for cookie in client.cookies.values())]
    onward(client, session)
    for _ in range(20):
        page = client.get(session).content.decode()
        pages.append(page)
        if not choices(page):
            break
        answer(client, session, "4")
    assert "Danke." in pages[-1] and "Eine Studie über Sprache</title>" in pages[-1]
    pages += [client.get(f"{session}{name}/").content.decode() for name in ("leave", "withdraw")]
    Experiment.objects.filter(pk=study.pk).update(status="closed")
    pages.append(type(client)().get(address).content.decode())
    assert [page for page in pages if TELLING.search(page)] == []


def test_both_addresses_answer_and_lead_to_one_session(study, client):
    session = consent(client, f"/take/{study.slug}/")
    for slug in (study.public_slug, study.slug):
        assert client.get(f"/take/{slug}/")["Location"] == session
    client.force_login(cast.ada())
    overview = client.get(f"/studies/{study.slug}/").content.decode()
    assert f"/take/{study.public_slug}/" in overview and "/take/whether-islands/" not in overview


def test_a_study_from_before_keeps_title_and_address(client):
    study = cast.study("whether-islands")
    assert study.public_slug is None and "public_title" not in snapshot(study)
    page = client.get("/take/whether-islands/").content.decode()
    assert "Study whether-islands</title>" in page
    client.force_login(cast.ada())
    address = "/studies/whether-islands/settings/"
    sent = sent_by_browser(client.get(address).content.decode(), "settings")
    client.post(address, sent | {"public_slug": "Language-7", "public_title": "Sentences"})
    study.refresh_from_db()
    assert (study.public_slug, study.public_title) == ("language-7", "Sentences")
    assert client.get("/take/language-7/").status_code == 200
    assert "Study whether-islands</title>" in client.get("/take/whether-islands/").content.decode()
    open_study(study)  # makes the next version
    assert "Sentences</title>" in client.get("/take/whether-islands/").content.decode()


def test_an_address_that_was_sent_out_stays_and_an_emptied_title_becomes_neutral(study, client):
    client.force_login(cast.ada())
    address = f"/studies/{study.slug}/settings/"
    sent = sent_by_browser(client.get(address).content.decode(), "settings")
    sent |= {"public_slug": "another", "public_title": "", "language": "es"}
    assert client.post(address, sent).status_code == 302
    before = study.public_slug
    study.refresh_from_db()
    assert (study.public_slug, study.public_title) == (before, "Un estudio sobre el lenguaje")


def test_no_study_answers_at_the_address_of_another(study, client):
    client.force_login(cast.ada())
    other = cast.draft("other")
    address = "/studies/other/settings/"
    sent = sent_by_browser(client.get(address).content.decode(), "settings")
    for taken in (study.slug, study.public_slug):
        page = client.post(address, sent | {"public_slug": taken}).content.decode()
        assert "Another study has this address." in page
    assert free_slug(study.public_slug) == f"{study.public_slug}-2"
    copy = copy_study(study, cast.ada())
    assert copy.public_slug not in {None, study.public_slug} and copy.public_title == study.public_title
    other.refresh_from_db()
    assert other.public_slug is None
