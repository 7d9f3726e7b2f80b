"""The form of exclusion plans: names as people write them, steps in groups, errors on top."""

import pytest

from releases.models import ExclusionPlan
from tests import cast
from tests.releases.study import judged_study

pytestmark = pytest.mark.django_db
PAGE = "/studies/agreement/exclusions/"


def test_a_plan_may_be_named_in_words(ada):
    judged_study()
    sent = {"name": "Catch trials & natives", "steps": ["catch_failed", "not_native"], "max_errors": "0"}
    page = ada.post(PAGE, sent, follow=True).content.decode()
    assert "Saved plan catch-trials-natives as version 1." in page
    assert ExclusionPlan.objects.get().name == "catch-trials-natives"


def test_errors_are_listed_above_the_results_with_links_to_their_fields(ada):
    judged_study()
    page = ada.post(PAGE, {"name": "!!"}).content.decode()
    assert 'href="#new_steps"' in page and page.index("Nothing was saved") < page.index('id="flow"')
    page = ada.post(PAGE, {"name": "!!", "steps": "flagged"}).content.decode()
    assert 'href="#new_name"' in page


@pytest.mark.parametrize(
    ("task", "offered", "left_out"),
    [
        ("forced_choice", "signal:side_bias", "signal:straight_lining"),
        ("likert", "signal:straight_lining", "signal:side_bias"),
    ],
)
def test_only_steps_for_the_task_are_offered_in_groups(ada, task, offered, left_out):
    cast.study("agreement", task=task)
    page = ada.get(PAGE).content.decode()
    assert f'value="{offered}"' in page and f'value="{left_out}"' not in page
    assert page.index("Participants") < page.index("Completeness") < page.index("Comparison with others")
    assert ada.get(PAGE, {"steps": left_out}).status_code == 200  # a link to results under other steps
