"""Simulated participants over the JSON API, mixes of profiles, and participants who answer like a model."""

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from experiments.models import Design, Sentence
from experiments.studies.lifecycle import open_study
from judgments.models import Judgment, Session
from judgments.monitoring.overview import study_numbers
from judgments.simulation.http_client import InProcess, Live
from judgments.simulation.participant import Persona
from judgments.simulation.walkthrough import visit
from releases.models import ScoringRun, SentenceScore
from tests import cast

pytestmark = pytest.mark.django_db
PAIR = {
    "options": [{"text": "The dog slept."}, {"text": "Slept dog the."}],
    "correct": 0,
    "feedback": "Right.",
}
TASKS = {
    "forced_choice": {},
    "likert": {"points": 7},
    "yes_no": {},
    "slider": {},
    "magnitude_estimation": {"reference": "The man arrived by bus.", "modulus": 100},
}


def study(task="forced_choice", *, n_items=10, **fields):
    materials = cast.material_set(n_items=n_items, paradigms=("agreement", "island"))
    options = {"parameters": TASKS.get(task, {}), **fields}
    experiment = cast.draft(materials=materials, task=task, **options)
    Design.objects.create(experiment=experiment, n_lists=2, trials_per_block=8)
    return open_study(experiment, cast.ada())


def simulate(*arguments):
    out = StringIO()
    call_command("simulate", "agreement", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def score_file(tmp_path, scores):
    path = tmp_path / "scores.csv"
    rows = "".join(f"{key},{score},0\n" for key, score in scores.items())
    path.write_text(f"sentence_id,gpt,other\n{rows}")
    return str(path)


def backwards():
    """Scores of a model that prefers every unacceptable sentence."""
    return {
        key: -10.0 if key.endswith("good") else -9.0 for key in Sentence.objects.values_list("key", flat=True)
    }


@pytest.mark.parametrize("task", TASKS)
def test_a_whole_session_runs_over_the_api_with_times_and_measurements(task):
    experiment = study(task)
    report = simulate("--participants", "2", "--seed", "3")
    assert (report["completed"], report["judgments"], report["through"]) == (2, 40, "api")
    rows = Judgment.objects.all()
    assert set(rows.values_list("input_type", flat=True)) <= {"mouse", "keyboard", "touch"}
    assert all(
        row.timing["simulated"] and row.timing["trusted"] and not row.timing.get("no_rt") for row in rows
    )
    times = np.array(rows.values_list("rt_ms", flat=True), dtype=float)
    assert 800 < np.median(times) < 5000 and len(set(times)) > 30
    assert 120 < study_numbers(experiment).median_s < 400


def test_practice_breaks_and_catch_trials_are_passed_over_the_api():
    experiment = study(practice=[PAIR], catch_trials=[PAIR] * 2)
    session = visit(InProcess(), experiment, Persona("pia"), through="api")
    assert session.status == "complete" and session.completion_code
    assert session.trials.filter(judgment__isnull=False).count() == 23


def test_a_participant_who_stops_leaves_the_remaining_trials_open():
    session = visit(InProcess(), study(), Persona("pia", stops_after=3), through="api")
    assert session.status == "active" and session.trials.filter(judgment__isnull=False).count() == 3


@pytest.mark.django_db(transaction=True)
def test_a_running_server_takes_answers_over_the_network(live_server):
    experiment = study(n_items=2, practice=[PAIR])
    session = visit(Live(live_server.url), experiment, Persona("pia"), through="api")
    assert session.status == "complete" and Judgment.objects.count() == 5


def test_mixed_profiles_arrive_in_random_order_and_are_reported_by_profile():
    study(n_items=2)
    report = simulate("--profiles", "honest:4,careless:2,left-biased:1", "--seed", "1")
    assert report["profiles"] == {"honest": 4, "careless": 2, "left-biased": 1}
    assert (report["profile"], report["completed"]) == ("mixed", 7)
    assert (
        simulate("--profiles", "honest:4,careless:2,left-biased:1", "--seed", "1")["sessions"]
        == report["sessions"]
    )
    assert Session.objects.count() == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profiles", "honest"], "'honest' is not a profile with a number"),
        (["--profiles", "honest:0"], "not a profile with a number"),
        (["--profiles", "honset:3"], "Did you mean 'honest'"),
        (["--profiles", "honest:3", "--participants", "4"], "add up to 3 participants, not 4"),
        ([], "at least 1"),
        (["--participants", "1", "--seed", "-1"], "seed"),
        (["--participants", "1", "--profile", "model-like"], "need its scores. Give --scores"),
        (
            ["--participants", "1", "--profile", "model-like", "--scores", "gpt"],
            "unknown score file or stored run",
        ),
    ],
)
def test_what_cannot_be_simulated_is_explained(arguments, message):
    study(n_items=2)
    with pytest.raises(CommandError, match=message) as caught:
        call_command("simulate", "agreement", *arguments)
    assert caught.value.returncode == 2 and not Session.objects.exists()


