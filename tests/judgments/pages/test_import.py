"""The pages that import judgments: send, look, map, confirm."""

import json
import uuid
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from experiments.models import Experiment, Job, Membership, Upload
from experiments.operation import job_runner
from judgments.models import Judgment
from tests import cast
from tests.experiments.pages.page_forms import sent_by_browser
from tests.webhook_events import subscribed

pytestmark = pytest.mark.django_db
RATINGS = "wer,item,Urteil\np1,i1,2\np1,i2,7\np2,i1,3\n"


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def send(client, text=RATINGS, name="ratings.csv", **chosen):
    chosen = {"experiment": "Ratings", "format": "table", **chosen}
    data = text if isinstance(text, bytes) else text.encode()
    return client.post("/judgments/import/", {"file": SimpleUploadedFile(name, data), **chosen})


def test_upload_leads_to_a_preview_that_names_what_is_missing_and_offers_the_columns(ada):
    page = ada.get(send(ada).url)
    assert page.status_code == 200
    assert "missing columns participant, value" in page.content.decode()
    assert "wer" in dict(page.context["mapping"].fields["participant"].choices)
    assert not Experiment.objects.exists()


def test_a_mapping_makes_the_file_fit_and_the_job_stores_it_once(ada):
    address = send(ada).url
    chosen = {"experiment": "Ratings", "format": "table", "map-participant": "wer", "map-value": "Urteil"}
    page = ada.post(address, {**chosen, "map-item": "item", "action": "again"}, follow=True)
    assert page.context["report"]["sessions_new"] == 2
    for _ in range(2):
        answer = ada.post(address, {**chosen, "map-item": "item", "action": "import"})
    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.pk}/"
    job_runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result["judgments_added"]) == ("done", 3)
    study = Experiment.objects.get()
    assert (job.experiment, study.owner) == (study, cast.ada())
    assert Membership.objects.get().role == "owner"
    assert not Upload.objects.exists()
    assert ada.get(f"/jobs/{job.pk}/").status_code == 200


def test_a_file_that_does_not_fit_leaves_a_failed_job_and_nothing_else(ada):
    address = send(ada, "participant,item,value\np,i,x\n").url
    ada.post(address, {"experiment": "Ratings", "format": "table", "action": "import"})
    job = Job.objects.get()
    job_runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "row 2, column 'value'" in job.error
    assert not Judgment.objects.exists()


def test_a_stranger_sees_no_upload_of_others_and_cannot_import_into_their_study(client):
    cast.draft("agreement")
    client.force_login(cast.ada())
    address = send(client).url
    client.force_login(cast.cleo())
    assert client.get(address).status_code == 404
    preview = send(client, "participant,item,value\np,i,2\np,j,7\n", experiment="agreement").url
    report = client.get(preview).context["report"]
    assert report["creates_experiment"] is True


def test_a_discarded_file_is_deleted(ada):
    address = send(ada).url
    ada.post(f"{address}discard/")
    assert not Upload.objects.exists()
    assert ada.get(address).status_code == 404


def test_pages_ask_for_a_login(client):
    assert client.get("/judgments/import/").status_code == 302
    assert client.get(f"/judgments/import/{uuid.uuid4()}/").status_code == 302


def test_binary_files_are_reported_on_the_page(ada):
    page = ada.get(send(ada, "a\0b,c\n1,2\n").url)
    assert 'role="alert"' in page.content.decode()


def test_a_task_that_can_only_be_imported_has_its_pages(ada):
    address = send(ada, "participant,item,value\np,i,0.25\np,j,0.75\n").url
    ada.post(address, {"experiment": "Sliders", "format": "table", "action": "import"})
    job_runner.run(Job.objects.get().pk)
    assert Experiment.objects.get().task == "slider"
    for page in ("", "settings/", "participants/", "judgments/", "ratings/"):
        assert ada.get(f"/studies/sliders/{page}").status_code == 200


def test_an_inferred_encoding_is_asked_about_before_judgments_are_imported(ada):
    text = "participant,item,sentence,value\np1,i1,The boy said “hello”.,2\np1,i2,He left.,7\n"
    address = send(ada, text.encode("cp1252")).url
    assert "The boy said <mark>“</mark>hello<mark>”</mark>." in ada.get(address).content.decode()
    form = {"experiment": "Ratings", "format": "table", "action": "import"}
    page = ada.post(address, form, follow=True).content.decode()
    assert "Say whether the lines with special characters are right." in page
    assert not Job.objects.exists()
    ada.post(address, {**form, "encoding-of-0": "Windows-1252", "inferred-for-0": "Windows-1252"})
    assert Job.objects.get().kind == "judgments.import"


