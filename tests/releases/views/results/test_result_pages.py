"""Exclusions, reliability, effects, ordinal models, items and power: page, command and API say the same."""

import json
from datetime import timedelta
from html import unescape

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from analysis.aggregation import ordinal
from analysis.mixed_models import bayesian_ordinal
from experiments.models import Campaign, Job
from experiments.operation import job_runner
from judgments.models import Judgment
from releases.gold.plans import write_plan
from releases.reports import report_cache
from tests import cast
from tests.releases.study import add_sitting, judged_study

pytestmark = pytest.mark.django_db
PAGES = (
    "reliability",
    "effects",
    "power",
    "exclusions",
    "items",
    "ordinal",
    "times",
    "groups",
    "sequential",
    "multiverse",
)


@pytest.fixture
def printed(capsys):
    """What a command prints as JSON."""

    def run(*words):
        call_command(*words, "--json")
        return json.loads(capsys.readouterr().out)

    return run


@pytest.mark.parametrize("task", ["forced_choice", "likert", "yes_no"])
def test_every_page_opens_with_data_and_without(ada, task, subtests):
    judged_study("judged", task=task)
    cast.study("empty", task=task, materials=None)
    # The others of choices and ratings are read part by part in test_order.py.
    pages = {"empty": PAGES, "judged": PAGES if task == "yes_no" else ("groups", "sequential")}
    for slug in pages:
        for name in pages[slug]:
            with subtests.test(name, slug=slug):
                answer = ada.get(reverse(f"study-{name}", args=[slug]))
                assert answer.status_code == 200
                assert b"<script>" not in answer.content and b"style=" not in answer.content


def test_strangers_find_nothing_and_readers_look(client, subtests):
    study = judged_study()
    for name in (*PAGES, *(f"{page}-json" for page in PAGES)):
        with subtests.test(name):
            address = reverse(f"study-{name}", args=[study.slug])
            client.force_login(cast.cleo())
            assert client.get(address).status_code == 404
            client.force_login(cast.ben())
            assert client.get(address).status_code == 200


@pytest.mark.parametrize("task", ["forced_choice", "likert", "yes_no"])
def test_page_command_and_api_give_the_same_document(ada, printed, task, subtests):
    study = judged_study(task=task)
    add_sitting(study, "careless", agrees=False, catch=False)
    for name in (
        "reliability",
        "effects",
        "exclusions",
        "items",
        "times",
        "groups",
        "sequential",
        "multiverse",
    ):
        with subtests.test(name):
            command = printed(name, study.slug, "--exclude", "catch_failed")
            page = ada.get(reverse(f"study-{name}-json", args=[study.slug]), {"steps": "catch_failed"}).json()
            api = ada.get(reverse(f"api-{name}", args=[study.slug]), {"exclude": "catch_failed"}).json()
            assert page == command == api
            assert command["experiment"] == study.slug
            assert name == "multiverse" or command != printed(name, study.slug)


def test_a_plan_locked_before_the_first_response_is_distinguished_from_a_later_one(ada):
    early, late = cast.study("early"), judged_study("late")
    step = {"name": "flagged", "scope": "session", "rule": "flagged", "parameters": {}}
    for study, notice in ((early, "locked before the first response"), (late, "after responses had come in")):
        write_plan(study, "careful", steps=[step], user=cast.ada())
        page = ada.get(reverse("study-exclusions", args=[study.slug]), {"plan": "careful"}).content.decode()
        assert notice in page
    assert "Sensitivity of the results" in page and "the plan without flagged" in page


def test_a_plan_that_scores_analysed_items_is_refused_over_the_api(ada):
    study = judged_study()
    step = {
        "name": "circular",
        "rule": "catch_failed",
        "scope": "session",
        "parameters": {"kinds": ["target"]},
    }
    body = {"name": "circular", "steps": [step]}
    answer = ada.post(reverse("api-plans", args=[study.slug]), body, content_type="application/json")
    assert answer.status_code in (400, 422) and "raise the agreement" in answer.content.decode()
    assert not study.exclusion_plans.exists()


def test_large_studies_are_computed_by_a_worker_once(ada, monkeypatch):
    monkeypatch.setitem(report_cache.MAX_JUDGMENTS, "effects", 0)
    study = judged_study()
    address = reverse("study-effects", args=[study.slug])
    assert b"Being computed" in ada.get(address).content
    assert ada.get(reverse("study-effects-json", args=[study.slug])).status_code == 202
    assert ada.get(reverse("api-effects", args=[study.slug])).status_code == 202
    (job,) = Job.objects.filter(kind=report_cache.REPORT)
    job_runner.run(job.pk)
    assert b"How many contrasts hold" in ada.get(address).content
    assert ada.get(reverse("api-effects", args=[study.slug])).json()["rates"]
    assert Job.objects.filter(kind=report_cache.REPORT).count() == 1
    add_sitting(study, "newcomer")
    assert b"Being computed" in ada.get(address).content


