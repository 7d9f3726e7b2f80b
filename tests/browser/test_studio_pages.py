"""The researcher's pages in a browser: axe finds nothing, nothing scrolls sideways, in both lights."""

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from experiments.models import Design, Experiment, Job
from experiments.operation import job_runner
from experiments.page_cache import cache
from experiments.pages.settings_steps import STEPS
from releases import jobs
from releases.views.figures import QUESTIONS
from tests import cast
from tests.releases.models_dir import write_bigram
from tests.releases.scoring_runs import a_run, execute_run
from tests.releases.study import judged_study

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
RESULTS = ["models/scored/", "models/add/", *(f"figures/{name}/" for name in QUESTIONS)]
MANUAL = ["/manual/", "/manual/how-to/studies.md"]
PLANNING = [
    "",
    *(f"settings/{name}/" for name in STEPS),
    "texts/",
    "questions/",
    "design/",
    "launch/",
    "channels/",
    "channels/new/?preset=sona",
    "campaigns/accounts/",
    "campaigns/new/",
    "team/",
    "webhooks/",
    "repositories/",
    "power/",
]
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


def linked_pages(page: Page) -> list[str]:
    """The pages to which the navigation of a study leads."""
    page.goto("/studies/running/")
    hrefs = "all => all.map(one => one.getAttribute('href'))"
    addresses = []
    for group in page.locator("nav.side > ul > li > a").evaluate_all(hrefs):
        page.goto(group)
        addresses += page.locator("nav.side li li a").evaluate_all(hrefs)
    assert len(addresses) > 15
    return addresses


@pytest.mark.parametrize("part", ["house", "plan", "study", "results"])
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_every_page_of_the_studio_reads_well(studio, width, scheme, part):
    page = studio(width, scheme)
    addresses = {
        "house": lambda: [*HOUSE, *MANUAL],
        "plan": lambda: [f"/studies/plan/{name}" for name in PLANNING],
        "study": lambda: linked_pages(page),
        "results": lambda: [f"/studies/running/{name}" for name in RESULTS],
    }
    wrong = {}
    for address in addresses[part]():
        answer = page.goto(address)
        assert answer.status == 200, address
        axe_results = Axe().run(page)
        if axe_results.violations_count:
            wrong[address] = axe_results.generate_report()
        elif page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong[address] = "scrolls sideways"
    assert wrong == {}


@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [(390, "dark", "ar"), (1280, "light", "ar"), (390, "dark", "fi"), (1280, "light", "fi")],
)
def test_every_text_for_participants_reads_well_with_all_sections_open(studio, width, scheme, language):
    page = studio(width, scheme)
    cast.Experiment.objects.filter(slug="plan").update(language=language)
    page.goto("/studies/plan/texts/")
    for section in page.locator("details > summary").all():
        section.click()
    assert page.locator("form#texts :is(input, textarea):visible").count() > 100
    assert Axe().run(page).violations_count == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("form#texts input:visible").first.fill("Uusi teksti")
    assert page.get_by_role("status").get_by_text("Not saved yet").is_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 of your own")).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_surprisals_of_a_scoring_run_appear_when_their_job_ends(studio, width, scheme, settings, tmp_path):
    folder = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "releases": folder}
    settings.MODELS_DIR = tmp_path / "models"
    write_bigram(settings.MODELS_DIR)
    page = studio(width, scheme)
    run = execute_run(a_run(cast.Experiment.objects.get(slug="running")))
    page.goto("/studies/running/models/scored/")
    page.get_by_role("link", name=run.name).click()
    page.get_by_role("button", name="Compute surprisals").click()
    section = page.get_by_role("region", name="Surprisal of tokens and words")
    expect(section.get_by_text("waiting", exact=True)).to_be_visible()
    assert Axe().run(page).violations_count == 0
    job_runner.run(Job.objects.get(kind=jobs.SURPRISALS).pk)
    section.get_by_role("heading", name="First sentences").wait_for()
    section.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    assert Axe().run(page).violations_count == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert section.evaluate("section => section.scrollWidth <= section.clientWidth")
    with page.expect_download() as download:
        section.get_by_role("link", name="surprisals.parquet").click()
    assert pd.read_parquet(download.value.path())["surprisal_nats"].gt(0).any()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_participants_are_selected_and_decided_on_in_one_bar(studio, width, scheme):
    page = studio(width, scheme)
    page.goto("/studies/running/participants/")
    boxes = page.locator("input.pick")
    page.get_by_label("Select all on this page").check()
    assert page.locator("input.pick:checked").count() == boxes.count() > 1
    boxes.first.uncheck()
    assert page.get_by_text(f"{boxes.count() - 1} selected").is_visible()
    assert page.get_by_label("Reason", exact=True).is_hidden()
    page.get_by_label("Action").select_option("exclude")
    page.get_by_label("Reason", exact=True).fill("Too fast")
    assert Axe().run(page).violations_count == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("participants flagged")).to_be_visible()
    expect(page.get_by_text("excluded manually", exact=True)).to_have_count(boxes.count() - 1)


