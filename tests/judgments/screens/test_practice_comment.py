"""Practice comments are the researchers' own; instructions and progress stay in reach."""

import pytest

from experiments.models import Experiment
from experiments.pages.settings import SettingsForm
from tests import cast
from tests.judgments.deliveries import plan
from tests.judgments.screens.walk import answer, consent, onward

pytestmark = pytest.mark.django_db
EXPECTED, OTHER = "The researchers had this answer in mind.", "The researchers had another answer in mind."


def practice_page(client, response, *, comment="", **fields):
    """The page after a practice answer to a Likert item expected at 6 to 7."""
    payload = {"sentence": "He goes.", "correct": [6, 7], **({"feedback": comment} if comment else {})}
    study = cast.study(task="likert", extras=({"kind": "practice", "payload": payload},), **fields)
    session = consent(client, "/take/agreement/")
    onward(client, session)
    answer(client, session, response)
    return client.get(session).content.decode(), study


@pytest.mark.parametrize(("response", "comment"), [("7", EXPECTED), ("1", OTHER)])
def test_no_claim_about_other_people_is_made(client, response, comment):
    page, study = practice_page(client, response)
    assert comment in page and "Comment by the researchers" in page and "most people" not in page.lower()
    words = plan(study.sessions.get()).json()["words"]
    assert words["right"] == EXPECTED and words["wrong"].startswith(OTHER)
    assert not any("most people" in text.lower() for text in words.values())


@pytest.mark.parametrize("response", ["1", "7"])
def test_the_comment_of_an_item_takes_the_place_of_the_default(client, response):
    page, _ = practice_page(client, response, comment="People differ about this one.")
    assert "People differ about this one." in page and "The researchers had" not in page


def test_a_study_has_comments_of_its_own_in_its_language(client):
    page, study = practice_page(client, "1", practice_other="Nous attendions <b>6</b> ou 7.", language="de")
    assert "Nous attendions <b>6</b> ou 7." in page and "Anmerkung der Forschenden" in page
    assert (
        plan(study.sessions.get()).json()["words"]["right"] == "Die Forschenden haben diese Antwort erwartet."
    )
    form = SettingsForm(instance=study, user=cast.ada())
    assert form["practice_expected"].help_text == "Empty = Die Forschenden haben diese Antwort erwartet."
    changed = Experiment.objects.get(pk=study.pk)
    changed.practice_other = ""
    assert SettingsForm(instance=changed, user=cast.ada())["practice_other"].help_text.startswith(
        "Empty = Die"
    )


def test_an_item_without_an_expected_answer_is_not_commented(client):
    payload = {"sentence": "He goes.", "feedback": "Any answer will do."}
    cast.study(task="likert", extras=({"kind": "practice", "payload": payload},))
    session = consent(client, "/take/agreement/")
    onward(client, session)
    answer(client, session, "3")
    page = client.get(session).content.decode()
    assert "Any answer will do." in page and "The researchers had" not in page


def test_instructions_and_progress_are_on_every_trial(client):
    cast.study(task="likert", instructions="Read each sentence <b>once</b>.")
    session = consent(client, "/take/agreement/")
    assert "<details" not in client.get(session).content.decode()
    onward(client, session)
    for n in range(4):
        page = client.get(session).content.decode()
        _, _, footer = page.partition("<footer")
        assert "<details" in footer and "Read each sentence <b>once</b>." in footer
        assert f'value="{n}" max="4"' in page and f"{n + 1} of 4 · about 1 min left" in page
        answer(client, session, "3")
    assert "<details" not in client.get(session).content.decode()
