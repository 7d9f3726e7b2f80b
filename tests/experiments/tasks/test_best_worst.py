"""Best–worst scaling from the design to the scores."""

import numpy as np
import pytest

from analysis.aggregation.best_worst import best_worst_scores
from analysis.agreement.report import agreement_report
from analysis.errors import BadInput
from experiments.design.proof import claims
from experiments.lists.build import current_lists
from experiments.models import Design, Sentence
from experiments.studies.lifecycle import open_study
from experiments.tasks.base import BadResponse, Option
from experiments.tasks.registry import get_task
from judgments.frames.build import judgment_frame
from judgments.models import Judgment
from judgments.simulation.http_client import InProcess
from judgments.simulation.participant import Persona, sit
from judgments.simulation.walkthrough import visit
from tests.cast import ada, draft, material_set
from tests.judgments.screens.walk import action, consent, fields, onward

TASK = get_task("best_worst")
FOUR = [Option(letter, letter) for letter in "abcd"]
CATCH = [{"options": [{"text": "Fine."}, {"text": "Fine not."}, {"text": "Not fine it."}], "correct": 0}]


def opened(**fields):
    """An open study of eight sentences in two lists of four sets."""
    experiment = draft(
        task="best_worst",
        materials=material_set(n_items=4),
        **{"parameters": {"size": 4, "showings": 4}, "catch_trials": CATCH, **fields},
    )
    Design.objects.create(experiment=experiment, n_lists=2, seed=3)
    return open_study(experiment, ada())


@pytest.mark.parametrize(
    ("response", "says"),
    [
        ("", "best and the worst"),
        ("a", "best and the worst"),
        ("a -", "best and the worst"),
        ("- b", "best and the worst"),
        ("a b c", "best and the worst"),
        ("a a", "two different"),
        ("a x", "does not belong"),
    ],
)
def test_an_answer_names_two_different_sentences_of_the_set(response, says):
    with pytest.raises(BadResponse, match=says):
        TASK.parse(response, TASK.settings({}), options=FOUR)


def test_the_best_is_the_option_and_its_place_the_value():
    answer = TASK.parse("c a", TASK.settings({}), options=FOUR)
    assert (answer.option_id, answer.value, answer.details) == ("c", 3.0, {"worst": "a"})
    assert TASK.read_response(TASK.form_fields("c a")) == "c a"


@pytest.mark.parametrize("impossible", [{"size": 2}, {"size": 7}, {"size": "4"}, {"showings": 0}])
def test_impossible_sets_are_refused(impossible):
    with pytest.raises(BadInput):
        TASK.settings(impossible)


@pytest.mark.parametrize("profile", ["honest", "careless", "left-biased", "random"])
def test_simulated_answers_can_be_sent(profile):
    rng = np.random.default_rng(1)
    options = [
        Option(letter, letter, acceptability=z) for letter, z in zip("abcd", (0, 9, -9, 1), strict=True)
    ]
    for _ in range(50):
        sent = TASK.simulate(rng, TASK.settings({}), options=options, acceptability=0, profile=profile)
        TASK.parse(sent, TASK.settings({}), options=options)
        assert profile != "honest" or sent == "b c"


@pytest.mark.django_db
def test_every_sentence_occurs_equally_often_in_the_stored_lists():
    experiment = opened()
    rows = experiment.current_version().lists.values_list("planned_trials__payload", flat=True)
    sentence_ids = [key for payload in rows for key in payload.get("sentences", ())]
    assert sorted(sentence_ids) == sorted([*Sentence.objects.values_list("pk", flat=True)] * 4)
    assert [(claim.holds, claim.numbers) for claim in claims(current_lists(experiment))] == [
        (True, "showings: 4"),
        (True, "difference: none"),
        (True, "meetings: at most 3; 2 would be the least"),
    ]
    assert [presentation_list.n_trials for presentation_list in experiment.current_version().lists.all()] == [
        5,
        5,
    ]


@pytest.mark.django_db
def test_two_marks_are_a_judgment_and_half_an_answer_is_kept_on_the_page(client):
    opened()
    session = consent(client, "/take/agreement/")
    onward(client, session)
    html = client.get(session).content.decode()
    best, worst = (
        [field["value"] for field in fields(html) if field.get("name") == name]
        for name in TASK.form_fields("")
    )
    assert best == worst and len(best) >= 3
    half = client.post(action(html), {"best": best[1]})
    assert half.status_code == 422 and "best and the worst" in half.content.decode()
    assert half.content.decode().count(" checked") == 1
    assert client.post(action(html), {"best": best[1], "worst": best[0]}).status_code == 302
    stored = Judgment.objects.get()
    assert (stored.response, stored.value, stored.scale_high) == (f"{best[1]} {best[0]}", 2.0, 4.0)


@pytest.mark.django_db
def test_simulated_people_go_through_the_doors_and_catch_trials_are_judged():
    experiment = opened()
    session = visit(InProcess(), experiment, Persona("pia"))
    assert session.status == "complete"
    assert session.trials.get(kind="catch").judgment.is_correct is True


@pytest.mark.django_db
def test_frames_have_a_row_per_sentence_and_scores_recover_what_was_felt():
    experiment = opened()
    for number in range(12):
        sit(experiment, Persona(f"person-{number}", seed=number))
    frame = judgment_frame(experiment, kinds=["target"])
    assert len(frame) == 12 * 4 * 4
    assert frame.groupby("trial", observed=True)["value"].sum().eq(0).all()
    scores = best_worst_scores(frame).set_index("sentence_id")["score"]
    assert len(scores) == 8 and scores.between(-1, 1).all()
    good = scores[scores.index.str.endswith("good")].mean()
    assert good > 0.2 > scores[scores.index.str.endswith("bad")].mean()
    assert frame["item"].nunique() == 4
    every = judgment_frame(experiment)
    assert (every.groupby("session", observed=True).size() == every["n_planned"].iloc[0]).all()
    report = agreement_report(frame)
    assert report["overall"]["individual_agreement"] > 0.6


@pytest.mark.django_db
@pytest.mark.parametrize(
    "page", ["", "settings/", "design/", "participants/", "judgments/", "agreement/", "ratings/", "live/"]
)
def test_pages_of_the_researcher_open(client, page):
    experiment = opened()
    sit(experiment, Persona("pia"))
    client.force_login(ada())
    assert client.get(f"/studies/agreement/{page}").status_code == 200
