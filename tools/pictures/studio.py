"""The researcher's pages of the demo."""

import io
import shlex

from django.core.management import call_command
from playwright.sync_api import BrowserContext, Page

from experiments.models import Experiment, Job
from judgments.models import Participant
from releases.models import Comparison
from tools.pictures import recruitment
from tools.pictures.camera import DOCS, Camera

PAGES = {
    "start": "/",
    "new-study": "/studies/new/",
    "overview": "/studies/demo/",
    "settings": "/studies/demo/settings/",
    "settings-task": "/studies/demo/settings/task/",
    "settings-texts": "/studies/demo/settings/texts/",
    "settings-checks": "/studies/demo/settings/checks/",
    "settings-sessions": "/studies/demo/settings/sessions/",
    "settings-end": "/studies/demo/settings/end/",
    "texts": "/studies/demo/texts/",
    "questions": "/studies/demo/questions/",
    "history": "/studies/demo/history/",
    "design": "/studies/demo/design/",
    "power": "/studies/demo/power/",
    "launch": "/studies/demo/launch/",
    "channels": "/studies/demo/channels/",
    "channel": "/studies/demo/channels/new/?preset=prolific",
    "campaigns": "/studies/demo/campaigns/",
    "accounts": "/studies/demo/campaigns/accounts/",
    "alerts": "/studies/demo/campaigns/alerts/",
    "payments-ledger": "/studies/demo/campaigns/payments/",
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
    "times": "/studies/demo-likert/times/",
    "multiverse": "/studies/demo-likert/multiverse/",
    "ordinal": "/studies/demo-likert/ordinal/",
    "figures": "/studies/demo/figures/",
    "figures-participants": "/studies/demo/figures/participants/",
    "downloads": "/studies/demo/downloads/",
    "releases": "/studies/demo/releases/",
    "release": "/studies/demo/releases/1/",
    "reports": "/studies/demo/reports/",
    "models": "/studies/demo/models/",
    "models-add": "/studies/demo/models/add/",
    "leaderboard": "/studies/demo/releases/1/leaderboard/",
    "jobs": "/jobs/",
    "account": "/account/",
    "password": "/accounts/password/change/",
    "second-factor": "/accounts/2fa/",
    "api": "/api/v1/docs/",
    "nothing-here": "/nothing-here/",
}
FACTORIAL = ("mapping", "factorial-design", "factorial-launch", "factorial-effects", "factorial-figures")
OUTSIDE = {"welcome": "/", "login": "/accounts/login/"}
MATERIALS = """pair_id,paradigm,phenomenon,good,bad
keys-1,subject_verb,agreement,The keys to the cabinet are here.,The keys to the cabinet is here.
keys-2,subject_verb,agreement,The label on the bottles has come off.,The label on the bottles have come off.
who-1,wh_island,islands,Who said that Mary bought the bread?,What did John ask who bought?
"""
ENCODED = (
    "pair_id,good,bad\n1,The boy said “hello”.,The boy “hello” said.\n2,It’s late – go.,It late’s – go.\n"
)
FINDINGS = """pair_id,good,bad
keys-1,The keys are here.,The keys is here.
keys-2,The doors are open.,The doors are open.
keys-3,The dogs bark.,The dogs barks.
keys-4,The dogs barks.,The dogs bark.
"""
JUDGMENTS = """participant,sentence_id,sentence,response
p1,keys-1-good,The keys to the cabinet are on the table.,7
p1,keys-1-bad,The keys to the cabinet is on the table.,3
p2,keys-1-good,The keys to the cabinet are on the table.,6
p2,keys-1-bad,The keys to the cabinet is on the table.,2
"""


def take(camera: Camera, *, password: str) -> None:
    """Take the studio's pictures, before the login and as the demo's researcher."""
    stranger, member = camera.somebody(), camera.somebody()
    page = stranger.new_page()
    for name, address in OUTSIDE.items():
        if camera.wants(name):
            page.goto(address)
            camera.take(page, name)
    page = member.new_page()
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
    recruitment.take(camera, page)
    if camera.wants("rounds"):
        _rounds(camera, page)
    if camera.wants("materials-preview"):
        _uploaded(camera, page, "/materials/upload/", MATERIALS, "materials-preview")
    if camera.wants(*FACTORIAL):
        _factorial(camera, page)
    if camera.wants("materials-encoding"):
        _uploaded(camera, page, "/materials/upload/", ENCODED.encode("cp1252"), "materials-encoding")
    if camera.wants("findings-preview", "findings-launch"):
        _findings(camera, page)
    if camera.wants("conflict"):
        _conflict(camera, member)
    if camera.wants("import-preview"):
        _uploaded(camera, page, "/judgments/import/", JUDGMENTS, "import-preview")
    stranger.close()
    member.close()


