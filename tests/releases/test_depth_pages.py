"""Depth and leaderboard through page, command and API: the same numbers, for members, in any order."""

import csv
import html
import io
import json
import re
from io import StringIO

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from rest_framework.test import APIClient

from analysis.comparison.in_depth.report import SECTIONS
from analysis.comparison.in_depth.surprisal import REASONS
from analysis.ngrams import train_model, write_arpa
from experiments.models import MinimalPair
from experiments.operation import job_runner
from judgments.models import Judgment
from releases.comparison.compare import Options, request_comparison
from releases.models import Comparison, ScoringRun
from releases.scoring.runs import request_score_sets, request_scoring
from releases.scoring.training_metadata import Training, read_training
from tests import cast
from tests.releases.study import judged_study, ready_release, scored

pytestmark = pytest.mark.django_db


def compared(release, runs, **options) -> Comparison:
    """A finished comparison."""
    comparison = request_comparison(release, runs, options=Options(**options), user=cast.ada())
    job_runner.run(comparison.job_id)
    comparison.refresh_from_db()
    return comparison


@pytest.fixture
def comparison():
    """Two models beside people on a release of ratings."""
    study = judged_study(task="likert")
    runs = [scored(study, "bright"), scored(study, "dull", missing=1)]
    return compared(ready_release(study), runs)


def score_sets(study) -> tuple[ContentFile, ContentFile]:
    """Three sizes of one family, and a filtered one, that get more and more pairs right."""
    names = ["small", "middle", "large", "filtered"]
    rows = [f"sentence_id,{','.join(names)}"]
    for place, pair in enumerate(study.materials.pairs.order_by("pk")):
        right = [place % 4 < share for share in (1, 2, 4, 0)]
        rows.append(f"{pair.good.key},{','.join('-5' if is_right else '-9' for is_right in right)}")
        rows.append(f"{pair.bad.key},{','.join('-9' if is_right else '-5' for is_right in right)}")
    metadata = "model,family,training_tokens,seed,corpus\nsmall,lstm,1000,1,\nmiddle,lstm,2000,1,\n"
    metadata += "large,lstm,4000,1,full\nfiltered,lstm,3900,1,npi\n"
    return ContentFile("\n".join(rows).encode(), "sets.csv"), ContentFile(metadata.encode(), "models.csv")


def test_every_part_opens_for_members_and_states_what_it_lacks(comparison, client):
    study = comparison.release.experiment
    client.force_login(cast.ben())
    for name in SECTIONS:
        answer = client.get(reverse("study-depth", args=[study.slug, comparison.pk, name]))
        assert answer.status_code == 200, name
        assert b"<script>" not in answer.content and b"style=" not in answer.content
        assert b'aria-current="page"' in answer.content
    learning = client.get(reverse("study-depth", args=[study.slug, comparison.pk, "learning"]))
    assert b"No family here has models of two sizes" in learning.content
    assert client.get(reverse("study-depth", args=[study.slug, comparison.pk, "luck"])).status_code == 404
    client.force_login(cast.cleo())
    assert client.get(reverse("study-depth", args=[study.slug, comparison.pk, "tests"])).status_code == 404


# Dull has no score for one pair, which may be the hardest.
HIGHEST = "r = −0.16. Scored on fewer pairs and not counted here: dull."
FINDINGS = {
    "intervals": f"The differences of bright do not follow people's: {HIGHEST}",
    "pairs": f"The differences of bright do not follow people's: {HIGHEST}",
    "correlations": "The differences of bright correlate with people's by r = −0.16 with ",
    "curves": "At δ = 0.5 the ADC of ",
    "tests": "The accuracy of bright is ",
    "linking": "Human scores follow those of ",
}


# Bright is always right, dull never; all pairs are of one family.
WITHOUT = {"surprisal", "abilities", "predictors", "prefixes", "learning", "filtered", "decisions"}