def test_participants_like_a_model_follow_the_sign_and_size_of_its_scores(tmp_path):
    experiment = study()
    path = score_file(tmp_path, backwards())
    simulate("--profile", "model-like", "--participants", "6", "--scores", path, "--column", "gpt")
    share = np.mean(Judgment.objects.values_list("value", flat=True))
    assert share < 0.15  # 3 logits against the expected member
    small = {key: score if "-1-" in key or "-2-" in key else -9.5 for key, score in backwards().items()}
    path = score_file(tmp_path, small)
    simulate(
        "--profile", "model-like", "--participants", "6", "--scores", path, "--column", "gpt", "--seed", "1"
    )
    later = Judgment.objects.filter(
        trial__session__participant__in=experiment.participants.order_by("pk")[6:]
    )
    clear = later.filter(trial__item__key__regex="-[12]$")
    assert np.mean(clear.values_list("value", flat=True)) < 0.15
    unsure = np.mean(later.exclude(pk__in=clear).values_list("value", flat=True))
    assert 0.3 < unsure < 0.7


def test_ratings_like_a_model_rise_with_its_scores(tmp_path):
    study("likert")
    path = score_file(tmp_path, backwards())
    simulate("--profile", "model-like", "--participants", "4", "--scores", path, "--column", "gpt")
    rated = {"good": [], "bad": []}
    for condition, value in Judgment.objects.values_list("trial__sentence__condition", "value"):
        rated[condition].append(value)
    assert np.mean(rated["bad"]) - np.mean(rated["good"]) > 1


def test_a_stored_run_gives_the_scores():
    experiment = study(n_items=3)
    run = ScoringRun.objects.create(
        material_set=experiment.materials, name="trigram", model="arpa:x", state="done"
    )
    scores = backwards()
    rows = experiment.materials.sentences.all()
    SentenceScore.objects.bulk_create(
        SentenceScore(run=run, sentence=sentence, score=scores[sentence.key]) for sentence in rows
    )
    report = simulate("--profile", "model-like", "--participants", "4", "--scores", "trigram")
    assert report["completed"] == 4 and np.mean(Judgment.objects.values_list("value", flat=True)) < 0.2


def test_sentences_without_a_score_are_counted_and_named(tmp_path):
    study(n_items=2)
    scores = backwards()
    without_score = sorted(scores)[0]
    del scores[without_score]
    with pytest.raises(CommandError, match=f"1 of 8 sentences have no score, such as '{without_score}'"):
        simulate(
            "--profile",
            "model-like",
            "--participants",
            "1",
            "--scores",
            score_file(tmp_path, scores),
            "--column",
            "gpt",
        )


def test_careless_participants_lose_the_focus_and_the_report_sees_them():
    study(n_items=12)
    simulate("--profiles", "honest:3,random:3", "--seed", "2")
    away = Judgment.objects.filter(timing__focus_lost_ms__gt=0)
    assert not away.exists()
    simulate("--profile", "careless", "--participants", "2", "--seed", "2")
    assert away.exists()