def test_participants_are_decided_on_without_scripts(figure_page):
    page = figure_page(width=390, java_script_enabled=False)
    page.goto("/studies/running/participants/")
    page.locator("input.pick").first.check()
    page.get_by_label("Action").select_option("exclude")
    page.get_by_label("Reason", exact=True).fill("Too fast")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("excluded manually", exact=True)).to_have_count(1)


def test_times_are_in_the_time_zone_of_the_browser(figure_page):
    page = figure_page(width=1280, timezone_id="Asia/Tokyo")
    page.goto("/account/")
    page.goto("/studies/running/live/")
    assert page.locator("time").last.inner_text().endswith("JST")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_two_texts_of_two_editors_are_side_by_side_and_can_be_chosen_by_keyboard(studio, width, scheme):
    page = studio(width, scheme)
    page.goto("/studies/plan/settings/")
    cast.Experiment.objects.filter(slug="plan").update(consent="Kept for five years.")
    page.fill("#id_consent", "Kept for ten years.")
    page.click("button:has-text('Save')")
    expect(page.locator(".versions label")).to_have_count(2)
    assert Axe().run(page).violations_count == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".versions input").first.focus()
    page.keyboard.press("ArrowDown")
    page.click("button:has-text('Save')")
    expect(page.locator("#id_consent")).to_have_value("Kept for five years.")
    expect(page.locator(".versions")).to_have_count(0)
    page.goto("/studies/plan/history/")
    entries = page.locator("main").inner_text()  # short values stand there without being opened
    assert "Kept for ten years." in entries and "Kept for five years." in entries
    assert Axe().run(page).violations_count == 0


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


SENTENCE = "The keys 1 are here. / The keys 1 is here."
PLACE = "one => [one.offsetTop, one.offsetHeight]"  # independent of scrolling


@pytest.fixture
def figure_page(open_page, client, live_server):
    """A page of Ada's, with a study whose answers came with times."""
    cache.clear()
    judged_study("running", status="open")
    client.force_login(cast.ada())

    def opened(**options):
        page = open_page(**options)
        value = client.cookies["sessionid"].value
        page.context.add_cookies([{"name": "sessionid", "value": value, "url": live_server.url}])
        return page

    return opened


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_a_point_names_its_sentence_and_opens_its_judgments(figure_page, width, scheme):
    page = figure_page(width=width, color_scheme=scheme)
    page.goto("/studies/running/items/")
    drawing, point_text = page.locator("figure svg"), page.locator("figure [data-says]")
    drawing.wait_for()
    assert page.locator("figure picture").is_hidden() and drawing.bounding_box()["width"] <= width
    before = point_text.evaluate(PLACE)
    drawing.locator("a > path").first.hover()
    assert "as expected, 95 %" in point_text.inner_text() and point_text.evaluate(PLACE) == before
    drawing.focus()
    page.keyboard.press("Home")
    for _ in range(3):
        if SENTENCE in point_text.inner_text():
            break
        page.keyboard.press("ArrowDown")
    assert SENTENCE in point_text.inner_text()
    assert Axe().run(page).violations_count == 0
    page.keyboard.press("Enter")
    page.wait_for_url("**/judgments/?item=subject_verb-1")
    assert page.locator("tbody tr").count() == 6