def test_judgments_added_to_a_study_are_an_event_with_their_counts(ada):
    def store(text, name):
        form = {"experiment": "Ratings", "format": "table", "action": "import"}
        address = send(ada, text, name).url
        for _ in range(2):  # pressed twice
            ada.post(address, form)
        for job_id in Job.objects.filter(kind="judgments.import").values_list("pk", flat=True):
            job_runner.run(job_id)

    store("participant,item,value\np1,i1,2\np1,i2,7\n", "first.csv")
    with subscribed(Experiment.objects.get(), "judgments.imported") as subscription:
        store("participant,item,value\np1,i1,2\np1,i2,7\np2,i1,3\np2,i2,4\n", "second.csv")
        [data] = subscription.data("judgments.imported")
    assert data == {
        "file": "second.csv",
        "participants_added": 1,
        "sessions_added": 1,
        "judgments_added": 2,
        "sessions_already_here": 1,
    }


def test_read_again_keeps_everything_that_was_chosen(ada):
    """The form of the page, sent again as it is, reads the same."""
    rows = [
        f"p{person},{n},{status},{order},S {n} {status}.,{value},{kind}"
        for person in (1, 2)
        for n, (status, value, kind, order) in enumerate(
            [("g", "5", "rated", "SVO"), ("u", "99", "rated", "VSO"), ("g", "1", "recall", "SVO")]
        )
    ]
    file = SimpleUploadedFile(
        "r.csv", "\n".join(["who,nr,c,word_order,words,answer,task_kind", *rows]).encode()
    )
    address = ada.post("/judgments/import/", {"file": file, "experiment": "s", "format": "table"}).url
    chosen = {
        "map-participant": "who",
        "map-item": "nr",
        "map-condition": "c",
        "map-sentence": "words",
        "map-value": "answer",
        "where": "task_kind=rated",
        "missing": "99 -1",
        "labels": "5=1 1=5",
        "scale_low": "1",
        "scale_high": "7",
        "task": "likert",
        "repeats": "average",
        "spelling": "last",
        "language": "de",
    }
    ada.post(address, {"experiment": "s", "format": "table", **chosen, "action": "again"})
    first = ada.get(address)
    assert first.context["report"]["missing"] == 2 and first.context["report"]["judgments"] == 4
    for _ in range(2):
        sent = sent_by_browser(ada.get(address).content.decode(), "reading")
        assert sent["spelling"] == ["last"]
        ada.post(address, {**sent, "action": "again"})
        assert ada.get(address).context["report"] == first.context["report"]


def test_the_page_asks_about_a_factor_that_is_not_mapped(ada):
    rows = [
        f"p{person},{item},{number},{tense},{item} {number} {tense}.,{value}"
        for person in (1, 2)
        for item in (1, 2)
        for number, tense, value in (("sg", "past", 6), ("sg", "now", 5), ("pl", "past", 3), ("pl", "now", 1))
    ]
    text = "\n".join(["participant,item,number,tense,sentence,rating", *rows])
    for chosen in ({"map-condition": "number+tense"}, {"map-attribute": "number+tense"}):
        address = send(ada, text).url
        page = ada.get(address)
        assert "Map condition=number+tense" in page.context["error"]
        form = sent_by_browser(page.content.decode(), "reading")
        assert ("number+tense", "number+tense") in page.context["mapping"].fields["condition"].choices
        assert {*form["map-condition"], *form["map-attribute"]} == {""}
        ada.post(address, {**form, **chosen, "action": "again"})
        again = ada.get(address)
        assert again.context["report"]["columns"].items() >= {(key[4:], col) for key, col in chosen.items()}
        kept = sent_by_browser(again.content.decode(), "reading")
        assert all(kept[name] in (column, [column]) for name, column in chosen.items())


def test_questions_about_a_file_without_a_table_follow_one_another(ada):
    """Of jsPsych, the page has no columns: it asks for the answer, then for the factor, and keeps both."""
    cells = (("a", "sg", 6), ("a", "pl", 2), ("b", "sg", 5), ("b", "pl", 1))
    trials = [
        {"trial_type": "survey-likert", "trial_index": n, "subject": person, "item": item, "number": number,
         "sentence": f"{item} {number}.", "response": {"natural": value, "sure": 3}}
        for person in ("p1", "p2")
        for n, (item, number, value) in enumerate(cells)
    ]  # fmt: skip
    address = send(ada, json.dumps(trials), "data.json", format="jspsych").url
    for message, field, choice in (
        ("a response has several answers", "map-value", "natural"),
        ("only the column number tells apart", "map-condition", "number"),
    ):
        page = ada.get(address)
        assert message in page.context["error"]
        form = sent_by_browser(page.content.decode(), "reading")
        ada.post(address, {**form, field: choice, "action": "again"})
    report = ada.get(address).context["report"]
    assert report["columns"]["condition"] == "number" and report["creates_materials"]["items"] == 2


def test_a_hidden_sheet_is_offered_on_the_page(ada):
    file = Path(__file__).parents[2] / "experiments/materials/files/hidden-openpyxl-3.1.5.xlsx"
    address = send(ada, file.read_bytes(), name=file.name).url
    page = ada.get(address)
    assert ("Ratings", "Ratings (hidden)") in page.context["form"].fields["sheet"].choices
    chosen = {"experiment": "Ratings", "format": "table", "sheet": "Ratings", "action": "again"}
    assert ada.post(address, chosen, follow=True).context["report"]["judgments"] == 8
