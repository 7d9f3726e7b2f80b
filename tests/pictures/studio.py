"""The researcher's pages of the demo."""

from playwright.sync_api import Page

from analysis.releases.models import Comparison
from experiments.models import Experiment, Job
from judgments.models import Participant
from tests.pictures.camera import Camera

PAGES = {
    "start": "/",
    "new-study": "/studies/new/",
    "overview": "/studies/demo/",
    "settings": "/studies/demo/settings/",
    "questions": "/studies/demo/questions/",
    "design": "/studies/demo/design/",
    "power": "/studies/demo/power/",
    "launch": "/studies/demo/launch/",
    "team": "/studies/demo/team/",
    "materials": "/materials/",
    "materials-upload": "/materials/upload/",
    "material-set": "/materials/demo-minimal-pairs/",
    "live": "/studies/demo/live/",
    "progress": "/studies/demo/progress/",
    "participants": "/studies/demo/participants/",
    "judgments": "/studies/demo/judgments/",
    "import-judgments": "/judgments/import/",
    "exclusions": "/studies/demo/exclusions/",
    "agreement": "/studies/demo/agreement/",
    "reliability": "/studies/demo/reliability/",
    "items": "/studies/demo/items/",
    "ratings": "/studies/demo-likert/ratings/",
    "effects": "/studies/demo-likert/effects/",
    "ordinal": "/studies/demo-likert/ordinal/",
    "figures": "/studies/demo/figures/",
    "releases": "/studies/demo/releases/",
    "release": "/studies/demo/releases/1/",
    "reports": "/studies/demo/reports/",
    "models": "/studies/demo/models/",
    "leaderboard": "/studies/demo/releases/1/leaderboard/",
    "jobs": "/jobs/",
    "account": "/account/",
    "password": "/accounts/password/change/",
    "second-factor": "/accounts/2fa/",
    "api": "/api/v1/docs/",
    "nothing-here": "/nothing-here/",
}
OUTSIDE = {"welcome": "/", "login": "/accounts/login/"}
MATERIALS = """pair_id,paradigm,phenomenon,good,bad
keys-1,subject_verb,agreement,The keys to the cabinet are here.,The keys to the cabinet is here.
keys-2,subject_verb,agreement,The label on the bottles has come off.,The label on the bottles have come off.
who-1,wh_island,islands,Who said that Mary bought the bread?,What did John ask who bought?
"""
JUDGMENTS = """participant,sentence_id,sentence,response
p1,keys-1-good,The keys to the cabinet are on the table.,7
p1,keys-1-bad,The keys to the cabinet is on the table.,3
p2,keys-1-good,The keys to the cabinet are on the table.,6
p2,keys-1-bad,The keys to the cabinet is on the table.,2
"""


def take(camera: Camera, *, password: str) -> None:
    """Take the studio's pictures, before the login and as the demo's researcher."""
    stranger, ours = camera.somebody(), camera.somebody()
    page = stranger.new_page()
    for name, address in OUTSIDE.items():
        if camera.wants(name):
            page.goto(address)
            camera.take(page, name)
    page = ours.new_page()
    page.goto("/accounts/login/")
    page.locator("[name=login]").fill("demo")
    page.locator("[name=password]").fill(password)
    page.locator("[name=password]").press("Enter")
    page.wait_for_url(lambda address: "login" not in address)
    for name, address in (PAGES | _numbered()).items():
        if camera.wants(name):
            page.goto(address)
            _computed(page)
            camera.take(page, name)
    if camera.wants("rounds"):
        _rounds(camera, page)
    if camera.wants("materials-preview"):
        _uploaded(camera, page, "/materials/upload/", MATERIALS, "materials-preview")
    if camera.wants("import-preview"):
        _uploaded(camera, page, "/judgments/import/", JUDGMENTS, "import-preview")
    stranger.close()
    ours.close()


def _numbered() -> dict[str, str]:
    """Pages whose addresses hold the number of a row."""
    demo = Experiment.objects.get(slug="demo")
    person = Participant.objects.filter(experiment=demo).earliest("pk")
    newest = Comparison.objects.filter(release__experiment=demo).latest("pk")
    compared = f"/studies/demo/models/comparisons/{newest.pk}/"
    return {
        "erase": f"/studies/demo/participants/{person.pk}/erase/",
        "comparison": compared,
        "depth": f"{compared}depth/correlations/",
        "job": f"/jobs/{Job.objects.latest('pk').pk}/",
    }


def _computed(page: Page) -> None:
    """Wait for what a worker computes first; such pages renew themselves."""
    page.wait_for_load_state("load")
    page.get_by_text("Being computed").wait_for(state="hidden", timeout=120_000)


def _rounds(camera: Camera, page: Page) -> None:
    """Plan a second round, and take it away again."""
    page.goto("/studies/demo/design/")
    with page.expect_navigation():
        page.get_by_role("button", name="Add a round").click()
    page.locator("#rounds").evaluate("one => one.scrollIntoView()")
    camera.take(page, "rounds", whole=False)
    with page.expect_navigation():
        page.get_by_role("button", name="Take round 2 away").click()


def _uploaded(camera: Camera, page: Page, address: str, text: str, name: str) -> None:
    """Upload a file as far as its preview."""
    page.goto(address)
    file = {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": text.encode()}
    page.locator("input[type=file]").set_input_files(file)
    for field in page.locator("input[required][type=text]").all():
        if not field.input_value():
            field.fill("Agreement and islands")
    with page.expect_navigation():
        page.locator("main .button.primary").first.click()
    camera.take(page, name)
