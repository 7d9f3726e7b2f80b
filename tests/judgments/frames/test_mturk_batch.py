"""A study of forced choices as MTurk's batch results, and read again by the import of such files."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command

from experiments.models import AuditEntry, Campaign, Experiment
from judgments.models import Judgment, PlatformIdentity
from tests import cast

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/agreement/mturk-batch.csv"


@pytest.fixture
def study():
    study = cast.study("agreement", task="forced_choice", n_lists=2)
    turk = Campaign.objects.create(
        experiment=study, recruiter="mturk", name="turk", state="running", currency="USD", reward_minor=50
    )
    for number, name in enumerate(("pia", "quentin"), start=1):
        ids = {"workerId": f"AWORKER{number}", "assignmentId": f"3ASSIGN{number}", "hitId": "3HIT"}
        worker = {"recruiter": "mturk", "external_id": f"AWORKER{number}", "personal": ids}
        session = cast.begin(study, name, campaign=turk, **worker)
        for n, trial in enumerate(session.trials.select_related("session__experiment")):
            cast.record(session, trial.public_id, cast.answer_to(trial, choose_expected=n > 0))
    return study


def rows_of(response):
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


def pairs_and_values(study):
    rows = Judgment.objects.filter(trial__session__experiment=study).select_related("trial__pair__good")
    return sorted((row.trial.pair.good.text, row.trial.expected_first, row.value) for row in rows)


def test_the_file_is_read_again_with_the_same_judgments(study, ada, tmp_path):
    path = tmp_path / "batch.csv"
    path.write_bytes(b"".join(ada.get(ADDRESS).streaming_content))
    out = io.StringIO()
    call_command("import_judgments", path, experiment="again", format="mturk-batch", stdout=out, json=True)
    assert json.loads(out.getvalue())["added"] == {"participants": 2, "sessions": 2, "judgments": 8}
    again = Experiment.objects.get(slug="again")
    assert pairs_and_values(again) == pairs_and_values(study)
    assert {row.value for row in Judgment.objects.filter(trial__session__experiment=again)} == {0.0, 1.0}
    assert not PlatformIdentity.objects.filter(experiment=again).exists()


def test_the_columns_are_those_of_the_requester_site_and_have_no_worker_id(study, ada):
    response = ada.get(ADDRESS)
    rows = rows_of(response)
    names = list(rows[0])
    assert (
        names[0] == "HITId" and names[26] == "Last7DaysApprovalRate" and names[-2:] == ["Approve", "Reject"]
    )
    assert {row["WorkerId"] for row in rows} == {""} and rows[0]["Reward"] == "$0.50"
    assert not any("AWORKER" in cell or "3ASSIGN" in cell for row in rows for cell in row.values())
    assert not AuditEntry.objects.filter(action="payment export").exists()


def test_worker_ids_are_in_the_payment_export_only_which_is_logged(study, ada):
    rows = rows_of(ada.post(ADDRESS))
    assert [(row["WorkerId"], row["AssignmentId"], row["anonCode"]) for row in rows] == [
        ("AWORKER1", "3ASSIGN1", ""),
        ("AWORKER2", "3ASSIGN2", ""),
    ]
    assert AuditEntry.objects.get(action="payment export").user == cast.ada()
    page = ada.get("/studies/agreement/downloads/").content.decode()
    assert ADDRESS in page and "Download with worker ids" in page


def test_who_may_only_read_gets_no_worker_ids(study, client):
    client.force_login(cast.ben())
    assert client.get(ADDRESS).status_code == 200
    assert client.post(ADDRESS).status_code in {403, 404}
    client.force_login(cast.cleo())
    assert client.get(ADDRESS).status_code == 404


def test_a_study_without_pairs_has_no_such_file(ada):
    cast.study("agreement", task="likert")
    response = ada.get(ADDRESS, follow=True)
    assert "this study shows none" in response.content.decode()


def test_command_and_api_give_the_file_of_the_page(study, ada, client, tmp_path):
    page = b"".join(ada.get(ADDRESS).streaming_content)
    path, out = tmp_path / "batch.csv", io.StringIO()
    call_command("export_batch", "agreement", to=path, stdout=out, json=True)
    assert json.loads(out.getvalue()) == {"experiment": "agreement", "file": str(path), "sessions": 2}
    assert path.read_bytes() == page
    with pytest.raises(CommandError, match="exists already"):
        call_command("export_batch", "agreement", to=path)
    assert path.read_bytes() == page and list(tmp_path.iterdir()) == [path]
    api = "/api/v1/studies/agreement/mturk-batch.csv"
    assert b"".join(ada.get(api).streaming_content) == page
    client.force_login(cast.cleo())
    assert client.get(api).status_code == 404


def test_command_and_api_say_why_a_study_without_pairs_has_no_file(ada, tmp_path):
    cast.study("agreement", task="likert")
    with pytest.raises(CommandError, match="this study shows none"):
        call_command("export_batch", "agreement", to=tmp_path / "batch.csv")
    assert list(tmp_path.iterdir()) == []
    response = ada.get("/api/v1/studies/agreement/mturk-batch.csv")
    assert response.status_code == 422 and "this study shows none" in response.content.decode()