def test_every_part_opens_with_a_finding_that_its_table_repeats(ada):
    study = judged_study(task="likert", people=7)
    acceptable = Judgment.objects.filter(trial__sentence__expected="acceptable").order_by("pk")
    for place, judgment in enumerate(acceptable):
        judgment.value -= place % 3 / 4  # differences of pairs vary
        judgment.save(update_fields=["value"])
    longer = study.materials.pairs.order_by("pk").first().good
    longer.text += " again"
    longer.save(update_fields=["text"])
    runs = [scored(study, "bright"), scored(study, "dull", missing=1)]
    comparison = compared(ready_release(study), runs)
    page = ada.get(reverse("study-depth", args=[study.slug, comparison.pk, "correlations"])).content.decode()
    assert "with length held constant" in page and "<br>partial " in page
    findings = {}
    for name in (*FINDINGS, *WITHOUT):
        page = ada.get(reverse("study-depth", args=[study.slug, comparison.pk, name])).content.decode()
        page = page.replace("\xa0", " ").replace("&#x27;", "'")
        finding = re.search(r'class="finding">(.*?)</p>', page)
        findings[name] = finding[1] if finding else ""
        if name in FINDINGS:
            assert findings[name].startswith(FINDINGS[name]), findings[name]
            assert -1 < page.find('class="finding"') < page.find("<table") < page.find("Conventions</h2>")
    assert {name for name, finding in findings.items() if not finding} == WITHOUT
    (tested,) = [row for row in comparison.report["depth"]["tests"] if row["criterion"] == "blimp"]
    points = 100 * abs(tested["difference"])
    assert f"is {points:.1f} points above that of dull, p = " in findings["tests"]


def test_tables_of_a_comparison_are_files_with_the_numbers_of_its_pages(comparison, ada):
    study = comparison.release.experiment

    def file(name, form):
        return ada.get(reverse("study-comparison-table", args=[study.slug, comparison.pk, name, form]))

    rows = list(csv.DictReader(io.StringIO(file("paradigms", "csv").content.decode())))
    accuracies = comparison.report["depth"]["correlations"]["accuracies"]
    assert [float(row["bright"]) for row in rows] == [row["bright"] for row in accuracies]
    assert {"1pfx", "2pfx", "phenomenon"} <= set(rows[0])
    assert file("phenomena", "tex").content.startswith(rb"\begin{longtable}")
    pairs = list(csv.DictReader(io.StringIO(file("criteria", "csv").content.decode())))
    model = comparison.report["models"][0]
    met = [row["blimp"] == "true" for row in pairs if row["model"] == model["model"] and row["blimp"]]
    assert sum(met) / len(met) == model["blimp_all_pairs"]
    assert file("criteria", "tex").status_code == file("none", "csv").status_code == 404


def test_page_command_and_api_give_the_same_depth(comparison, ada, tmp_path):
    study = comparison.release.experiment
    depth = comparison.report["depth"]
    page = ada.get(reverse("study-depth", args=[study.slug, comparison.pk, "tests"]))
    assert page.context["criteria"][0]["rows"] == [
        test for test in depth["tests"] if test["criterion"] == "blimp"
    ]
    api = APIClient()
    api.force_authenticate(cast.ada())
    document = api.get(f"/api/v1/studies/{study.slug}/comparisons/{comparison.pk}/").json()
    assert document["report"]["depth"] == json.loads(json.dumps(depth))

    for name in ("human.csv", "pairs.jsonl", "judgments.csv"):
        answer = ada.get(reverse("study-release-file", args=[study.slug, comparison.release.number, name]))
        (tmp_path / name).write_bytes(b"".join(answer.streaming_content))
    runs = list(comparison.runs.order_by("pk"))
    keys = list(study.materials.sentences.order_by("pk").values_list("key", flat=True))
    columns = [dict(run.scores.values_list("sentence__key", "score")) for run in runs]
    lines = ["sentence_id," + ",".join(run.name for run in runs)]
    lines += [
        ",".join([key, *(repr(column[key]) if key in column else "" for column in columns)]) for key in keys
    ]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    out = StringIO()
    call_command(
        "compare", "--human", str(tmp_path / "human.csv"), "--pairs", str(tmp_path / "pairs.jsonl"),
        "--scores", str(tmp_path / "scores.csv"), "--judgments", str(tmp_path / "judgments.csv"),
        "--in-depth", "--json", stdout=out,
    )  # fmt: skip
    printed = json.loads(out.getvalue())["depth"]
    for part in (
        "correlations",
        "tests",
        "linking",
        "surprisal",
        "abilities",
        "predictors",
        "decisions",
        "learning",
        "prefixes",
    ):
        assert _rounded(printed[part]) == _rounded(depth[part]), part


