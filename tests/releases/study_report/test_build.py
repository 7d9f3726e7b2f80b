"""A study's report: one command and one button, the numbers of the other pages, the same bytes each time."""

import io
import json
import re
from html import unescape

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.report.replicate import differences
from experiments.models import Design, Experiment, Job
from experiments.operation import job_runner
from judgments.models import PlatformIdentity, Session
from releases.gold.options import Options, ReportOptions
from releases.reports.compute import (
    compute_agreement,
    compute_effects,
    compute_exclusions,
    compute_reliability,
)
from releases.study_report.build import build_report
from releases.study_report.request import STUDY_REPORT, request_report
from tests import cast
from tests.releases.study import add_sitting, judged_study, ready_release, scored

pytestmark = pytest.mark.django_db


def new_report(study, **options):
    """A report that a worker has made."""
    report = request_report(study, ReportOptions(**options), user=cast.ada())
    job_runner.run(report.job.pk)
    report.job.refresh_from_db()
    return report


@pytest.mark.usefixtures("drawn_once")
@pytest.mark.parametrize("task", ["forced_choice", "likert", "yes_no"])
def test_the_report_has_the_numbers_of_pages_and_commands(task):
    study = judged_study("judged", task=task)
    add_sitting(study, "careless", catch=False)
    numbers = build_report(study, Options("catch_failed", "4/5"), has_pdf=False).numbers
    page_report = compute_agreement(study, exclude="catch_failed", rule="4/5")
    assert page_report["conventions"].pop("rounds") == "all"
    agreement = {name: value for name, value in numbers["agreement"].items() if name != "excluded"}
    assert agreement == {name: page_report[name] for name in agreement}
    excluded = compute_exclusions(study, exclude="catch_failed")
    assert numbers["exclusions"]["flow"] == excluded["flow"] == page_report["excluded"]
    assert list(differences(excluded["sensitivity"], numbers["exclusions"]["sensitivity"])) == []
    for name, page in (("reliability", compute_reliability), ("effects", compute_effects)):
        options = {"rule": "4/5"} if name == "reliability" else {}
        expected = page(study, exclude="catch_failed", **options)
        values = {key: value for key, value in numbers[name].items() if key != "experiment"}
        assert list(differences({key: expected[key] for key in values}, values)) == [], name


@pytest.mark.usefixtures("drawn_once")
@pytest.mark.parametrize(
    ("people", "method", "author"),
    [
        (6, "Wilson intervals with the effective number", "Dean, N."),
        (40, "percentile intervals of", "Owen, A."),
    ],
)
def test_the_report_names_the_method_of_its_intervals_and_cites_it(people, method, author):
    html = unescape(
        build_report(judged_study(people=people), Options(), has_pdf=False).files["report.html"].decode()
    )
    assert f"Confidence intervals of agreement are {method}" in html
    assert [name for name in ("Dean, N.", "Owen, A.") if name in html] == [author]


def test_the_command_writes_the_same_bytes_twice_and_refuses_another_report(tmp_path, capsys, request):
    study = judged_study()
    words = ["report", study.slug, "--out", str(tmp_path / "one"), "--rule", "4/5", "--pdf"]
    call_command(*words)
    first = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert set(first) == {"report.html", "report.pdf", "numbers.json", "replication.zip", "manifest.json"}
    assert first["report.pdf"].startswith(b"%PDF")
    call_command(*words)
    assert "already there" in capsys.readouterr().out
    with pytest.raises(CommandError, match="never overwritten"):
        call_command("report", study.slug, "--out", str(tmp_path / "one"))
    request.getfixturevalue("drawn_once")
    call_command("report", study.slug, "--out", str(tmp_path / "two"), "--json")
    document = json.loads(capsys.readouterr().out)
    assert document["written"] and "report.pdf" not in document["files"]
    assert document["numbers"]["agreement"]["overall"]["items"] == 4


@pytest.mark.usefixtures("drawn_once")
def test_a_report_has_what_is_chosen_and_cites_it(ada, tmp_path):
    study = judged_study(task="likert")
    choices = ("--correction", "bh", "--sesoi", "0.2", "--outliers", "1000-20000", "--multiverse")
    call_command("report", study.slug, "--out", str(tmp_path / "report"), *choices)
    page = unescape((tmp_path / "report" / "report.html").read_text())
    assert "p (Benjamini–Hochberg)" in page and "Benjamini, Y." in page
    assert "p (Holm)" not in page and "Holm, S." not in page
    assert "Tests of equivalence" in page and "Lakens, D. (2017)" in page and "within ±0.2 z" in page
    assert "Response times by condition" in page and "below 1,000 ms or above 20,000 ms" in page
    assert "Baayen, R. H." in page and "48 of 48 response times" in page or "48 response times" in page
    assert "Specifications of the multiverse" in page and "Specification curve" in page
    assert "Simonsohn, U." in page


