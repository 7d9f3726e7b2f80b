"""The programs beside a download run on the file of that download, and give the numbers of the pages."""

import contextlib
import io
import re
import shutil
import subprocess

import pandas as pd
import pytest
from django.urls import reverse

from analysis.aggregation.ratings import transform_ratings
from analysis.effects.factorial import Factor, difference_of_differences
from releases.exports.snippets import judgment_snippets, release_snippets
from releases.gold.plans import set_current_plan, write_plan
from tests import cast
from tests.experiments import factorial
from tests.releases.study import judged_study, ready_release

pytestmark = pytest.mark.django_db
TASKS = ("likert", "yes_no", "forced_choice")


def download(client, study, folder):
    """The file as a browser stores it, and the programs that its page shows."""
    page = client.get(reverse("study-downloads", args=[study.slug]))
    address = re.search(r'href="([^"]+judgments\.csv[^"]*)" download', page.content.decode())[1]
    answer = client.get(address.replace("&amp;", "&"))
    name = re.search(r'filename="([^"]+)"', answer["Content-Disposition"])[1]
    (folder / name).write_bytes(b"".join(answer.streaming_content))
    return {snippet.language: snippet.code for snippet in page.context["snippets"]}


def run_pandas(code, folder, monkeypatch):
    """Names of the program after it ran in the folder."""
    monkeypatch.chdir(folder)
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "snippet", "exec"), names)
    return names