def _rounded(value):
    if isinstance(value, dict):
        return {key: _rounded(nested) for key, nested in value.items()}
    if isinstance(value, list):
        return [_rounded(nested) for nested in value]
    return round(value, 9) if isinstance(value, float) else value


def test_score_sets_become_tagged_runs_learning_curves_and_deltas(ada):
    study = judged_study(task="likert")
    scores, models = score_sets(study)
    form = {
        "file": SimpleUploadedFile("sets.csv", scores.read()),
        "models": SimpleUploadedFile("models.csv", models.read()),
    }
    assert ada.post(reverse("study-score-sets", args=[study.slug]), form).status_code == 302
    runs = list(ScoringRun.objects.order_by("pk"))
    assert [read_training(run).training_tokens for run in runs] == [1000, 2000, 4000, 3900]
    assert read_training(runs[3]) == Training("lstm", 3900, "1", "npi")
    for run in runs:
        job_runner.run(run.job_id)
        run.refresh_from_db()
    comparison = compared(ready_release(study), runs)
    curve = comparison.report["depth"]["learning"][0]
    assert [point["accuracy"] for point in curve["points"]] == [0.25, 0.5, 1.0]
    assert curve["slope_per_doubling"] == pytest.approx(0.375)
    delta = comparison.report["depth"]["filtered"]["deltas"][0]
    assert (delta["seeds_full"], delta["accuracy_delta"]) == (1, -100.0)
    page = ada.get(reverse("study-depth", args=[study.slug, comparison.pk, "learning"])).content.decode()
    assert "0.3750" in page and "has no ceiling" in page
    assert "With each doubling of the training text, lstm gains 37.5 points of accuracy (95" in page
    filtered = ada.get(reverse("study-depth", args=[study.slug, comparison.pk, "filtered"])).content.decode()
    assert "−100.0" in filtered
    assert "Trained without npi, lstm changes by −100.0 points of accuracy on all pairs." in filtered
    figure = reverse("study-comparison-figure", args=[study.slug, comparison.pk, "learning-curves", "csv"])
    assert b"tokens" in ada.get(figure).content


def test_a_column_that_names_its_measure_is_not_measured_again(ada):
    study = judged_study()
    keys = study.materials.sentences.values_list("key", flat=True)
    for measure in ("lp", "meanlp", "slor"):
        rows = [f"sentence_id,lm:{measure}", *(f"{key},{-1.5 - place}" for place, key in enumerate(keys))]
        form = {"file": SimpleUploadedFile("scores.csv", "\n".join(rows).encode())}
        assert ada.post(reverse("study-score-sets", args=[study.slug]), form).status_code == 302
        run = ScoringRun.objects.latest("pk")
        job_runner.run(run.job_id)
        values = run.scores.order_by("-score").values_list("score", flat=True)
        assert (run.method, list(values)[:2]) == (measure, [-1.5, -2.5])
    upload = SimpleUploadedFile("scores.csv", "\n".join(rows).encode())
    answer = ada.post(reverse("api-runs", args=[study.slug]), {"file": upload, "method": "meanlp"})
    assert answer.status_code == 422 and "holds slor" in answer.json()["message"]


def test_a_wrong_table_of_models_names_file_row_and_column_and_makes_no_run(ada):
    study = judged_study()
    scores, _ = score_sets(study)
    form = {
        "file": SimpleUploadedFile("sets.csv", scores.read()),
        "models": SimpleUploadedFile("models.csv", b"model,training_tokens\nsmall,many\n"),
    }
    answer = ada.post(reverse("study-score-sets", args=[study.slug]), form)
    assert answer.status_code == 400
    assert "is not a number of tokens" in answer.content.decode()
    assert not ScoringRun.objects.exists()