def test_a_report_that_failed_says_why_and_when_it_is_tried_again(ada, monkeypatch):
    monkeypatch.setitem(report_cache.MAX_JUDGMENTS, "effects", 0)
    address = reverse("study-effects", args=[judged_study().slug])
    ada.get(address)
    job = Job.objects.get(kind=report_cache.REPORT)
    Job.objects.update(state=Job.State.FAILED, error="The disk is full.", finished_at=timezone.now())
    page = ada.get(address).content.decode()
    assert "Not computed" in page and "The disk is full." in page and "Being computed" not in page
    minutes = {10: "ten"}[report_cache.RETRY_AFTER.seconds // 60]
    assert f"opened {minutes} minutes after the failure" in page
    Job.objects.update(finished_at=timezone.now() - report_cache.RETRY_AFTER - timedelta(seconds=1))
    assert "Being computed" in ada.get(address).content.decode()
    assert Job.objects.filter(kind=report_cache.REPORT).exclude(pk=job.pk).count() == 1


def test_bad_choices_are_explained(ada):
    study = judged_study(task="likert")
    answer = ada.get(reverse("study-effects", args=[study.slug]), {"factorial": "a,b,c"})
    assert answer.status_code == 400 and b"four conditions" in answer.content
    with pytest.raises(CommandError, match="phenomenon"):
        call_command("effects", study.slug, "--by", "phenomena")
    assert ada.get(reverse("api-reliability", args=[study.slug]), {"coding": "x"}).status_code == 400


def test_reliability_shows_response_styles_and_why_drift_has_no_slope(ada, capsys):
    study = judged_study(task="likert")
    page = unescape(ada.get(reverse("study-reliability", args=[study.slug])).content.decode())
    assert "Extreme, 95 %" in page and "Every sentence has one place in all sessions" in page
    call_command("reliability", study.slug)
    text = capsys.readouterr().out
    assert "acquiescence" in text and "Every sentence has one place" in text
    choices = judged_study("choices", task="forced_choice")
    page = ada.get(reverse("study-reliability", args=[choices.slug])).content.decode()
    assert "Choices between two sentences have no points of a scale." in page


def test_power_is_shown_beside_the_cost_of_the_campaign(ada, printed):
    study = cast.draft(slug="planned", task="forced_choice")
    Campaign.objects.create(
        experiment=study, name="first", recruiter="prolific", reward_minor=150, currency="GBP"
    )
    address = reverse("study-power", args=[study.slug])
    page = ada.get(address, {"effect": "0.5", "participants": "20 40"}).content.decode()
    assert "39.99 GBP" in page and "79.98 GBP" in page  # 20 x 1.50 and a third on top, rounded up
    command = printed(
        "power", "prospective", "--task", "forced_choice", "--effect", "0.5", "--participants", "20", "40",
        "--items", "4", "--lists", "2", "--study", study.slug,
    )  # fmt: skip
    parameters = {"effect": "0.5", "participants": "20 40", "items": "4", "lists": "2"}
    document = ada.get(reverse("study-power-json", args=[study.slug]), parameters).json()
    assert document == {name: value for name, value in command.items() if name != "currency"}
    assert [row["cost_minor"] for row in document["designs"]] == [3999, 7998]
    parameters = {"task": "forced_choice", "effect": 0.5, "participants": "20,40", "items": "4",
             "reward_minor": 150, "fee": 0.333}  # fmt: skip
    assert ada.get(reverse("api-power"), parameters).json()["designs"] == document["designs"]


def test_a_study_is_the_pilot_of_the_next(ada, printed):
    study = judged_study(people=8)
    command = printed("power", "resample", "--study", study.slug, "--participants", "6", "12")
    page = ada.get(reverse("study-pilot-json", args=[study.slug]), {"participants": "6 12"}).json()
    assert page["sizes"] == command["sizes"] and page["few_in_pilot"]
    assert b"as a pilot of the next" in ada.get(reverse("study-power", args=[study.slug])).content


def test_a_plan_of_several_conditions_is_the_same_on_page_command_and_api(ada, printed):
    study = cast.draft(task="likert")
    plan = {"task": "likert", "test": "anova", "conditions": "4", "effect": "0.25", "participants": "20 30"}
    plan |= {"items": "8", "lists": "2", "correlation": "0.4", "epsilon": "0.8"}
    assert (
        "30 participants with 8 items"
        in ada.get(reverse("study-power", args=[study.slug]), plan).content.decode()
    )
    document = ada.get(reverse("study-power-json", args=[study.slug]), plan).json()
    command = printed(
        "power", "prospective", "--task", "likert", "--test", "anova", "--conditions", "4",
        "--effect", "0.25", "--participants", "20", "30",
        "--lists", "2", "--correlation", "0.4", "--epsilon", "0.8",
    )  # fmt: skip
    assert document == {name: value for name, value in command.items() if name != "currency"}
    answer = ada.get(reverse("api-power"), plan | {"participants": "20,30"}).json()
    assert answer["designs"] == document["designs"]


def test_a_plan_that_cannot_be_is_refused_on_the_page(ada):
    study = cast.draft()
    for wrong, message in (({"items": "2", "lists": "9"}, b"cannot fill"), ({"effect": "x"}, b"number")):
        answer = ada.get(reverse("study-power", args=[study.slug]), wrong)
        assert answer.status_code == 400 and message in answer.content


def test_likert_pages_show_points_cles_and_the_ordinal_model(ada):
    study = judged_study(task="likert", people=5)
    page = ada.get(reverse("study-ratings", args=[study.slug])).content.decode()
    assert "CLES" in page and "how often each point of the scale was chosen" in page
    document = ada.get(reverse("study-ordinal-json", args=[study.slug])).json()
    assert document["rows"][0]["n"] == 40


def test_bayesian_model_is_a_job_where_pymc_is_installed_and_else_says_what_to_install(ada, monkeypatch):
    study = judged_study(task="likert", people=5)
    address = reverse("study-ordinal", args=[study.slug])
    monkeypatch.setattr(bayesian_ordinal, "find_spec", lambda name: None)
    answer = ada.get(address, {"bayesian": "on"})
    assert answer.status_code == 400 and b"make install-bayes" in answer.content
    answer = ada.get(reverse("api-ordinal", args=[study.slug]), {"bayesian": "true"})
    assert answer.status_code == 422 and b"make install-bayes" in answer.content
    assert not Job.objects.filter(kind=report_cache.REPORT).exists()
    monkeypatch.setattr(bayesian_ordinal, "find_spec", lambda name: True)
    assert "Being computed" in ada.get(address, {"bayesian": "on"}).content.decode()
    posterior = {"beta": 1.25, "sd": 0.5, "ci_low": 0.25, "ci_high": 2.25, "above_zero": 0.99, "r_hat": 1.2}
    posterior |= {"deviations": [], "ess": 80.4, "divergences": 3, "status": "not_converged"}
    monkeypatch.setattr(ordinal, "bayesian_ordinal_model", lambda *values, **choices: posterior)
    job_runner.run(Job.objects.get(kind=report_cache.REPORT).pk)
    page = ada.get(address, {"bayesian": "on"}).content.decode()
    assert "Posterior of the Bayesian model" in page
    assert "0.25 to 2.25" in page and "not converged" in page and "3 divergences" in page


def test_yes_no_items_show_sensitivity_and_the_guards(ada):
    study = judged_study(task="yes_no", people=6)
    page = ada.get(reverse("study-items", args=[study.slug])).content.decode()
    assert "d′" in page and "skills would be guesses" in page
    row = ada.get(reverse("study-items-json", args=[study.slug])).json()["detection"]["rows"][0]
    assert (row["yes_acceptable"], row["n_acceptable"]) == (20, 24)


def test_three_conditions_within_participants_have_an_analysis_of_variance(ada):
    study = judged_study(task="likert", people=8)
    for place, pair in enumerate(study.materials.pairs.order_by("pk")):
        pair.bad.condition = "mild" if place % 2 else "severe"
        pair.bad.save(update_fields=["condition"])
    study.materials.sentences.filter(expected="acceptable").update(condition="plain")
    for place, judgment in enumerate(Judgment.objects.order_by("pk")):
        judgment.value += place * 7 % 5 / 4
        judgment.save(update_fields=["value"])
    address = reverse("study-effects-json", args=[study.slug])
    row = next(row for row in ada.get(address).json()["within"] if row["levels"] == 3)
    assert row["status"] == "ok" and (row["df1"], row["df2"]) == (2, 14) and row["F"] > 1
    page = ada.get(reverse("study-effects", args=[study.slug])).content.decode()
    assert "Conditions within participants" in page and "(2, 14)" in page


def test_numbers_lead_to_the_manual(ada):
    study = judged_study()
    page = ada.get(reverse("study-effects", args=[study.slug])).content.decode()
    address = reverse("manual-page", args=["statistics/effects.md"])
    assert address in page
    response = ada.get(address)
    assert response.status_code == 200 and b"<table" in response.content
    for name in ("../manage.py", "../config/settings.py", "statistics/nowhere.md"):
        assert ada.get(f"/manual/{name}").status_code == 404


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({}, "z by participant, SD divided by n − 1, over targets and fillers"),
        ({"transform": "z", "ddof": "0"}, "z by participant, SD divided by n, over targets and fillers"),
        ({"transform": "raw"}, "raw values, over targets and fillers"),
    ],
)
def test_the_scale_of_ratings_is_described(ada, chosen, words):
    study = judged_study(task="likert", people=8)
    assert words in ada.get(reverse("study-ratings", args=[study.slug]), chosen).content.decode()