def _numbered() -> dict[str, str]:
    """Pages whose addresses hold the number of a row."""
    demo = Experiment.objects.get(slug="demo")
    campaign = demo.campaigns.get(name="example")
    here = f"/studies/demo/campaigns/{campaign.pk}/"
    submission = campaign.submissions.filter(status="approved").earliest("pk")
    person = Participant.objects.filter(experiment=demo).earliest("pk")
    newest = Comparison.objects.filter(release__experiment=demo).latest("pk")
    compared = f"/studies/demo/models/comparisons/{newest.pk}/"
    return {
        "campaign": here,
        "demographics": f"{here}demographics/",
        "codes": f"{here}codes/",
        "submissions": f"{here}submissions/",
        "submission": f"{here}submissions/{submission.pk}/",
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
    camera.take(page, "rounds", is_full_page=False)
    with page.expect_navigation():
        page.get_by_role("button", name="Take round 2 away").click()


def _factorial(camera: Camera, page: Page) -> None:
    """The 2×2 study of the how-to page, from its table to the difference of differences."""
    table, ratings = DOCS / "how-to/islands.csv", DOCS / "how-to/islands-ratings.csv"
    title = f"Whether islands {camera.width}"
    page.goto("/materials/upload/")
    page.locator("input[type=file]").set_input_files(table)
    page.locator("#id_name").fill(title)
    with page.expect_navigation():
        page.get_by_role("button", name="Preview").click()
    camera.take(page, "mapping")
    with page.expect_navigation():
        page.get_by_role("button", name="Store these materials").click()
    with page.expect_navigation():
        page.get_by_role("link", name="New study with these").click()
    page.locator("#id_title").fill(title)
    page.locator("input[name=task][value=likert]").check()
    with page.expect_navigation():
        page.get_by_role("button", name="Create study").click()
    slug = Experiment.objects.get(title=title).slug
    for step in ("design", "launch"):
        page.goto(f"/studies/{slug}/{step}/")
        camera.take(page, f"factorial-{step}")
    imported = f"{title}, imported"
    options = f"--experiment '{imported}' --materials '{title}' --format table --owner demo"
    options += " --task likert --scale-low 1 --scale-high 7"
    options += " --map condition=structure+distance item=item_set sentence=text"
    call_command("import_judgments", str(ratings), *shlex.split(options), stdout=io.StringIO())
    study = Experiment.objects.get(title=imported)
    for name, address in (("effects", "effects/"), ("figures", "figures/effects/")):
        page.goto(f"/studies/{study.slug}/{address}")
        _computed(page)
        camera.take(page, f"factorial-{name}")


def _findings(camera: Camera, page: Page) -> None:
    """A table with identical pairs and conflicting statuses: its preview, and the checklist of its study."""
    title = f"With findings {camera.width}"
    _uploaded(camera, page, "/materials/upload/", FINDINGS, "findings-preview", title=title)
    with page.expect_navigation():
        page.get_by_role("button", name="Store these materials").click()
    with page.expect_navigation():
        page.get_by_role("link", name="New study with these").click()
    page.locator("#id_title").fill(title)
    with page.expect_navigation():
        page.get_by_role("button", name="Create study").click()
    page.goto(f"/studies/{Experiment.objects.get(title=title).slug}/launch/")
    camera.take(page, "findings-launch")


def _conflict(camera: Camera, browser: BrowserContext) -> None:
    """Two tabs change one text; the second is shown both."""
    title = f"Two editors {camera.width}"
    first, second = browser.new_page(), browser.new_page()
    first.goto("/studies/new/")
    first.locator("#id_title").fill(title)
    with first.expect_navigation():
        first.get_by_role("button", name="Create study").click()
    address = f"/studies/{Experiment.objects.get(title=title).slug}/settings/texts/"
    for page, text in (
        (first, "We store answers for ten years."),
        (second, "We store answers for five years."),
    ):
        page.goto(address)
        page.locator("[name=consent]").fill(text)
    for page in (first, second):
        with page.expect_navigation():
            page.get_by_role("button", name="Save").first.click()
    camera.take(second, "conflict")
    first.close()
    second.close()


def _uploaded(
    camera: Camera,
    page: Page,
    address: str,
    text: str | bytes,
    name: str,
    *,
    title: str = "Agreement and islands",
) -> None:
    """Upload a file as far as its preview."""
    page.goto(address)
    file = {
        "name": f"{name}.csv",
        "mimeType": "text/csv",
        "buffer": text.encode() if isinstance(text, str) else text,
    }
    page.locator("input[type=file]").set_input_files(file)
    for field in page.locator("input[required][type=text]").all():
        if not field.input_value():
            field.fill(title)
    with page.expect_navigation():
        page.locator("main .button.primary").first.click()
    camera.take(page, name)