def run_r(code, folder):
    """Output of the program in R; skipped without R and its packages."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed: apt install r-base-core r-cran-lme4 r-cran-ordinal runs this test")
    lacks = subprocess.run(
        [
            program,
            "-e",
            "for (p in c('lme4', 'ordinal')) if (!requireNamespace(p, quietly = TRUE)) q(status = 9)",
        ],
        capture_output=True,
        check=False,
    )
    if lacks.returncode == 9:
        pytest.skip("R has no lme4 or ordinal: apt install r-cran-lme4 r-cran-ordinal runs this test")
    (folder / "analysis.R").write_text(code, encoding="utf-8")
    process = subprocess.run(
        [program, "analysis.R"], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.parametrize("task", TASKS)
def test_pandas_gives_the_means_of_the_pages(ada, task, tmp_path, monkeypatch):
    study = judged_study(task=task, people=8)
    names = run_pandas(download(ada, study, tmp_path)["pandas"], tmp_path, monkeypatch)
    if task == "forced_choice":
        agreement = ada.get(reverse("study-agreement-json", args=[study.slug])).json()
        assert names["means"]["mean"] == pytest.approx(agreement["overall"]["individual_agreement"])
        return
    report = ada.get(reverse("study-ratings-json", args=[study.slug])).json()
    items = pd.DataFrame(report["items"])
    column = "mean" if task == "likert" else "mean_raw"
    for condition, mean in items.groupby("condition")[column].mean().items():
        assert names["means"].loc[condition, "mean"] == pytest.approx(mean)


def test_excluded_judgments_are_left_out_by_the_programs(ada, tmp_path, monkeypatch):
    study = judged_study(people=6)
    names = run_pandas(download(ada, study, tmp_path)["pandas"], tmp_path, monkeypatch)
    assert names["means"]["mean"] == pytest.approx(5 / 6) and names["means"]["count"] == 6
    step = {"name": "few", "scope": "participant", "rule": "too_few", "parameters": {"minimum": 99}}
    write_plan(study, "none-left", steps=[step])
    set_current_plan(study, "none-left")
    names = run_pandas(download(ada, study, tmp_path)["pandas"], tmp_path, monkeypatch)
    assert names["means"]["count"] == 0


def test_a_factorial_study_gives_its_difference_of_differences(ada, tmp_path, monkeypatch):
    rows = [
        {"participant": f"p{p}", "item": str(i), "structure": s, "distance": d, "kind": "target", "z": p / 9
         + i / 7 - (s == "island") - 0.5 * (d == "long") - (s == "island" and d == "long") * (1 + p / 5),
         "value": 1, "exclusion": ""}
        for p in range(4) for i in range(4) for s in ("non-island", "island") for d in ("short", "long")
    ]  # fmt: skip
    study = factorial.study(tmp_path)
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "islands-judgments.csv", index=False)
    codes = {snippet.language: snippet.code for snippet in judgment_snippets(study, "islands-judgments.csv")}
    names = run_pandas(codes["pandas"], tmp_path, monkeypatch)
    library = difference_of_differences(
        frame,
        first=Factor("structure", "non-island", "island"),
        second=Factor("distance", "short", "long"),
        value="z",
    )
    assert names["dd"].mean() == pytest.approx(library.by_participants.mean_difference)
    assert list(names["means"].index.get_level_values("structure"))[0] == "non-island"


def released(client, study, folder):
    """Files of a release as unpacked, and the programs that its page shows."""
    release = ready_release(study)
    page = client.get(reverse("study-release", args=[study.slug, release.number]))
    answer = client.get(reverse("study-release-file", args=[study.slug, release.number, "judgments.csv"]))
    (folder / "judgments.csv").write_bytes(b"".join(answer.streaming_content))
    assert "Read judgments.csv in R or pandas" in page.content.decode()
    return {snippet.language: snippet.code for snippet in page.context["snippets"]}


@pytest.mark.parametrize("task", TASKS)
def test_a_release_comes_with_programs_that_give_its_means(ada, task, tmp_path, monkeypatch):
    study = judged_study(task=task, people=8)
    names = run_pandas(released(ada, study, tmp_path)["pandas"], tmp_path, monkeypatch)
    if task == "forced_choice":
        agreement = ada.get(reverse("study-agreement-json", args=[study.slug])).json()
        assert names["means"]["mean"] == pytest.approx(agreement["overall"]["individual_agreement"])
        return
    report = ada.get(reverse("study-ratings-json", args=[study.slug])).json()
    column = "mean" if task == "likert" else "mean_raw"
    for condition, mean in pd.DataFrame(report["items"]).groupby("condition")[column].mean().items():
        assert names["means"].loc[condition, "mean"] == pytest.approx(mean)


def test_programs_of_a_release_leave_zeros_out_of_logarithms(tmp_path, monkeypatch):
    study = cast.study("sizes", task="magnitude_estimation")
    rows = [
        (f"p{p}", str(i), c, "target", "", float(40 + 30 * (c == "good") + 3 * p + i * (i + p)), 50.0)
        for p in range(4)
        for i in range(4)
        for c in ("good", "bad")
    ]
    names = ["participant", "item", "condition", "kind", "excluded_by", "value", "modulus"]
    frame = pd.DataFrame(rows, columns=names)
    frame.loc[0, "value"] = 0.0
    frame.to_csv(tmp_path / "judgments.csv", index=False)
    codes = {snippet.language: snippet.code for snippet in release_snippets(study, "judgments.csv")}
    means = run_pandas(codes["pandas"], tmp_path, monkeypatch)["means"]
    tasked = frame.assign(task="magnitude_estimation")
    z = transform_ratings(tasked, transform="z-log")
    for condition, mean in (
        z.groupby([frame["condition"], frame["participant"]]).mean().groupby(level=0).mean().items()
    ):
        assert means.loc[condition, "mean"] == pytest.approx(mean)
    output = run_r(codes["R"], tmp_path)
    assert "Linear mixed model" in output


@pytest.mark.parametrize("task", TASKS)
def test_r_reads_a_release(ada, task, tmp_path):
    study = judged_study(task=task, people=8)
    output = run_r(released(ada, study, tmp_path)["R"], tmp_path)
    assert "Linear mixed model" in output if task == "likert" else "binomial" in output


@pytest.mark.parametrize("task", TASKS)
def test_r_reads_the_file_and_fits_its_models(ada, task, tmp_path):
    study = judged_study(task=task, people=8)
    output = run_r(download(ada, study, tmp_path)["R"], tmp_path)
    assert "Number of obs" in output or "number of obs" in output.lower() or "nobs" in output
    if task == "likert":
        assert "Cumulative Link Mixed Model" in output and "Linear mixed model" in output
    else:
        assert "binomial" in output


def test_r_takes_factors_with_hyphens(ada, tmp_path):
    study = factorial.study(tmp_path)
    rows = [
        {"participant": f"p{p}", "session": p, "trial": 100 * p + i, "item": i, "condition": f"{s}:{d}",
         "sentence_id": f"{i}-{s}-{d}", "structure": s, "distance": d, "kind": "target", "exclusion": "",
         "value": 1 + (7 * p + 3 * i + 2 * (s == "island") + (d == "long")) % 7,
         "z": (p * i % 5) / 3 - (s == "island")}
        for p in range(8) for i in range(6) for s in ("non-island", "island") for d in ("short", "long")
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "islands-judgments.csv", index=False)
    output = run_r(judgment_snippets(study, "islands-judgments.csv")[0].code, tmp_path)
    assert "structureisland:distancelong" in output and "Cumulative Link Mixed Model" in output


def test_names_that_are_no_variables_are_quoted(tmp_path, monkeypatch):
    study = factorial.study(tmp_path)
    study.materials.factors = [
        {"name": 'who "or" what', "levels": ["a`b", "c\\d"]},
        {"name": "1st", "levels": ["x", "y"]},
    ]
    study.materials.save()
    codes = {snippet.language: snippet.code for snippet in judgment_snippets(study, "f.csv")}
    rows = [
        (p, i, a, b, "target", "", 1, p + i)
        for p in "pq"
        for i in "ij"
        for a in ("a`b", "c\\d")
        for b in "xy"
    ]
    names = ["participant", "item", 'who "or" what', "1st", "kind", "exclusion", "value", "z"]
    frame = pd.DataFrame(rows, columns=names).assign(z=range(len(rows)))
    frame.to_csv(tmp_path / "f.csv", index=False)
    assert len(run_pandas(codes["pandas"], tmp_path, monkeypatch)["means"]) == 4
    assert '`who "or" what` * `1st`' in codes["R"]


@pytest.mark.parametrize(
    ("name", "value"), [("agreement", "individual_agreement"), ("ratings", "mean"), ("effects", "estimate")]
)
def test_tables_of_results_come_with_programs_and_the_plan_in_their_name(
    ada, name, value, tmp_path, monkeypatch
):
    study = judged_study(task="likert", people=6)
    write_plan(study, "careful", steps=[{"name": "by hand", "scope": "participant", "rule": "flagged"}])
    set_current_plan(study, "careful")
    page = ada.get(reverse(f"study-{name}", args=[study.slug]))
    answer = ada.get(reverse(f"study-{name}-csv", args=[study.slug]))
    file = re.search(r'filename="([^"]+)"', answer["Content-Disposition"])[1]
    assert (
        file == f"agreement-{name}-careful-v1.csv" and f"Read {file} in R or pandas" in page.content.decode()
    )
    (tmp_path / file).write_bytes(answer.content)
    codes = {snippet.language: snippet.code for snippet in page.context["snippets"]}
    names = run_pandas(codes["pandas"], tmp_path, monkeypatch)
    assert len(names["d"]) and value in names["d"]
    if shutil.which("Rscript"):
        assert "Median" in run_r(codes["R"], tmp_path)