def test_a_smallest_effect_is_kept_for_the_report_and_refused_for_choices(ada):
    address = reverse("study-reports", args=[judged_study(task="likert").slug])
    assert ada.post(address, {"ties": "strict", "sesoi": "0.2"}).status_code == 302
    assert Job.objects.get(kind=STUDY_REPORT).arguments["options"]["sesoi"] == 0.2
    choices = judged_study("choices")
    answer = ada.post(reverse("study-reports", args=[choices.slug]), {"ties": "strict", "sesoi": "0.7"})
    assert answer.status_code == 400 and "no smallest effect of interest" in answer.content.decode()


def test_bad_choices_end_with_two_and_leave_nothing(tmp_path):
    study = judged_study()
    for wrong in (["--exclude", "rejeted"], ["--rule", "all"], ["--ties", "fair"]):
        with pytest.raises(CommandError) as error:
            call_command("report", study.slug, "--out", str(tmp_path / "none"), *wrong)
        assert error.value.returncode == 2
    assert not (tmp_path / "none").exists()


@pytest.mark.usefixtures("drawn_once")
def test_the_page_is_one_file_without_external_requests_or_participant_names(tmp_path):
    study = judged_study(title="<b>Bold & risky</b>")
    person = study.participants.first()
    PlatformIdentity.objects.create(
        participant=person, experiment=study, recruiter="prolific", external_id="SECRET-PLATFORM-ID"
    )
    html = build_report(study, Options(rule="4/5"), has_pdf=False).files["report.html"].decode()
    assert "&lt;b&gt;Bold &amp; risky&lt;/b&gt;" in html and "<b>Bold" not in html
    assert not re.search(r"<(script|link|iframe|img)\b|\bon\w+=\"|@import|url\(\s*['\"]?http", html)
    outside = set(re.findall(r"https?://[^\s\"<)]+", html))
    assert all(re.match(r"https?://(doi\.org|www\.jstor\.org|www\.w3\.org)/", address) for address in outside)
    assert "SECRET-PLATFORM-ID" not in html and person.pseudonym not in html
    for words in ("ready to paste", "of 4 pairs", "Gwet", "SHA-256", "numpy", "Krippendorff"):
        assert words in html
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))


def test_drawn_figures_are_of_the_numbers_and_their_marks_have_the_same_colours_on_dark_paper(monkeypatch):
    def fail_when_repeated(*args, **kwargs):
        raise AssertionError("the figures compute what the numbers hold")

    monkeypatch.setattr("analysis.figures.evidence.five_analyses", fail_when_repeated)
    study = judged_study("judged", task="likert")
    html = build_report(study, Options(), has_pdf=False).files["report.html"].decode()
    assert 'aria-label="Five analyses of each contrast' in html and 'aria-label="Effect sizes' in html
    assert "p (Holm)" in unescape(html) and "Holm, S." in unescape(html)
    figures = dict.fromkeys(re.findall(r"<figure( class=\"keeps\")?><div[^>]*aria-label=\"([^\"]+)", html))
    keeping = {shows.partition(".")[0] for keeps, shows in figures if keeps}
    assert keeping == {"Five analyses of each contrast"} and len(figures) > len(keeping)
    dark = html.partition("(prefers-color-scheme: dark)")[2].partition("@media print")[0]
    rules = re.findall(r"^ *(\S*?) *svg \[fill=\"(#\w+)\"\]", dark, re.MULTILINE)
    everywhere = {colour for scope, colour in rules if not scope}
    elsewhere = {colour for scope, colour in rules if scope == "figure:not(.keeps)"}
    assert everywhere and elsewhere and not everywhere & elsewhere


@pytest.mark.usefixtures("drawn_once")
def test_letters_beyond_the_built_in_fonts_are_reported_to_depend_on_the_machine():
    study = judged_study(title="句子的可接受性")
    report = build_report(study, Options())
    assert "句子的可接受性" in report.files["report.html"].decode()
    assert report.files["report.pdf"].startswith(b"%PDF")


@pytest.mark.usefixtures("drawn_once")
def test_the_button_makes_a_report_once_for_the_same_data(ada):
    study = judged_study()
    address = reverse("study-reports", args=[study.slug])
    assert "No report yet" in ada.get(address).content.decode()
    for _ in range(2):
        assert ada.post(address, {"rule": "4/5", "ties": "strict"}).status_code == 302
    job = Job.objects.get(kind=STUDY_REPORT)
    assert "data-job" in ada.get(address).content.decode()
    job_runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error
    page = ada.get(address).content.decode()
    for name in ("report.html", "report.pdf", "numbers.json", "replication.zip"):
        link = reverse("study-report-file", args=[study.slug, job.pk, name])
        assert link in page
        answer = ada.get(link)
        assert answer.status_code == 200 and answer["Content-Disposition"].startswith("attachment")
        assert answer["Content-Security-Policy"] == (
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
        )
        assert answer["X-Content-Type-Options"] == "nosniff"
    ada.post(address, {"rule": "4/5", "ties": "strict"})
    assert Job.objects.filter(kind=STUDY_REPORT).count() == 1
    add_sitting(study, "late")
    ada.post(address, {"rule": "4/5", "ties": "strict"})
    assert Job.objects.filter(kind=STUDY_REPORT).count() == 2
    scored(study, "bright")
    ada.post(address, {"rule": "4/5", "ties": "strict"})
    assert Job.objects.filter(kind=STUDY_REPORT).count() == 3
    nav = ada.get(reverse("study-releases", args=[study.slug])).content.decode()
    assert address in nav


