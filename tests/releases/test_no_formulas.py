"""No cell that a participant or an outsider can write is a formula, in any CSV of the platform.

Every text that somebody else may write is a formula here; so is every sentence, which the data files keep
exactly, because statistics and imports read them again.
"""

import csv
import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from analysis.text import no_formula
from experiments.models import Campaign, PresentationList
from judgments.models import Flag, Judgment, Payment, PlatformIdentity, Session, SessionEvent, Submission
from releases.gold.build import build_release
from releases.gold.options import Options, ReportOptions
from releases.models import ScoringRun
from releases.study_report.build import PACKAGE, build_report
from tests import cast
from tests.releases.study import judged_study, ready_release, scored
from tests.routes import routes

pytestmark = pytest.mark.django_db
TEXTS = ("=The keys {n} are here.", "@The keys {n} is here.")
PREFIXES = ("=1+1|", " =1+1|", "+1|", "-1|", "@A1|", "\t=1|", "\r=1|", "\n=1|", "＝1|")  # noqa: RUF001
#: Addresses that send CSV, each with the test below that reads it; a new one fails until it is here.
TESTED = {
    *("study-participants-csv", "study-mturk-batch", "study-payments-csv", "study-deviations-csv"),
    *("study-history-csv", "lab-history-csv", "accounts-history-csv", "account-history-csv"),
    *("study-effects-csv", "study-multiverse-csv", "study-agreement-csv", "study-ratings-csv"),
    *("study-groups-csv", "study-leaderboard-csv", "api-mturk-batch", "api-judgments-csv"),
}


def evil(name: str, number: int = 0) -> str:
    """A formula that names who wrote it; each number begins in another way."""
    return f"{PREFIXES[number % len(PREFIXES)]}WRITTEN BY {name}"


def judged(task: str = "likert"):
    """A study in which everything that somebody else may write is a formula."""
    questions = [{"name": "dialect", "text": "Dialect?", "publish": True}]
    study = judged_study(
        task=task, people=10, questionnaire=questions, materials=cast.material_set(task, texts=TEXTS)
    )
    for number, row in enumerate(PresentationList.objects.filter(experiment=study)):
        PresentationList.objects.filter(pk=row.pk).update(label=evil(f"list{number}", number))
    campaign = Campaign.objects.create(
        experiment=study, recruiter="mturk", name=evil("campaign"), external_id=evil("HIT type"),
        reward_minor=100, currency="USD", options={"title": evil("title"), "keywords": evil("keywords")},
    )  # fmt: skip
    for number, person in enumerate(study.participants.order_by("pk")):
        person.pseudonym = evil(f"pseudonym{number}", number)  # of an imported file
        person.background = {
            "dialect": evil("dialect", number % 2 * 2),
            "several": [evil("several", number), "x"],
        }
        person.save()
        PlatformIdentity.objects.create(
            experiment=study, participant=person, recruiter="mturk",
            external_id=evil(f"worker{number}", number),
            parameters={"assignmentId": evil("assignment", number), "hitId": evil("HIT", number)},
        )  # fmt: skip
        Flag.objects.create(participant=person, reason=evil("flag", number), raised_by=cast.ada())
        for session in Session.objects.filter(participant=person):
            Session.objects.filter(pk=session.pk).update(
                campaign=campaign, user_agent=evil("browser", number), completion_code=evil("code", number),
                attributes={"label": evil("label", number), "source": evil("source", number)},
            )  # fmt: skip
            SessionEvent.objects.create(session=session, kind="closing", details={"comment": evil("comment")})
            Payment.objects.create(
                session=session, kind="reward", amount_minor=100, currency="USD",
                reason=evil("payment", number), idempotency_key=f"k{number}",
            )  # fmt: skip
            Submission.objects.create(
                session=session, campaign=campaign, external_id=evil(f"submission{number}", number),
                message=evil("message", number), last_seen_at=timezone.now(),
            )  # fmt: skip
    for number, judgment in enumerate(Judgment.objects.order_by("pk")):
        judgment.response = evil("response", number)
        judgment.timing = {
            "key": evil("key", number),
            "viewport": evil("viewport"),
            "loaded_by": evil("loaded"),
        }
        Judgment.objects.filter(pk=judgment.pk).update(response=judgment.response, timing=judgment.timing)
    return study


def cells_of(content: bytes) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(content.decode(), newline="")) for cell in row]