def test_prefix_scores_come_from_an_ngram_model_and_are_shown_beside_whole_sentences(ada, tmp_path):
    study = judged_study()
    MinimalPair.objects.filter(material_set=study.materials).update(
        fields={"two_prefix_prefix_good": "keys", "two_prefix_prefix_bad": "key", "two_prefix_word": "are"}
    )
    model = train_model([["the", "keys", "are", "here"], ["the", "key", "is", "here"]] * 3, order=2)
    write_arpa(model, tmp_path / "two.arpa")
    content = (tmp_path / "two.arpa").read_bytes()
    runs = []
    for method in ("lp", "two_prefix"):
        model_file = ContentFile(content, "two.arpa")
        run = request_scoring(study, model_file, name="bigram", method=method, user=cast.ada())
        job_runner.run(run.job_id)
        run.refresh_from_db()
        runs.append(run)
    assert [run.state for run in runs] == ["done", "done"]
    pair = study.materials.pairs.first()
    good, bad = (runs[1].scores.get(sentence=member).score for member in (pair.good, pair.bad))
    assert good > bad
    comparison = compared(ready_release(study), runs)
    row = comparison.report["depth"]["prefixes"][0]
    assert (row["name"], row["method"], row["group"], row["accuracy"]) == ("bigram", "two_prefix", "all", 1.0)
    page = ada.get(reverse("study-depth", args=[study.slug, comparison.pk, "prefixes"])).content.decode()
    assert "two prefix" in page and "100.0" in page
    assert re.search(
        r"By two prefix, bigram gets 100.0.% of pairs right \(95.%.CI .*, by whole sentences ", page
    )


def test_linking_functions_use_unigrams_of_runs_that_were_scored_by_log_probability_alone(ada, tmp_path):
    study = judged_study(task="likert", people=7)
    words = [sentence.words.lower().rstrip(".").split() for sentence in study.materials.sentences.all()]
    write_arpa(train_model(words + words[::2], order=2), tmp_path / "two.arpa")
    model_file = ContentFile((tmp_path / "two.arpa").read_bytes(), "two.arpa")
    run = request_scoring(study, model_file, name="bigram", user=cast.ada())
    job_runner.run(run.job_id)
    run.refresh_from_db()
    uploaded = scored(study, "bright")
    comparison = compared(ready_release(study), [run, uploaded])
    rows = {(row["model"], row["function"]): row for row in comparison.report["depth"]["linking"]}
    assert rows["bigram", "slor"]["r"] is not None
    assert rows["bright", "slor"]["status"] == "no_length"
    page = ada.get(reverse("study-depth", args=[study.slug, comparison.pk, "linking"])).content.decode()
    assert "MORCELA" in page and "The number of tokens is not known" in page
    figure = reverse("study-comparison-figure", args=[study.slug, comparison.pk, "linking-functions", "svg"])
    assert figure.removesuffix(".svg") in page and b"log p, bigram" in ada.get(figure).content
    page = ada.get(reverse("study-depth", args=[study.slug, comparison.pk, "surprisal"])).content.decode()
    assert "The number of tokens is not known" in page
    fitted = comparison.report["depth"]["surprisal"][0]
    address = reverse("study-depth", args=[study.slug, comparison.pk, "abilities"])
    assert "Fewer than 10 participants" in ada.get(address).content.decode()
    assert fitted["n"] and REASONS[fitted["status"]] in html.unescape(page), fitted


def test_a_prefix_method_without_its_pairs_reports_the_requirement(tmp_path):
    study = judged_study()
    write_arpa(train_model([["a", "b"]], order=2), tmp_path / "two.arpa")
    model_file = ContentFile((tmp_path / "two.arpa").read_bytes(), "two.arpa")
    run = request_scoring(study, model_file, method="one_prefix", user=cast.ada())
    job_runner.run(run.job_id)
    run.refresh_from_db()
    assert run.state == "failed" and "one_prefix_method" in run.error