def test_the_page_and_the_command_name_the_correction_they_show(ada, capsys):
    study = judged_study(task="likert")
    for choice, name in ((None, "Holm"), ("bh", "Benjamini–Hochberg")):
        page = ada.get(reverse("study-effects", args=[study.slug]), {"correction": choice} if choice else {})
        assert f"corrected for several tests by {name}" in page.content.decode()
        call_command("effects", study.slug, *(["--correction", choice] if choice else []))
        assert f"then p by {name}" in capsys.readouterr().out


def test_equivalence_is_tested_where_a_smallest_effect_is_given(ada, printed, capsys):
    study = judged_study(task="likert")
    page, address = (
        reverse("study-effects", args=[study.slug]),
        reverse("study-effects-json", args=[study.slug]),
    )
    assert "Equivalence" not in ada.get(page).content.decode()
    html = ada.get(page, {"sesoi": "0.2"}).content.decode()
    assert "within ±0.2 z" in html and "p (TOST)" in html
    command = printed("effects", study.slug, "--sesoi", "0.2")
    api = ada.get(reverse("api-effects", args=[study.slug]), {"sesoi": "0.2"}).json()
    assert command == ada.get(address, {"sesoi": "0.2"}).json() == api
    assert [row["verdict"] for row in command["equivalence"]] and command["sesoi"] == 0.2
    call_command("effects", study.slug, "--sesoi", "0.2")
    assert "TOST, p" in capsys.readouterr().out


