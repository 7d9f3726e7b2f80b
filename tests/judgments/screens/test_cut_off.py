"""An arrival that was cut off between consent and its trials, by a killed server, goes on as any other."""

import pytest

from tests.cast import begin, study
from tests.judgments.screens.walk import hidden, onward

pytestmark = pytest.mark.django_db


@pytest.fixture
def session():
    """Begun, but without trials."""
    cut = begin(study())
    cut.trials.all().delete()
    return cut


def test_the_first_page_brings_the_trials_before_any_script_asks_for_them(client, session):
    page = client.get(f"/s/{session.token}/").content.decode()
    assert hidden(page, "mark") == "instructions"
    plan = client.get(f"/api/v1/sessions/{session.token}/plan/").json()
    assert len(plan["trials"]) == 4


def test_a_program_that_asks_for_the_plan_without_a_page_gets_its_trials(client, session):
    address = f"/api/v1/sessions/{session.token}"
    trials = client.get(f"{address}/plan/").json()["trials"]
    assert len(trials) == 4 and trials == client.get(f"{address}/plan/").json()["trials"]
    first = trials[0]
    row = {"trial": first["id"], "response": first["options"][0]["id"]}
    answer = client.post(f"{address}/judgments/", {"judgments": [row]}, content_type="application/json")
    assert answer.json()["acknowledged"] == [first["id"]]


def test_the_instructions_lead_to_the_first_trial(client, session):
    address = f"/s/{session.token}/"
    onward(client, address)
    assert f'data-trial="{session.trials.first().public_id}"' in client.get(address).content.decode()
