"""The page after consent brings the first trial and the plan of all trials."""

import json
import re

import pytest
from django.test import Client

from judgments.models import Session, Trial
from tests import cast
from tests.judgments.screens.walk import hidden

pytestmark = pytest.mark.django_db
PLAN = re.compile(r'<script id="plan" type="application/json">(.*?)</script>', re.DOTALL)


def open_first_page():
    """Consent, and load the page of the first trial; returns it with its plan."""
    client = Client()
    html = client.get("/take/agreement/").content.decode()
    sent = {"arrival": hidden(html, "arrival"), "consent": "yes"}
    page = client.get(client.post("/take/agreement/", sent)["Location"]).content.decode()
    return page, json.loads(PLAN.search(page)[1])


@pytest.mark.parametrize("task", sorted(cast.ANSWERS))
def test_its_plan_is_that_of_the_api_and_its_trial_the_first_stored_one(client, task):
    cast.study(task=task, instructions="")
    page, plan = open_first_page()
    assert client.get(f"/api/v1/sessions/{Session.objects.get().token}/plan/").json() == plan
    trials = Trial.objects.order_by("position")
    assert [trial.public_id for trial in trials] == [trial["id"] for trial in plan["trials"]]
    assert f'data-trial="{trials[0].public_id}"' in page and trials[0].shown_at is not None


def test_a_sentence_like_a_script_stays_text():
    evil = "</script><script>alert(1)</script> & <!-- <b>{n}</b>"
    cast.study(instructions="", materials=cast.material_set("evil", texts=(evil, evil + "!")))
    page, plan = open_first_page()
    assert "<script>alert(1)" not in page
    assert plan["trials"][0]["options"][0]["text"].casefold().startswith("</script><script>alert(1)")
