"""Tables on a phone: rows with much in them stand as cards; of others the names stay in sight."""

import pytest

from experiments.models import AuditEntry, Experiment
from experiments.page_cache import cache
from tests import cast
from tests.releases.study import judged_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FITS = "panel => panel.scrollWidth <= panel.clientWidth"


@pytest.fixture
def phone(open_page, client, live_server):
    """Ada's phone, with a study that runs."""
    cache.clear()
    judged_study("running", status="open")
    client.force_login(cast.ada())
    page = open_page(width=390)
    value = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": value, "url": live_server.url}])
    return page


@pytest.mark.parametrize("name", ["participants", "judgments", "items", "agreement"])
def test_rows_are_shown_as_cards_with_their_columns_named(phone, name):
    phone.goto(f"/studies/running/{name}/")
    panel = phone.locator("section.panel:has(table.stack)")
    assert panel.evaluate(FITS)
    heads = panel.locator("thead th").all_inner_texts()
    labels = (
        panel.locator("tbody tr").first.locator("td").evaluate_all("all => all.map(one => one.dataset.label)")
    )
    assert len(labels) == len(heads) - 1
    assert all(label is None or any(label.lower() in head.lower() for head in heads) for label in labels)


def test_the_words_above_cards_take_the_width_of_the_phone(phone):
    phone.goto("/materials/")
    assert phone.locator("table.stack caption").bounding_box()["width"] > 300


def test_a_card_of_a_study_opens_it_wherever_it_is_touched(phone):
    phone.goto("/")
    box = phone.locator(".card dl").first.bounding_box()
    phone.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    phone.wait_for_url("**/studies/running/")
    phone.goto("/")
    assert phone.locator(".card").first.evaluate(FITS)


def test_the_trail_and_long_choices_fit_the_phone(phone):
    study = Experiment.objects.get(slug="running")
    details = {"plan": "attention", "sha256": "ecf1fe3ada5c5b97f99d" * 3}
    AuditEntry.objects.create(
        experiment=study, user=cast.ada(), action="exclusion plan written", details=details
    )
    phone.goto("/studies/running/team/")
    assert phone.locator("section.panel:has(table.trail)").evaluate(FITS)
    assert phone.get_by_role("button", name="Leave this study").bounding_box()["height"] < 50
    phone.goto("/studies/running/exclusions/")
    boxes = phone.locator(".choices input[type=checkbox]").evaluate_all(
        """all => new Set(all.filter(one => one.offsetParent)
                             .map(one => one.getBoundingClientRect().width)).size"""
    )
    assert boxes == 1


def test_the_name_of_a_row_stays_in_sight_while_a_wide_table_is_moved(phone):
    phone.goto("/studies/running/exclusions/")
    panel = phone.locator("section.panel:has(thead)").first
    assert panel.evaluate("panel => panel.scrollWidth > panel.clientWidth")
    panel.evaluate("panel => panel.scrollTo({left: 150})")
    left = panel.locator("tbody th[scope=row]").first.bounding_box()["x"]
    assert left >= panel.bounding_box()["x"]
