"""The researcher's pages in a browser: axe finds nothing, nothing scrolls sideways, in both lights."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core.cache import cache

from experiments.models import Design
from tests import cast
from tests.analysis.releases.study import judged_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOUSE = [
    "/",
    "/studies/new/",
    "/materials/",
    "/materials/upload/",
    "/judgments/import/",
    "/jobs/",
    "/account/",
]
MANUAL = ["/manual/", "/manual/how-to/studies.md"]
PLANNING = ["", "settings/", "questions/", "design/", "launch/", "team/", "power/"]
QUESTION = {"name": "age", "label": "How old are you?", "type": "number", "min": 18}


@pytest.fixture
def studio(open_page, client, live_server):
    """A page of Ada's, with a study that runs and one in the making."""
    cache.clear()
    judged_study("running", status="open", questionnaire=[QUESTION])
    draft = cast.draft("plan", questionnaire=[QUESTION], consent="")
    Design.objects.create(experiment=draft, n_lists=2, seed=5)
    client.force_login(cast.ada())

    def opened(width, scheme):
        page = open_page(width=width, color_scheme=scheme)
        value = client.cookies["sessionid"].value
        page.context.add_cookies([{"name": "sessionid", "value": value, "url": live_server.url}])
        return page

    return opened


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_every_page_of_the_studio_reads_well(studio, width, scheme):
    page = studio(width, scheme)
    page.goto("/studies/running/")
    running = page.locator("nav.side a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert len(running) > 15
    wrong = {}
    for address in [*HOUSE, *MANUAL, *(f"/studies/plan/{name}" for name in PLANNING), *running]:
        answer = page.goto(address)
        assert answer.status == 200, address
        found = Axe().run(page)
        if found.violations_count:
            wrong[address] = found.generate_report()
        elif page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong[address] = "scrolls sideways"
    assert wrong == {}


def test_on_paper_no_table_is_cut_off_and_nothing_to_press_is_left(studio):
    page = studio(700, "light")  # A4 without its margins
    page.emulate_media(media="print")
    wide = (
        "[...document.querySelectorAll('.panel')].filter(one => one.scrollWidth > one.clientWidth + 1).length"
    )
    for name in ("participants/", "exclusions/", "effects/", "agreement/", "items/"):
        page.goto(f"/studies/running/{name}")
        assert page.evaluate(wide) == 0, name
        assert page.locator("main button:visible, main .button:visible").count() == 0, name