def test_leaderboard_gathers_comparisons_and_is_ordered_by_the_address(ada):
    study = judged_study(task="likert")
    bright, dull = scored(study, "bright"), scored(study, "dull")
    release = ready_release(study)
    address = reverse("study-leaderboard", args=[study.slug, release.number])
    empty = ada.get(address)
    assert empty.status_code == 200 and b"No model has been compared" in empty.content
    assert ada.post(reverse("study-leaderboard-compare", args=[study.slug, 1])).status_code == 302
    job_runner.run(Comparison.objects.get().job_id)
    third = request_scoring(study, score_sets(study)[0], column="small", user=cast.ada())
    job_runner.run(third.job_id)
    third.refresh_from_db()
    page = ada.get(address)
    assert [row["run"] for row in page.context["board"]["not_compared"]] == [third.pk]
    compared(release, [third])
    page = ada.get(address, {"sort": "blimp"})
    board = page.context["board"]
    assert board["not_compared"] == [] and len(board["rows"]) == 5
    assert board["rows"][0]["run"] == bright.pk and board["rows"][0]["rank"] == 1
    rising = ada.get(address, {"sort": "model", "order": "descending"}).context["board"]["rows"]
    assert [row["model"] for row in rising[:3]] == ["small", "dull", "bright"]
    html = page.content.decode()
    assert 'aria-sort="descending"' in html and "median Δh" in html and "ceiling" in html
    wrong = ada.get(address, {"sort": "luck"})
    assert wrong.status_code == 400 and "unknown column to sort by" in wrong.content.decode()
    assert dull.pk in {row.get("run") for row in board["rows"]}


def test_leaderboards_of_page_command_api_and_csv_are_one(comparison, ada):
    study = comparison.release.experiment
    board = ada.get(reverse("study-leaderboard-json", args=[study.slug, 1]), {"sort": "adc_1"}).json()
    api = APIClient()
    api.force_authenticate(cast.ben())
    address = f"/api/v1/studies/{study.slug}/releases/1/leaderboard/"
    assert api.get(address, {"sort": "adc_1"}).json() == board
    out = StringIO()
    call_command("leaderboard", study.slug, "--sort", "adc_1", "--json", stdout=out)
    assert json.loads(out.getvalue()) == board
    table = ada.get(
        reverse("study-leaderboard-csv", args=[study.slug, 1]), {"sort": "adc_1"}
    ).content.decode()
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["model"] for row in rows] == [row["model"] for row in board["rows"]]
    assert float(rows[0]["blimp"]) == board["rows"][0]["blimp"]
    assert board["conventions"]["signs"] == "strict" and board["conventions"]["standardization"]["ddof"] == 0
    text = StringIO()
    call_command("leaderboard", study.slug, stdout=text)
    assert "people, another sample" in text.getvalue()
    refused = api.get(address, {"sort": "luck"})
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_name")
    stranger = APIClient()
    stranger.force_authenticate(cast.cleo())
    assert stranger.get(address).status_code == 404
    with pytest.raises(CommandError, match="Did you mean"):
        call_command("leaderboard", study.slug[:-1])
    with pytest.raises(CommandError, match="release 7"):
        call_command("leaderboard", study.slug, "7")


def test_conventions_are_never_mixed_on_one_board(comparison, ada):
    study = comparison.release.experiment
    compared(comparison.release, comparison.runs.all()[:1], signs="published")
    address = reverse("study-leaderboard", args=[study.slug, 1])
    page = ada.get(address)
    board = page.context["board"]
    assert board["conventions"]["signs"] == "published" and len(board["rows"]) == 3
    assert len(board["offered"]) == 2 and b"signs strict" in page.content
    other = next(conventions["key"] for conventions in board["offered"] if "strict" in conventions["key"])
    assert len(ada.get(address, {"conventions": other}).context["board"]["rows"]) == 4


def test_score_sets_come_over_the_api_too():
    study = judged_study()
    scores, models = score_sets(study)
    api = APIClient()
    api.force_authenticate(cast.ada())
    body = {
        "file": SimpleUploadedFile("sets.csv", scores.read()),
        "models": SimpleUploadedFile("models.csv", models.read()),
    }
    answer = api.post(f"/api/v1/studies/{study.slug}/score-sets/", body, format="multipart")
    assert answer.status_code == 202 and [run["name"] for run in answer.json()] == [
        "small", "middle", "large", "filtered",
    ]  # fmt: skip
    assert answer.json()[0]["spec"]["training"]["training_tokens"] == 1000
    api.force_authenticate(cast.ben())
    assert api.post(f"/api/v1/studies/{study.slug}/score-sets/", {}, format="multipart").status_code == 403


def test_request_for_a_file_that_is_no_table_is_refused():
    study = judged_study()
    with pytest.raises(Exception, match="one table"):
        request_score_sets(study, ContentFile(b"x", "model.arpa"), user=cast.ada())
