"""Models scored here, through page and API: chosen, priced, started, watched, tried again."""

import json
from html import unescape
from importlib.util import find_spec
from io import StringIO

import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.urls import reverse

from analysis.errors import BadInput, UnknownName
from analysis.scoring.scorers.arpa import ArpaScorer
from experiments.models import AuditEntry, Experiment, Job
from experiments.operation import job_runner
from releases.comparison.compare import request_comparison
from releases.models import CachedScore, Comparison, ScoreShard, ScoringRun
from releases.scoring import execution, loaded_model, model_registry
from releases.scoring.model_registry import checked_uri
from releases.scoring.runs import request_model_runs, request_scoring
from tests import cast
from tests.releases.models_dir import URI, folder_with, write_bigram
from tests.releases.study import judged_study, ready_release

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def models_dir(tmp_path, settings, monkeypatch):
    """A folder with a bigram; one shard for all; nobody is called to help; no model is remembered."""
    settings.MODELS_DIR = tmp_path / "models"
    write_bigram(settings.MODELS_DIR)
    monkeypatch.setattr(execution, "request_helpers", lambda run, n: None)
    loaded_model.forget()
    yield settings.MODELS_DIR
    loaded_model.forget()


def page(name: str, *args) -> str:
    return reverse(f"study-{name}", args=args)


def request_cost(client, study, **data) -> Job:
    """The estimate of the form, carried out."""
    answer = client.post(page("choose-models", study.slug), {"models": [URI], "methods": ["lp"], **data})
    assert answer.status_code == 302, answer.content.decode()
    job = Job.objects.get(kind="releases.scoring_cost", pk=int(answer.url.split("/")[-2]))
    job_runner.run(job.pk)
    job.refresh_from_db()
    return job


def test_evaluator_chooses_sees_the_cost_starts_and_compares(ada):
    study = judged_study(people=5)
    ready_release(study)
    assert "bigram.arpa" in ada.get(page("choose-models", study.slug)).content.decode()
    job = request_cost(ada, study, methods=["lp", "slor"])
    html = ada.get(page("scoring-cost", study.slug, job.pk)).content.decode()
    assert job.result["sentences"] == 8 and job.result["pairs"] == 4 and "a probe of" in html
    assert job.result["models"][0]["measures"] == ["lp", "slor"]
    assert ada.post(page("scoring-begin", study.slug, job.pk)).url == page("scored-models", study.slug)
    ada.post(page("scoring-begin", study.slug, job.pk))
    runs = list(ScoringRun.objects.order_by("pk"))
    assert [run.method for run in runs] == ["lp", "slor"] and runs[0].created_by == cast.ada()
    assert "waiting" in ada.get(page("scoring-run", study.slug, runs[0].pk)).content.decode()
    for run in runs:
        job_runner.run(run.job_id)
    finished = ada.get(page("scoring-run", study.slug, runs[0].pk)).content.decode()
    assert "Compare with people" in finished and "Leaderboard" in finished and "Retry" not in finished
    second_job = request_cost(ada, study)
    assert second_job.result["models"][0]["cached"] == 8 and second_job.result["minutes"] == 0
    assert AuditEntry.objects.filter(action="scoring started").count() == 2


def test_conventions_of_every_run_are_listed_under_the_table_in_the_json_and_on_the_leaderboard(
    ada, tmp_path
):
    study = judged_study(people=5)
    release = ready_release(study)
    other_uri = f"{URI}?casing=lower&eos=no"
    runs = request_model_runs(study, [other_uri], methods=["lp", "slor"], user=cast.ada())
    foreign = "sentence_id,theirs\n" + "".join(
        f"{key},-{number}\n"
        for number, key in enumerate(study.materials.sentences.values_list("key", flat=True))
    )
    runs.append(request_scoring(study, ContentFile(foreign.encode(), "theirs.csv"), user=cast.ada()))
    for run in runs:
        job_runner.run(run.job_id)
    for run in runs:
        run.refresh_from_db()
    comparison = request_comparison(release, runs, user=cast.ada())
    job_runner.run(comparison.job_id)
    document = ada.get(page("comparison-json", study.slug, comparison.pk)).json()["scoring"]
    assert [record["run"] for record in document] == [run.pk for run in runs]
    lp, slor, table_conventions = (record["conventions"] for record in document)
    assert list(lp) == list(slor) == list(table_conventions)
    assert (lp["casing"], lp["end"], lp["measure"]) == ("lower", "not scored", "lp: log p")
    assert slor["measure"].startswith("slor: (log p") and lp["revision"] == slor["revision"] != "not recorded"
    assert lp["unknown tokens"] == "none" or "of" in lp["unknown tokens"]
    assert table_conventions["beginning"] == table_conventions["precision"] == "not recorded"
    html = ada.get(page("comparison", study.slug, comparison.pk)).content.decode()
    board = ada.get(page("leaderboard", study.slug, release.number)).content.decode()
    text = StringIO()
    call_command("leaderboard", study.slug, stdout=text)
    printed = " ".join(text.getvalue().split())
    assert "beginning <s>; end not scored; casing lower" in printed
    assert "not recorded: method, beginning, end, leading space" in printed
    for page_text in (unescape(html), unescape(board)):
        for name, value in (*lp.items(), *slor.items()):
            assert value in ("–", "not recorded") or f"<dt>{name}</dt><dd>{value}</dd>" in page_text
        assert "<dt>not recorded</dt><dd>method, beginning, end, leading space" in page_text
    assert ada.get(page("leaderboard-json", study.slug, release.number)).json()["scoring"] == document
    older = {
        name: value
        for name, value in Comparison.objects.get(pk=comparison.pk).report.items()
        if name != "scoring"
    }
    Comparison.objects.filter(pk=comparison.pk).update(report=older)
    assert "<dd>&lt;s&gt;</dd>" in ada.get(page("comparison", study.slug, comparison.pk)).content.decode()