def test_a_first_tap_names_a_point_and_the_link_below_opens_it(figure_page):
    page = figure_page(width=390, has_touch=True, is_mobile=True)
    page.goto("/studies/running/participants/")
    page.locator("figure svg a > path").last.tap()
    point_text = page.locator("figure [data-says]")
    assert "median 0.9 s" in point_text.inner_text() and page.url.endswith("/participants/")
    point_text.get_by_role("link").tap()
    page.wait_for_url("**/judgments/?participant=**")


def test_without_scripts_the_image_stays_and_its_drawing_has_the_links(figure_page):
    page = figure_page(width=390, java_script_enabled=False)
    page.route("**/favicon.ico", lambda route: route.fulfill(body=""))  # a drawing names no icon
    page.goto("/studies/running/items/")
    assert page.locator("figure img").get_attribute("alt").startswith("Agreement by item")
    page.get_by_role("link", name="Open the figure").click()
    expect(page.locator("a title")).to_have_count(4)
    page.locator("a").first.click()
    page.wait_for_url("**/judgments/?item=subject_verb-*")


def test_another_layout_is_drawn_when_the_window_changes(figure_page):
    page = figure_page(width=1280, color_scheme="light")
    page.goto("/studies/running/items/")
    page.locator("figure svg").wait_for()
    wide = page.locator("figure svg").get_attribute("width")
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(f"figure svg:not([width='{wide}'])").wait_for()
    assert float(page.locator("figure svg").get_attribute("width")) < float(wide)


WATCH = """
const place = document.querySelector("[data-upload-progress]");
const keep = () => sessionStorage.setItem("shown", place.innerText);
new MutationObserver(keep).observe(place, { attributes: true, subtree: true, childList: true });
"""


@pytest.mark.parametrize("address", ["/materials/upload/", "/judgments/import/"])
def test_an_upload_shows_its_progress_and_leads_to_the_preview(
    open_page, client, live_server, settings, tmp_path, address
):
    settings.MEDIA_ROOT = tmp_path
    cache.clear()
    client.force_login(cast.ada())
    page = open_page(width=390)
    value = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": value, "url": live_server.url}])
    page.goto(address)
    table = "participant,item,sentence,value\n" + "p1,i1,It rains.,3\np1,i2,It snows.,5\n"
    file = {"name": "items.csv", "mimeType": "text/csv", "buffer": table.encode()}
    page.set_input_files("input[type=file]", files=[file])
    page.fill("[name=name], [name=experiment]", "Rain")
    page.evaluate(WATCH)
    page.click("button:has-text('Preview')")
    page.wait_for_url("**/*-*-*-*-*/")
    assert "Preview: nothing is stored yet." in page.inner_text("main")
    progress = page.evaluate("sessionStorage.getItem('shown')")
    assert "Sending" in progress or "Reading" in progress


def test_a_figure_whose_image_reports_its_loading_twice_is_drawn_once(figure_page):
    page = figure_page(width=1280)
    page.route("**/js/figure.js", lambda route: route.abort())
    page.goto("/studies/running/participants/")
    page.unroute("**/js/figure.js")
    page.wait_for_function("() => document.querySelector('figure img').naturalWidth > 0")
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.type = "module";
          script.src = document.querySelector("figure script").src + "?again";
          script.onload = () => document.querySelector("figure img").dispatchEvent(new Event("load"));
          document.body.append(script);
        }"""
    )
    page.locator("figure svg").first.wait_for()
    page.wait_for_load_state("networkidle")
    assert page.locator("figure svg").count() == 1


@pytest.mark.parametrize("width, scheme", [(390, "light"), (1280, "dark")])
def test_the_way_from_a_template_to_a_draft_by_keyboard(
    open_page, check_page, client, live_server, width, scheme
):
    client.force_login(cast.ada())
    page = open_page(width=width, color_scheme=scheme)
    cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}
    page.context.add_cookies([cookie])
    page.goto("/studies/new/")
    page.get_by_role("link", name="From a template").press("Enter")
    page.get_by_role("heading", name="New study from a template").wait_for()
    check_page(page)
    page.get_by_role("link", name="Seven-point ratings").press("Enter")
    page.get_by_role("heading", name="What this template makes").wait_for()
    check_page(page)
    page.get_by_role("button", name="Create study").press("Enter")
    page.wait_for_url("**/settings/")
    page.goto(f"/studies/{Experiment.objects.get().slug}/")
    page.get_by_role("link", name="Template (.obelus.yaml)").wait_for()
    check_page(page)