def formulas_of(content: bytes) -> list[str]:
    """The cells that a spreadsheet would run."""
    return [cell for cell in cells_of(content) if no_formula(cell) != cell]


def content_of(response) -> bytes:
    assert response.status_code == 200, response.status_code
    return b"".join(response.streaming_content) if response.streaming else response.content


def sentences_of(study) -> set[str]:
    return set(study.materials.sentences.values_list("text", flat=True))


def test_every_address_that_sends_csv_is_read_here():
    assert {
        name for name, route in routes() if route.endswith(".csv") or name == "study-accounting"
    } <= TESTED


@pytest.mark.parametrize("task", ["likert", "forced_choice"])
def test_files_that_people_open_have_no_formula(client, task):
    study = judged(task)
    run = scored(study, "bright")
    ScoringRun.objects.filter(pk=run.pk).update(name=evil("model"))
    release = ready_release(study)
    client.force_login(cast.ada())
    pages = [
        *("participants.csv", "effects.csv", "multiverse.csv", "history.csv", "deviations.csv"),
        "groups.csv",
        "agreement.csv" if task == "forced_choice" else "ratings.csv",
        f"releases/{release.number}/leaderboard.csv",
        *("campaigns/payments/accounting.csv", "campaigns/payments/accounting.csv?ids=yes"),
    ]
    n_quoted = {}
    for page in pages:
        response = client.get(f"/studies/{study.slug}/{page}")
        if response.status_code == 200:  # some results need another task
            content = content_of(response)
            assert formulas_of(content) == [], page
            n_quoted[page] = content.count(b"WRITTEN BY")
    assert n_quoted.pop("participants.csv") > 50 and n_quoted["groups.csv"]
    assert n_quoted.keys() >= {"history.csv", "effects.csv"}
    assert formulas_of(content_of(client.get(reverse("account-history-csv")))) == []
    for figure in ("participants", "items", "response_times", "ratings", "group-effects", "item-functioning"):
        response = client.get(f"/studies/{study.slug}/figures/{figure}.csv")
        if response.status_code == 200:
            assert formulas_of(content_of(response)) == [], figure
    table = f"name\n{evil('invited')}\n".encode()
    links = client.post(f"/studies/{study.slug}/links/", {"file": SimpleUploadedFile("people.csv", table)})
    assert formulas_of(content_of(links)) == []


@pytest.mark.parametrize("task", ["likert", "forced_choice"])
def test_data_files_keep_sentences_exactly_and_nothing_else_is_a_formula(client, task):
    study = judged(task)
    client.force_login(cast.ada())
    base = f"/api/v1/studies/{study.slug}"
    paths = [
        f"{base}/judgments.csv?kinds=all&columns={columns}"
        for columns in ("analysis", "contract", "all", "jspsych", "raw")
    ]
    if task == "forced_choice":
        paths += [f"{base}/mturk-batch.csv", f"/studies/{study.slug}/mturk-batch.csv?ids=yes"]
    for path in paths:
        content = content_of(client.get(path))
        assert set(formulas_of(content)) <= sentences_of(study), path
        assert content.count(b"WRITTEN BY") > 5, path
    analysis = cells_of(content_of(client.get(paths[0])))
    assert sentences_of(study) <= set(analysis)


@pytest.mark.usefixtures("drawn_once")
@pytest.mark.parametrize("task", ["likert", "forced_choice"])
def test_releases_and_packages_keep_sentences_exactly_and_nothing_else_is_a_formula(task):
    study = judged(task)
    run = scored(study, "bright")
    ScoringRun.objects.filter(pk=run.pk).update(name=evil("model"))
    files = dict(build_release(study, Options(formats="psych-ds,ewok,minicons")).files)
    report = build_report(study, ReportOptions()).files
    with zipfile.ZipFile(io.BytesIO(report[PACKAGE])) as archive:
        files |= {f"package {name}": archive.read(name) for name in archive.namelist()}
    read = {name: content for name, content in files.items() if name.endswith(".csv")}
    for name, content in read.items():
        assert set(formulas_of(content)) <= sentences_of(study), name
    assert sentences_of(study) <= set(cells_of(files["sentences.csv"]))
    for name in ("judgments.csv", "participants.csv"):
        assert files[name].count(b"WRITTEN BY") > 5
    judgments = csv.DictReader(io.StringIO(files["judgments.csv"].decode(), newline=""))
    people = csv.DictReader(io.StringIO(files["participants.csv"].decode(), newline=""))
    assert {row["participant"] for row in judgments} == {row["participant"] for row in people}