def test_sentences_of_a_release_alone_are_scored(ada):
    study = judged_study(people=3)
    release = ready_release(study)
    cast.material_set("more")
    job = request_cost(ada, study, source="1")
    assert job.arguments["release"] == release.number
    ada.post(page("scoring-begin", study.slug, job.pk))
    run = ScoringRun.objects.get()
    job_runner.run(run.job_id)
    run.refresh_from_db()
    assert (run.state, run.spec["release"], run.n_sentences) == ("done", 1, 8)


def test_failed_shard_is_shown_with_its_reason_and_retried(ada, monkeypatch):
    study = cast.study("agreement")
    scored = ArpaScorer.score
    job = request_cost(ada, study)
    CachedScore.objects.all().delete()

    def broken(self, sentences, **options):
        raise OSError("the disk of models is away")

    monkeypatch.setattr(ArpaScorer, "score", broken)
    ada.post(page("scoring-begin", study.slug, job.pk))
    run = ScoringRun.objects.get()
    job_runner.run(run.job_id)
    html = ada.get(page("scoring-run", study.slug, run.pk)).content.decode()
    assert "the disk of models is away" in html and "Retry" in html and "1 failed" in html
    part = ada.get(page("scoring-run-part", study.slug, run.pk)).content.decode()
    assert f'data-job="run-{run.pk}" data-state="failed"' in part
    monkeypatch.setattr(ArpaScorer, "score", scored)
    ada.post(page("scoring-retry", study.slug, run.pk))
    run.refresh_from_db()
    assert run.state == "queued" and ScoreShard.objects.get().state == "queued"
    job_runner.run(run.job_id)
    run.refresh_from_db()
    assert run.state == "done"
    ada.post(page("scoring-retry", study.slug, run.pk))
    run.refresh_from_db()
    assert run.state == "done"


def test_run_whose_workers_died_each_time_can_be_retried(ada):
    study = cast.study("agreement")
    job = request_cost(ada, study)
    ada.post(page("scoring-begin", study.slug, job.pk))
    run = ScoringRun.objects.get()
    ScoringRun.objects.filter(pk=run.pk).update(state="running")
    Job.objects.filter(pk=run.job_id).update(
        state="failed", error="The worker died at every start; see its log."
    )
    html = ada.get(page("scoring-run", study.slug, run.pk)).content.decode()
    assert "died at every start" in html and "Retry" in html
    ada.post(page("scoring-retry", study.slug, run.pk))
    run.refresh_from_db()
    job_runner.run(run.job_id)
    run.refresh_from_db()
    assert run.state == "done"


def test_strangers_find_nothing_and_viewers_start_nothing(client, ada):
    study = cast.study("agreement")
    job = request_cost(ada, study)
    ada.post(page("scoring-begin", study.slug, job.pk))
    run = ScoringRun.objects.get()
    addresses = [page("scoring-cost", study.slug, job.pk), page("scoring-run", study.slug, run.pk),
             page("scoring-run-part", study.slug, run.pk)]  # fmt: skip
    steps = [page("scoring-begin", study.slug, job.pk), page("scoring-retry", study.slug, run.pk),
             page("choose-models", study.slug)]  # fmt: skip
    client.force_login(cast.cleo())
    assert {client.get(address).status_code for address in addresses} == {404}
    assert {client.post(address).status_code for address in steps} == {404}
    client.force_login(cast.ben())
    assert {client.get(address).status_code for address in addresses} == {200}
    assert {client.post(address).status_code for address in steps} == {403}
    assert client.get(page("choose-models", study.slug)).status_code == 403
    other = cast.study("other", materials=cast.material_set("others"))
    client.force_login(cast.ada())
    assert client.get(page("scoring-cost", other.slug, job.pk)).status_code == 404
    assert client.get(page("scoring-run", other.slug, run.pk)).status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        "../secrets", "/etc/passwd", "./../../etc", "owner/../name", "owner/name/more", "-rf", "a b",
        "name?trust=yes", "name?device=cuda", "arpa:/etc/passwd", "lstm:/srv/model", "csv:/etc/passwd",
        "openai:http://10.0.0.1/v1#m", "hf-causal:./missing", "hf-causal:/etc", "näme", "name@../x",
    ],
)  # fmt: skip
def test_no_name_reaches_a_file_or_a_host(ada, name):
    study = cast.study("agreement")
    answer = ada.post(page("choose-models", study.slug), {"hub": name, "methods": ["lp"]})
    assert answer.status_code == 400 and not Job.objects.exists()
    with pytest.raises((BadInput, UnknownName)):
        checked_uri(name if ":" in name else f"hf-causal:{name}")