def test_a_wrong_rule_is_shown_beside_its_field(ada):
    study = judged_study()
    answer = ada.post(reverse("study-reports", args=[study.slug]), {"rule": "most"})
    assert answer.status_code == 400 and not Job.objects.filter(kind=STUDY_REPORT).exists()


def test_a_study_without_judgments_shows_a_message(ada):
    study = cast.study("empty")
    answer = ada.post(reverse("study-reports", args=[study.slug]), {}, follow=True)
    assert "there are no judgments to report on" in answer.content.decode()


@pytest.mark.usefixtures("drawn_once")
def test_strangers_find_nothing_and_readers_may_read(client):
    study = judged_study()
    report = new_report(study)
    address = reverse("study-reports", args=[study.slug])
    link = reverse("study-report-file", args=[study.slug, report.number, "report.html"])
    client.force_login(cast.cleo())
    assert client.get(address).status_code == client.get(link).status_code == 404
    client.force_login(cast.ben())
    assert client.get(link).status_code == 200
    assert "Make the report" not in client.get(address).content.decode()
    assert client.post(address, {}).status_code == 403
    assert client.get(link.replace("report.html", "manifest.json")).status_code == 404


@pytest.mark.usefixtures("drawn_once")
def test_the_api_makes_lists_and_gives_reports(ada):
    study = judged_study()
    address = reverse("api-study-reports", args=[study.slug])
    answer = ada.post(address, {"rule": "4/5"}, content_type="application/json")
    assert answer.status_code == 202 and answer.json()["files"] == []
    number = answer.json()["number"]
    job_runner.run(number)
    document = ada.get(reverse("api-study-report", args=[study.slug, number])).json()
    assert document["state"] == "done" and document["headline"]["participants"] == 6
    assert [row["number"] for row in ada.get(address).json()] == [number]
    name = reverse("api-study-report-file", args=[study.slug, number, "numbers.json"])
    assert json.loads(ada.get(name).content)["agreement"]["rule"] == "4/5"
    refused = ada.post(address, {"rule": "most"}, content_type="application/json")
    assert refused.status_code == 422
    ada.force_login(cast.cleo())
    assert ada.get(address).status_code == 404


@pytest.mark.usefixtures("drawn_once")
def test_the_report_of_a_factorial_study_gives_its_interactions(shared_data):
    """Sprouse, Wagers & Phillips 2012, experiment 1: four islands, no label of what is expected."""
    path = shared_data("swp2012-exp1/SWP.EXP1.results.csv")
    columns = ["paradigm=subdesign", "condition=structure+distance"]
    options = {"format": "table", "map": columns, "stdout": io.StringIO()}
    call_command("import_judgments", path, experiment="islands", **options)
    study = Experiment.objects.get(slug="islands")
    html = build_report(study, Options(), has_pdf=False).files["report.html"].decode()
    words = " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
    finding = "differences of the 2×2 designs were 1.05 z [0.74, 1.37] (adj), 0.98 z [0.74, 1.21] (np)"
    assert words.count(finding) == 2
    slopes = "structure, distance, structure:distance"
    assert f"(slopes by participant ({slopes}), without correlations: 3;" in words
    assert "all 4 differed from 0 after Holm's correction" in words
    assert "adj non × matrix 1.05 [0.90, 1.20] 1.05 [0.74, 1.37]" in words
    assert "Not estimable: a replication is planned for contrasts of acceptable and unacceptable" in words
    assert "142 participants rated sentences on a scale from 1 to 7" in words


@pytest.mark.usefixtures("drawn_once")
def test_simulated_participants_of_a_dry_run_took_no_part_in_the_study():
    study = judged_study("judged", people=3, target_judgments=12)
    Design.objects.create(experiment=study, n_lists=2)
    study.participants.update(is_simulated=True)
    rehearsal = add_sitting(study, "dry-run-1")
    rehearsal.participant.is_simulated = True
    rehearsal.participant.save()
    Session.objects.filter(pk=rehearsal.pk).update(is_test=True)
    report = build_report(study, Options(), has_pdf=False)
    html = report.files["report.html"].decode()
    assert "3 simulated participants took part in this study" in html
    assert "12 judgments of each pair" in html


def test_a_release_of_ratings_has_no_tile_of_majorities(client):
    study = judged_study("judged", task="likert")
    study.materials.pairs.all().delete()
    study.materials.sentences.update(expected="")
    release = ready_release(study)
    client.force_login(cast.ada())
    page = client.get(reverse("study-release", args=["judged", release.number])).content.decode()
    assert "Majority agreement" not in page and "0 of 0" not in page
