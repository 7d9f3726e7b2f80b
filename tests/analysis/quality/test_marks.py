"""What figures say of their marks: intervals, rows, colours and ceilings that cannot be taken for others."""

import json

import numpy as np
import pandas as pd

from analysis.comparison.ceilings.noise import correlation_ceilings
from analysis.effects.contrasts import d_z_interval
from analysis.effects.five_analyses import five_analyses
from analysis.figures import Evidence, draw
from analysis.figures.charts.effects.five_analyses import effect_frame, effect_size_figure
from analysis.figures.charts.models.paradigms import paradigm_figure
from analysis.figures.charts.participants.conduct import conduct_frame
from analysis.figures.theme import PEOPLE
from tests.analysis.figures import examples


def test_an_effect_the_other_way_is_not_among_those_that_reach_zero():
    effects = pd.DataFrame({
        "contrast": ["strong", "weak", "reversed"], "d_z": [1.0, 0.1, -1.0],
        "ci_low": [0.5, -0.3, -1.5], "ci_high": [1.5, 0.5, -0.5],
    })  # fmt: skip
    specification = effect_size_figure(effects).to_dict()
    words = ("interval above 0", "interval reaches 0", "interval below 0")
    assert all(word in json.dumps(specification) for word in words)


def test_the_interval_of_d_z_rests_on_those_who_judged_both_sides():
    rows = examples.ratings()
    first = rows["participant"].iloc[-1]
    one_sided = rows[(rows["participant"] != first) | (rows["expected"] != "unacceptable")]
    effects = five_analyses(one_sided).effects
    assert (effects["n_pairs"] == effects["n_participants"] - 1).all()
    effect = effect_frame(effects).iloc[0]
    assert (effect["ci_low"], effect["ci_high"]) == d_z_interval(
        effect["d_z"], int(effect["n_participants"]) - 1
    )


def test_items_of_several_paradigms_that_share_their_numbers_have_a_row_each():
    rows = pd.DataFrame(
        [(p, name, str(n), float((p + n) % 4 > 0)) for p in range(6) for name in ("a", "b") for n in (1, 2)],
        columns=["participant", "paradigm", "item", "value"],
    ).assign(task="forced_choice", phenomenon="x", kind="target")
    plotted = draw("items", Evidence(judgments=rows)).data
    assert sorted(plotted["item"]) == ["a, 1", "a, 2", "b, 1", "b, 2"]


def test_a_long_run_is_coloured_where_the_run_is():
    answers = [1] * 11 + [2, 7, 3, 6, 4, 5, 2, 7, 3, 6, 4, 5, 2]
    rows = pd.DataFrame({"value": answers, "position": range(len(answers))})
    rows = rows.assign(participant="p", session="s", task="likert", kind="target", item="i")
    flagged = conduct_frame(rows).set_index("measure")["flagged"]
    assert flagged["run"] and not flagged["mode"]


def test_correlations_with_people_name_the_ceiling_that_their_ratings_set():
    beside, rng = Evidence(**examples.models()), np.random.default_rng(8)
    truth = beside.human.set_index("sentence_id")["score"]
    rows = [
        {"participant": f"P{p}", "sentence_id": name, "item": name, "value": score + rng.normal(0, 0.5)}
        for p in range(12)
        for name, score in truth.items()
    ]
    judged = Evidence(**examples.models(), judgments=pd.DataFrame(rows).assign(task="slider", kind="target"))
    reach = correlation_ceilings(judged.kept, judged.pairs, rng=np.random.default_rng(judged.seed))["deltas"]
    subtitle, alone = (
        " ".join(draw("correlations", evidence).to_dict()["title"]["subtitle"])
        for evidence in (judged, beside)
    )
    assert f"A perfect model would reach {reach['model']:.2f} with people" in subtitle
    assert "A perfect model" not in alone


def test_lines_of_models_and_of_people_are_distinguished():
    shares = pd.DataFrame({
        "paradigm": ["a", "a"], "judge": [PEOPLE, "bright"], "share": [0.9, 0.8], "n": [5, 5],
        "ci_low": [0.8, 0.6], "ci_high": [0.95, 0.9],
    })  # fmt: skip
    with_people, alone = (
        " ".join(paradigm_figure(some).to_dict()["title"]["subtitle"]) for some in (shares, shares[1:])
    )
    assert "models: Wilson, over pairs; people: over participants" in with_people
    assert "people: over participants" not in alone
