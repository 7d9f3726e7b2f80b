"""A slider from 0 to 100; a number where there is no script."""

import numpy as np
import pytest

from analysis.errors import BadInput
from experiments.tasks.base import BadResponse
from experiments.tasks.registry import get_task
from judgments.models import Judgment
from tests.cast import sit, study
from tests.judgments.screens.walk import action, consent, fields, onward

TASK = get_task("slider")


@pytest.mark.parametrize(
    ("typed", "value"), [("0", 0), ("100", 100), ("62,5", 62.5), (" 7 ", 7), ("٤٢", 42), ("４２", 42)]
)
def test_every_place_on_the_line_is_an_answer_and_is_kept_as_given(typed, value):
    answer = TASK.parse(typed, TASK.settings({}), options=())
    assert (answer.value, answer.response) == (value, typed)


@pytest.mark.parametrize("wrong", ["", " ", "-1", "100.1", "101", "half", "nan", "inf", "1e1", "1,000.5"])
def test_values_beyond_an_end_or_not_numeric_are_refused(wrong):
    with pytest.raises(BadResponse):
        TASK.parse(wrong, TASK.settings({}), options=())


def test_ends_are_in_the_direction_asked_for_and_keep_their_values():
    rising = TASK.screen(TASK.settings({"low_label": "bad", "high_label": "good"}), arrangement={})
    falling = TASK.screen(
        TASK.settings({"low_label": "bad", "high_label": "good", "high_first": True}), arrangement={}
    )
    assert [(end["value"], end["label"]) for end in rising["ends"]] == [(0, "bad"), (100, "good")]
    assert falling["ends"] == rising["ends"][::-1]


@pytest.mark.parametrize("impossible", [{"low_label": " "}, {"high_first": "yes"}, {"ticks": 5}])
def test_impossible_sliders_are_refused(impossible):
    with pytest.raises(BadInput):
        TASK.settings(impossible)


@pytest.mark.parametrize("profile", ["honest", "careless", "left-biased", "random"])
def test_simulated_places_are_on_the_line(profile):
    rng, settings = np.random.default_rng(1), TASK.settings({})
    for z in (-6, 0, 6):
        for _ in range(50):
            place = TASK.simulate(rng, settings, options=(), acceptability=z, profile=profile)
            TASK.parse(place, settings, options=())


@pytest.mark.django_db
def test_without_javascript_a_number_is_typed_into_an_empty_field(client):
    study(task="slider", instructions="Read.")
    session = consent(client, "/take/agreement/")
    onward(client, session)
    html = client.get(session).content.decode()
    field = next(field for field in fields(html) if field.get("name") == "response")
    assert (field["value"], field["inputmode"]) == ("", "decimal")
    assert "Completely unnatural" in html and "Completely natural" in html
    refused = client.post(action(html), {"response": "120"})
    assert refused.status_code == 422 and "from 0 to 100" in refused.content.decode()
    assert client.post(action(html), {"response": "62,5"}).status_code == 302
    stored = Judgment.objects.get()
    assert (stored.value, stored.response, stored.scale_low, stored.scale_high) == (62.5, "62,5", 0, 100)


@pytest.mark.django_db
def test_a_session_of_sliders_is_completed():
    assert sit(study(task="slider")).status == "complete"
