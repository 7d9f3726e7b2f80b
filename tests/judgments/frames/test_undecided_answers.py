"""Both and neither through the doors: stored as given, counted as the study declares."""

import json

import pytest

from experiments.tasks.base import BadResponse
from judgments.frames.build import judgment_frame
from judgments.frames.listing import as_rows, counted_judgments
from judgments.models import Judgment
from releases.gold.build import build_release
from releases.gold.options import Options
from releases.reports.compute import compute_agreement
from tests import cast

pytestmark = pytest.mark.django_db
OFFERED = {"offer_both": True, "offer_neither": True}
COUNTS = {"disagreement": 0.0, "half": 0.5, "leave_out": None}


def a_study(**parameters):
    """Three people: the first answers both to the first pair and neither to the second."""
    experiment = cast.study("agreement", n_lists=1, parameters={**OFFERED, **parameters})
    for n, name in enumerate(("pia", "quentin", "rosa")):
        session = cast.begin(experiment, name)
        for place, trial in enumerate(session.trials.select_related("session__experiment")):
            answer = ("both", "neither")[place] if n == 0 and place < 2 else cast.answer_to(trial)
            cast.record(session, trial.public_id, answer)
    return experiment


def test_the_answer_is_kept_as_given_and_names_no_sentence():
    a_study()
    judgments = {
        judgment.response: judgment for judgment in Judgment.objects.filter(response__in=["both", "neither"])
    }
    assert set(judgments) == {"both", "neither"}
    assert {(judgment.status, judgment.value, judgment.chosen) for judgment in judgments.values()} == {
        ("answered", 0.5, None)
    }


@pytest.mark.parametrize("treatment", list(COUNTS))
def test_frame_page_and_api_count_it_as_declared(treatment):
    experiment = a_study(undecided=treatment)
    frame = judgment_frame(experiment).set_index("response")
    value = frame.loc["both", "value"]
    assert (None if value != value else value) == COUNTS[treatment]
    assert frame.loc["both", ["sentence_id", "condition"]].isna().all()
    assert frame.loc["both", "shown_first"]
    rows = as_rows(experiment, counted_judgments(experiment).values_list("trial", flat=True))
    assert [row["value"] for row in rows if row["response"] == "both"] == [COUNTS[treatment]]
    report = compute_agreement(experiment)
    assert report["undecided"]["treatment"] == treatment
    judged = 12 if treatment != "leave_out" else 10
    assert report["overall"]["judgments"] == judged


def test_a_later_declaration_counts_the_same_answers_anew():
    experiment = a_study()
    before = compute_agreement(experiment)["overall"]["individual_agreement"]
    experiment.parameters = {**experiment.parameters, "undecided": "leave_out"}
    experiment.save()
    after = compute_agreement(experiment)["overall"]["individual_agreement"]
    assert (before, after) == pytest.approx((10 / 12, 1.0))


def test_where_nothing_is_offered_the_word_is_no_answer():
    experiment = cast.study("agreement")
    session = cast.begin(experiment)
    with pytest.raises(BadResponse):
        cast.record(session, session.trials.first().public_id, "both")


def test_a_release_carries_counts_treatment_and_words():
    files = build_release(a_study(undecided="half"), Options()).files
    first = json.loads(files["pairs.jsonl"].splitlines()[0])
    assert (first["human_k"], first["human_n_both"], first["human_n"]) == (2, 1, 3)
    assert first["human_share"] == pytest.approx(2.5 / 3)
    statement = "1 × both and 1 × neither, counted as one half for each member"
    for name in ("README.md", "methods.md"):
        assert statement in files[name].decode()
    assert json.loads(files["manifest.json"])["conventions"]["both and neither"] == statement
    assert b",both,0.5," in files["judgments.csv"]


def test_the_agreement_page_shows_how_undecided_answers_count(client):
    a_study(undecided="leave_out")
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/agreement/").content.decode()
    assert "1 × both and 1 × neither, counted not at all" in page
    assert "1 × both" in json.dumps(
        client.get("/studies/agreement/agreement.json").json(), ensure_ascii=False
    )


def test_the_judgments_page_shows_the_label_of_the_answer(client):
    a_study()
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/judgments/").content.decode()
    assert "Both sound good" in page and "The keys 2 are here." in page