def test_missing_extra_is_reported_with_the_line_that_installs_it(ada, monkeypatch, models_dir):
    monkeypatch.setattr(model_registry, "find_spec", lambda name: None)
    study = cast.study("agreement")
    assert "make install-models" in ada.get(page("choose-models", study.slug)).content.decode()


def test_model_that_cannot_be_opened_is_priced_with_its_reason(ada, models_dir):
    folder_with(models_dir, "broken", "GPT2LMHeadModel")
    study = cast.study("agreement")
    job = request_cost(ada, study, models=[URI, "hf-causal:./broken"])
    assert [row["uri"] for row in job.result["models"]] == [URI] and job.result["can_start"]
    reason = "cannot be opened" if find_spec("torch") else "make install-models"
    assert reason in job.result["refused"][0]["error"]
    assert "Cannot be scored" in ada.get(page("scoring-cost", study.slug, job.pk)).content.decode()
    assert str(models_dir) not in json.dumps(job.result)
    ada.post(page("scoring-begin", study.slug, job.pk))
    assert ScoringRun.objects.get().model == URI


def test_nothing_chosen_and_unknown_choices_are_refused(ada):
    study = cast.study("agreement")
    for data in ({"methods": ["lp"]}, {"models": [URI]}, {"models": ["arpa:./other"], "methods": ["lp"]},
                 {"models": [URI], "methods": ["best"]}, {"models": [URI], "methods": ["lp"], "source": "9"},
                 {"models": [URI], "methods": ["lp"], "device": "gpu"}):  # fmt: skip
        assert ada.post(page("choose-models", study.slug), data).status_code == 400
    assert not Job.objects.exists()


def test_runs_wait_in_the_queue_of_their_device(ada, settings, monkeypatch):
    settings.SCORING_DEVICES = ["cpu", "gpu"]
    sent = []
    monkeypatch.undo()
    monkeypatch.setattr(job_runner.run_job, "apply_async", lambda args, queue: sent.append(queue))
    study = cast.study("agreement")
    job = request_cost(ada, study, device="gpu")
    for pk in (job.pk, ready_job(study).pk):
        job_runner.send(pk)
    assert sent[-2:] == ["gpu", None]


def ready_job(study) -> Job:
    return Job.objects.create(kind="releases.build", experiment=study)


def test_api_starts_shows_progress_and_retries(ada):
    study = cast.study("agreement")
    body = {"models": [URI], "methods": ["lp"]}
    address = reverse("api-model-runs", args=[study.slug])
    answer = ada.post(address, body, content_type="application/json")
    assert answer.status_code == 202 and answer.json()[0]["model"] == URI
    pk = answer.json()[0]["id"]
    job_runner.run(answer.json()[0]["job"])
    document = ada.get(reverse("api-run", args=[study.slug, pk])).json()
    assert (document["state"], document["progress"]["done"], document["progress"]["percent"]) == (
        "done",
        8,
        100,
    )
    assert document["failed_shards"] == []
    assert (
        ada.post(reverse("api-run-retry", args=[study.slug, pk]), content_type="application/json").json()[
            "state"
        ]
        == "done"
    )
    wrong = ada.post(address, {"models": ["arpa:/etc/passwd"]}, content_type="application/json")
    assert wrong.status_code == 422 and "kind of model" in wrong.content.decode()


def test_a_viewers_copy_gives_no_right_over_the_runs_of_the_original(client):
    study = cast.study("agreement")
    client.force_login(cast.ada())
    body = {"models": [URI], "methods": ["lp"]}
    answer = client.post(reverse("api-model-runs", args=[study.slug]), body, content_type="application/json")
    pk = answer.json()[0]["id"]
    ScoringRun.objects.filter(pk=pk).update(state="failed", error="away")
    Job.objects.update(state="failed")
    client.force_login(cast.ben())
    client.post(f"/studies/{study.slug}/copy/")
    copy = Experiment.objects.exclude(pk=study.pk).get()
    assert client.get(page("scoring-run", copy.slug, pk)).status_code == 200
    assert b"Retry" not in client.get(page("scoring-run", copy.slug, pk)).content
    assert client.post(page("scoring-retry", copy.slug, pk)).status_code == 403
    assert (
        client.post(
            reverse("api-run-retry", args=[copy.slug, pk]), content_type="application/json"
        ).status_code
        == 403
    )
    assert ScoringRun.objects.get(pk=pk).state == "failed"
    client.force_login(cast.cleo())
    study.memberships.create(user=cast.cleo(), role="editor")
    assert client.post(page("scoring-retry", study.slug, pk)).status_code == 302
    assert ScoringRun.objects.get(pk=pk).state == "queued"