def test_a_smallest_effect_that_choices_cannot_have_is_refused_with_a_remedy(ada):
    study = judged_study(task="forced_choice")
    answer = ada.get(reverse("study-effects", args=[study.slug]), {"sesoi": "0.5"})
    assert answer.status_code == 400 and "distance of the share" in answer.content.decode()
    answer = ada.get(reverse("api-effects", args=[study.slug]), {"sesoi": "0.5"})
    assert answer.status_code in (400, 422)


def test_the_outlier_rule_of_times_is_named_and_an_unreadable_one_refused(ada, capsys):
    study = judged_study(task="likert")
    page = reverse("study-times", args=[study.slug])
    html = ada.get(page, {"outliers": "1000-20000"}).content.decode()
    assert "below 1,000 ms or above 20,000 ms" in html and "48 of 48 times left out" in html
    assert "Within participants" in ada.get(page).content.decode()
    assert ada.get(page, {"outliers": "fast"}).status_code == 400
    call_command("times", study.slug, "--outliers", "200-10000,2.5sd")
    printed = capsys.readouterr().out
    assert "left out 0 of 48 times" in printed and "log time with position within participants" in printed
    with pytest.raises(CommandError):
        call_command("times", study.slug, "--outliers", "fast")


def test_the_multiverse_takes_the_plan_and_the_other_plans_and_names_twins(ada, printed):
    study = judged_study(task="likert")
    add_sitting(study, "careless", agrees=False, catch=False)
    for plan, name in (("strict", "catch_failed"), ("marked", "flagged")):
        step = {"name": name, "scope": "session", "rule": name, "parameters": {}}
        write_plan(study, plan, steps=[step], user=cast.ada())
    report = printed("multiverse", study.slug, "--exclude", "strict")
    assert {row["exclusion"] for row in report["specifications"]} == {"nothing excluded", "strict"}
    assert report["same"] == [{"exclusion": "marked", "as": "nothing excluded"}] and not report["unusable"]
    assert [row["exclusion"] for row in report["specifications"] if row["is_current"]] == ["strict"]
    query = {"plan": "strict", "by": "paradigm"}
    page = ada.get(reverse("study-multiverse", args=[study.slug]), query).content.decode()
    assert "marked leaves the same judgments as nothing excluded" in page and "the study's own</span>" in page
    table = ada.get(reverse("study-multiverse-csv", args=[study.slug]), query).content.decode()
    assert table.count("\n") == 1 + len(report["specifications"])
    figure = reverse("study-figure", args=[study.slug, "specification-curve", "svg"])
    assert b"t by items" in ada.get(figure, query).content
