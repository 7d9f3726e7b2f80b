"""From a factorial table to an open study: how many clicks and fields a researcher needs."""

import csv
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from playwright.sync_api import expect

from experiments.lists.build import lists_by_round
from experiments.models import Experiment, MaterialSet
from experiments.page_cache import cache
from tests import cast
from tests.experiments import factorial

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_CLICKS, MOST_FIELDS = 12, 10


class Hands:
    """Clicks and fills, and counts both."""

    def __init__(self, page):
        self.page, self.clicks, self.fields = page, 0, 0

    def click(self, selector: str) -> None:
        with self.page.expect_navigation():
            self.page.locator(selector).first.click()
        self.clicks += 1

    def fill(self, selector: str, text: str) -> None:
        self.page.locator(selector).first.fill(text)
        self.fields += 1


@pytest.fixture
def page(open_page, client, live_server, settings, tmp_path):
    """Ada's browser."""
    cache.clear()
    settings.MEDIA_ROOT = tmp_path / "media"
    client.force_login(cast.ada())
    opened = open_page(width=1280)
    value = client.cookies["sessionid"].value
    opened.context.add_cookies([{"name": "sessionid", "value": value, "url": live_server.url}])
    return opened


def test_a_likert_study_with_fillers_opens_in_twelve_clicks_and_ten_fields(page, tmp_path):
    table = tmp_path / "islands.csv"
    table.write_text(factorial.table(n_items=24, n_fillers=48), encoding="utf-8")
    hands = Hands(page)
    page.goto("/materials/upload/")
    page.set_input_files("input[type=file]", str(table))
    hands.fields += 1
    hands.fill("#id_name", "Whether islands")
    hands.click("button:has-text('Preview')")
    expect(page.locator("table.grid4 .sentence")).to_have_count(4)
    assert Axe().run(page).violations_count == 0
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    hands.click("button:has-text('Store these materials')")
    hands.click("a:has-text('New study with these')")
    hands.fill("#id_title", "Whether islands")
    page.check("input[name=task][value=likert]")
    hands.fields += 1
    hands.click("button:has-text('Create study')")
    study = Experiment.objects.get()
    consent = "You may stop at any time. Answers are stored without a name. Questions: lab@example.org."
    hands.fill("#id_consent", consent)
    hands.fill("#id_instructions", "Read each sentence and say how natural it sounds.")
    hands.click("main button.primary:has-text('Save')")
    hands.click(f"a[href='/studies/{study.slug}/launch/']")
    hands.click("#open button")
    hands.fill("#open_reason", "The pilot comes first.")
    hands.click("button:has-text('Waive and open')")
    study.refresh_from_db()
    assert study.status == Experiment.Status.OPEN
    kinds = [trial.kind for trial in lists_by_round(study)[0][0]]
    assert (kinds.count("target"), kinds.count("filler")) == (24, 48)
    print(f"{hands.clicks} clicks, {hands.fields} fields")
    assert hands.clicks <= MOST_CLICKS and hands.fields <= MOST_FIELDS


def test_the_manual_s_table_is_read_again_on_a_phone_and_becomes_a_proven_design(page):
    table = Path(settings.BASE_DIR) / "docs" / "how-to" / "islands.csv"
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/materials/upload/")
    page.set_input_files("input[type=file]", str(table))
    page.fill("#id_name", "Whether islands")
    page.click("button:has-text('Preview')")
    page.fill("[aria-label='Position of short']", "2")
    page.fill("[aria-label='Position of long']", "1")
    page.click("button:has-text('Read again')")
    expect(page.locator("table.grid4 thead th").first).to_have_text("long")
    assert Axe().run(page).violations_count == 0
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.click("button:has-text('Store these materials')")
    expect(page.locator("h1")).to_have_text("Whether islands")
    assert MaterialSet.objects.get().levels["distance"] == ["long", "short"]
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    n_items = len({row["item_set"] for row in rows if row["is_filler"] == "FALSE"})
    page.click("a:has-text('New study with these')")
    page.fill("#id_title", "Whether islands")
    page.check("input[name=task][value=likert]")
    page.click("button:has-text('Create study')")
    study = Experiment.objects.get()
    page.goto(f"/studies/{study.slug}/design/")
    proof = page.locator("section[aria-labelledby=proof-1]")
    expect(proof.locator(".claims .state.rejected")).to_have_count(0)
    expect(proof.locator("tbody tr").first.locator("td").nth(1)).to_have_text(str(n_items))
    assert Axe().run(page).violations_count == 0
    for trials in lists_by_round(study)[0]:
        assert len({trial.item for trial in trials if trial.kind == "target"}) == n_items


def test_a_pasted_sheet_with_a_title_row_is_stored(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/materials/upload/")
    rows = ["Attraction, version 3", "Item\tCond\tSentence", "1\ta\tIt rains.", "1\tb\tIt rain."]
    page.fill("#id_pasted", "\n".join(rows))
    page.fill("#id_name", "Pasted")
    page.click("button:has-text('Preview')")
    page.check("input[name=header_row][value='2']")
    assert Axe().run(page).violations_count == 0
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.click("button:has-text('Read again')")
    page.click("button:has-text('Store these materials')")
    expect(page.locator("h1")).to_have_text("Pasted")
    assert MaterialSet.objects.get().sentences.count() == 2
