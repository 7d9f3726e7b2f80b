"""The numbers in a chart's data are the statistic's."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.agreement.report import agreement_report, item_table
from analysis.comparison.adc_curve import adc_area, chance_curve
from analysis.comparison.baselines import constant_baseline
from analysis.effects.contrasts import d_z_interval
from analysis.effects.five_analyses import five_analyses
from analysis.effects.report import effects_report
from analysis.errors import BadInput, NotEnoughData
from analysis.exclusions.apply import apply_plan
from analysis.exclusions.plan import Plan, Step, parse_plan
from analysis.figures import Evidence, draw
from analysis.figures.charts.judgments.magnitudes import magnitude_frame
from analysis.figures.charts.judgments.scale_points import scale_point_frame
from analysis.figures.charts.models.leaderboard import leaderboard_figure, leaderboard_frame
from analysis.figures.charts.participants.conduct import longest_run
from analysis.figures.charts.participants.flow import flow_frame
from analysis.figures.charts.participants.response_times import plan_cuts
from analysis.figures.charts.participants.sensitivity import sensitivity_frame
from analysis.power.exact import sign_power
from analysis.power.pilot import pilot_power
from analysis.reliability.report import reliability_report
from analysis.reliability.split_half import split_half, split_half_by_size
from tests.analysis.figures import examples

PLAN = Plan("careful", [Step("bad", "participant", "catch_failed")])


@pytest.fixture(scope="module")
def choice():
    return Evidence(judgments=examples.choices(), plan=PLAN)


@pytest.fixture(scope="module")
def likert():
    return Evidence(judgments=examples.ratings(), plan=PLAN)


@pytest.fixture(scope="module")
def beside():
    return Evidence(**examples.models())


def remaining_judgments(evidence):
    return apply_plan(evidence.judgments, PLAN).kept


def test_items_are_the_items_of_the_kept_rows(choice):
    items = item_table(remaining_judgments(choice)).set_index("item")
    plotted = draw("items", choice).data.set_index("item")
    assert len(plotted) == 24 and plotted["n"].eq(examples.PEOPLE - 1).all()
    assert plotted["share"].to_dict() == items["share"].to_dict()
    assert plotted["share"].is_monotonic_decreasing


def test_agreement_is_that_of_the_report(choice):
    rows = {row["paradigm"]: row for row in agreement_report(remaining_judgments(choice))["paradigms"]}
    for row in draw("agreement", choice).data.to_dict("records"):
        assert row["share"] == rows[row["paradigm"]]["individual_agreement"]
        assert row["items_right"] == rows[row["paradigm"]]["items_right"]


def test_sentences_show_the_mean_of_participants_z(likert):
    rows = remaining_judgments(likert)
    targets = rows[rows["kind"] == "target"]
    z = targets.groupby("participant")["value"].transform(
        lambda values: (values - values.mean()) / values.std()
    )
    means = z.groupby(targets["sentence_id"]).mean()
    plotted = draw("sentences", likert).data.set_index("sentence_id")["mean"]
    assert len(plotted) == 32
    assert plotted.to_numpy() == pytest.approx(means[plotted.index].to_numpy())


def test_correlations_are_pearsons(beside):
    human = beside.human.set_index("sentence_id")["score"]
    scores = beside.scores.set_index("sentence_id")["bright"]
    pairs = beside.pairs
    expected = np.corrcoef(
        human[pairs["good_id"]].to_numpy() - human[pairs["bad_id"]].to_numpy(),
        scores[pairs["good_id"]].to_numpy() - scores[pairs["bad_id"]].to_numpy(),
    )[0, 1]
    data = draw("correlations", beside).data
    row = data[(data["a"] == "people") & (data["b"] == "bright")].iloc[0]
    assert row["pearson_r"] == pytest.approx(expected) and row["n"] == 60


def test_the_adc_figure_holds_areas_chance_and_constant(beside):
    table, plotted = beside.table, draw("adc", beside).data
    areas = plotted.drop_duplicates("judge").set_index("judge")["area"]
    human = table.human_delta.to_numpy()
    assert areas["bright"] == adc_area(human, table.model_delta["bright"].to_numpy())
    constant = plotted[(plotted["judge"] == "constant") & np.isclose(plotted["delta"], 1)]["adc"].item()
    assert constant == constant_baseline(human, deltas=[1.0]).adc[1.0]
    chance = plotted[plotted["judge"] == "chance"]["adc"]
    assert chance.is_monotonic_increasing and 0 < chance.iloc[-1] < 1


def test_chance_on_a_grid_is_brute_force():
    rng = np.random.default_rng(3)
    scores, human = rng.normal(size=10), rng.normal(size=5)
    good, bad, grid = np.arange(5), np.arange(5, 10), np.array([0.5, 2.0])
    curve = chance_curve(scores, good, bad, human, grid=grid, rng=np.random.default_rng(1), permutations=40)
    generator, shares = np.random.default_rng(1), []
    for _ in range(40):
        dealt = generator.permutation(scores)
        delta = dealt[good] - dealt[bad]
        shares.append([((np.sign(delta) == np.sign(human)) & (abs(human - delta) < d)).mean() for d in grid])
    assert curve == pytest.approx(np.mean(shares, axis=0))


def test_differences_have_intervals_and_rings(beside):
    texts = {**{f"g{i}": f"one {i}" for i in range(60)}, **{f"b{i}": f"two {i}" for i in range(60)}}
    texts["b0"] = texts["g0"]
    plotted = draw("deltas", Evidence(**examples.models(), sentences=texts)).data.set_index("pair_id")
    assert plotted.index[plotted["identical"]].tolist() == ["p0"]
    half = 1.96 * np.sqrt(2 * 0.5**2 / 10)
    assert (plotted["ci_high"] - plotted["human_delta"]).to_numpy() == pytest.approx(half)


def test_people_are_shown_beside_models_by_paradigm():
    rows = examples.choices().replace(
        {"paradigm": {"a1": "paradigm 0", "a2": "paradigm 1", "b1": "paradigm 2"}}
    )
    data = draw("paradigms", Evidence(judgments=rows, **examples.models())).data
    people = data[data["judge"] == "people"].set_index("paradigm")["share"]
    report = {row["paradigm"]: row["individual_agreement"] for row in agreement_report(rows)["paradigms"]}
    assert people.to_dict() == {name: report[name] for name in report if name}
    assert set(data["judge"]) == {"people", "people, majority", "bright", "dull"}


def test_use_of_the_scale_shows_all_participants_flagged_first(likert):
    data = draw("participants", likert).data
    assert data["participant"].nunique() == examples.PEOPLE
    assert data["participant"].iloc[0] == "p0" and data["flags"].iloc[0] == 1
    targets = likert.judgments[likert.judgments["kind"] == "target"]
    sevens = targets[targets["participant"] == "p3"]["value"].eq(7).mean()
    sevens_share = data[(data["participant"] == "p3") & (data["answer"] == "7")]["share"]
    assert sevens_share.item() == pytest.approx(sevens)


def test_one_by_one_the_measures_are_those_of_plain_pandas(likert):
    plotted = draw("participants-conduct", likert).data.set_index(["participant", "measure"])
    values = likert.judgments.query("kind == 'target' and participant == 'p5'")["value"]
    assert plotted.loc[("p5", "SD"), "value"] == pytest.approx(values.std())
    assert plotted.loc[("p5", "run"), "value"] == longest_run(values.to_numpy())
    assert plotted.loc[("p0", "catch"), "value"] == 0.5 and plotted.loc[("p0", "catch"), "flagged"]


def test_participants_flagged_for_equal_answers_are_distinguished_from_the_rest(likert):
    rows = likert.judgments.assign(list="1")
    twin = rows[rows["participant"] == "p5"].assign(participant="twin")
    figure = draw("participants-conduct", Evidence(judgments=pd.concat([rows, twin]))).to_dict()
    condition = figure["layer"][0]["encoding"]["y"]["axis"]["labelFontWeight"]["condition"]["test"]
    assert '"p5"' in condition and '"twin"' in condition and '"p6"' not in condition


def test_times_count_every_target_and_medians_are_medians(likert):
    times = likert.judgments[likert.judgments["kind"] == "target"]
    assert draw("response-times", likert).data["n"].sum() == len(times)
    medians = draw("participant-times", likert).data.set_index("participant")["median_ms"]
    assert medians.to_dict() == times.groupby("participant")["rt_ms"].median().to_dict()
    catches = draw("catch-times", likert).data
    assert catches["n"].sum() == 2 * examples.PEOPLE and catches["right"].sum() == 2 * examples.PEOPLE - 1


def test_the_cut_of_a_plan_is_at_the_median_length():
    rows = examples.ratings().assign(n_characters=40)
    assert plan_cuts(parse_plan("signal:speed"), rows) == {"signal:speed": 15 * 40}
    assert plan_cuts(parse_plan("rejected"), rows) == {}


def test_the_flow_is_that_of_the_plan(likert):
    before = pd.DataFrame({"stage": ["opened"], "participants": [20]})
    flow = flow_frame(likert.excluded, before)
    assert flow["participants_left"].tolist() == [20, examples.PEOPLE, examples.PEOPLE - 1]
    assert flow["judgments_removed"].iloc[-1] == 32


def test_counts_of_the_flow_stay_on_one_line(likert):
    specification = draw("flow", likert).to_dict()
    lines = [row["line"] for rows in specification["datasets"].values() for row in rows if "line" in row]
    assert not any(line.rstrip().split(" ")[-1].isdigit() for line in lines)


def test_power_of_single_choices_is_exact():
    rows = examples.choices().query("kind == 'target'").drop_duplicates(["participant", "paradigm"])
    table = pilot_power(rows, by="paradigm", sizes=[10, 20]).table
    share = rows[rows["paradigm"] == "a2"]["value"].mean()
    power = table[(table["phenomenon"] == "a2") & (table["n"] == 20)]["power"].item()
    assert power == pytest.approx(float(sign_power(20, share))) and table["mc_error"].eq(0).all()


def test_the_share_of_contrasts_counts_those_above_the_target(likert):
    power = draw("power", likert).data
    shares = draw("power-share", likert).data.set_index("n")["share_powered"]
    for n, part in power.groupby("n"):
        assert shares[n] == (part["power"] >= 0.8).mean()


def test_reliability_with_all_participants_is_the_split_half():
    rows = examples.ratings().query("kind == 'target'")
    table = split_half_by_size(rows, draws=400)
    split = split_half(rows, splits=400)
    last = table.iloc[-1]
    assert last["n"] == examples.PEOPLE
    assert last["spearman_brown"] == pytest.approx(split.spearman_brown, abs=0.004)
    assert last["ceiling"] == pytest.approx(last["spearman_brown"] ** 0.5)
    assert (table["spearman_brown"].diff().dropna() > -0.01).all()


def yes_no_answers():
    """The choices as answers about one sentence each: every other sentence is expected to be unacceptable."""
    rows = examples.choices()
    turned = rows["item"].astype(str).map({item: n % 2 for n, item in enumerate(sorted(set(rows["item"])))})
    return rows.assign(
        task="yes_no",
        sentence_id=rows["item"],
        value=rows["value"].where(turned == 0, 1 - rows["value"]),
        expected=np.where(turned == 0, "acceptable", "unacceptable"),
    )


@pytest.mark.parametrize("rows", [examples.choices, yes_no_answers, examples.ratings])
def test_reliability_in_the_figure_is_that_of_the_table(rows):
    split = reliability_report(rows(), splits=400, groups=0)["split_half"][0]
    plotted = draw("reliability", Evidence(judgments=rows())).data.iloc[-1]
    assert plotted["n"] == split["n_participants"]
    assert plotted["spearman_brown"] == pytest.approx(split["spearman_brown"], abs=0.02)


def test_reliability_refuses_what_cannot_be_halved():
    rows = examples.ratings().query("kind == 'target'")
    with pytest.raises(BadInput, match="12"):
        split_half_by_size(rows, sizes=[40])
    with pytest.raises(NotEnoughData, match="2 participants"):
        split_half_by_size(rows[rows["participant"].isin(["p1", "p2"])])


def test_tiles_and_effects_are_those_of_the_five_analyses(likert):
    analyses = five_analyses(remaining_judgments(likert))
    tiles = draw("five-analyses", likert).data
    assert tiles["outcome"].tolist() == analyses.table["outcome"].tolist()
    sizes = draw("effect-sizes", likert).data.set_index("contrast")["d_z"]
    assert sizes.to_dict() == analyses.effects.set_index("phenomenon")["d_z"].to_dict()


@pytest.mark.parametrize("name", ["five-analyses", "effect-sizes"])
def test_what_an_effects_report_holds_is_drawn_without_computing_it_again(name, likert, monkeypatch):
    plotted, report = draw(name, likert).data, effects_report(remaining_judgments(likert))
    monkeypatch.setattr("analysis.figures.evidence.five_analyses", None)
    pd.testing.assert_frame_equal(draw(name, replace(likert, effects=report)).data, plotted)


def test_the_interval_of_an_effect_covers_it_at_its_nominal_rate():
    rng = np.random.default_rng(0)
    draws = rng.normal(0.6, 1, size=(400, 15))
    ends = [d_z_interval(draw.mean() / draw.std(ddof=1), 15) for draw in draws]
    assert np.mean([low < 0.6 < high for low, high in ends]) == pytest.approx(0.95, abs=0.03)
    assert d_z_interval(0.5, 1) is None


def test_scale_points_stack_around_the_middle(likert):
    points = scale_point_frame(likert.judgments, by="expected").set_index(["row", "point"])
    rows = likert.judgments.query("kind == 'target' and expected == 'unacceptable'")["value"]
    assert points.loc[("unacceptable", 2), "share"] == rows.eq(2).mean()
    middle = points.loc[("unacceptable", 4)]
    assert middle["start"] == pytest.approx(-middle["end"])
    assert points.groupby("row")["n"].sum().tolist() == [examples.PEOPLE * 16] * 2


def test_boxes_are_quartiles_on_the_scale_of_logarithms():
    rows = examples.magnitudes()
    box = magnitude_frame(rows).set_index("row").loc["islands acceptable"]
    ratio = rows[rows["condition"] == "islands acceptable"]["value"] / 100
    assert box["median"] == pytest.approx(10 ** np.median(np.log10(ratio)))
    assert box["q1"] == pytest.approx(10 ** np.percentile(np.log10(ratio), 25))
    assert box["n"] == len(ratio)


def test_learning_curves_have_the_slope_per_doubling():
    data = draw("learning-curves", Evidence(learning=examples.learning())).data
    rows = examples.learning().query("phenomenon == 'binding'")
    slope = np.polyfit(np.log2(rows["tokens"]), rows["accuracy"], 1)[0]
    assert data[data["group"] == "binding"]["slope"].iloc[0] == pytest.approx(slope)


def test_sensitivity_repeats_the_headline_under_each_recipe(choice):
    plan = Plan("both", [*PLAN.steps, Step("few", "participant", "too_few", {"minimum": 4})])
    table = sensitivity_frame(choice.judgments, plan).set_index("recipe")
    assert list(table.index) == ["nothing excluded", "both", "without bad", "without few"]
    assert table.loc["nothing excluded", "participants"] == examples.PEOPLE
    overall = agreement_report(remaining_judgments(choice))["overall"]
    assert table.loc["both", "value"] == overall["individual_agreement"]
    assert table.loc["both", "ci_low"] < table.loc["both", "value"] < table.loc["both", "ci_high"]


def test_a_leaderboard_says_which_models_have_an_interval():
    board = leaderboard_frame([
        {"kind": "model", "model": name, "blimp": 0.8, "blimp_low": low, "blimp_high": high}
        for name, low, high in (("a", 0.7, 0.9), ("b", None, None))
    ])  # fmt: skip
    for models, said, silent in (
        (board, ["Lines: 95", "Without an interval:"], []),
        (board[:1], ["Lines: 95"], ["Without an interval"]),
        (board[1:], ["Without an interval:"], ["Lines"]),
    ):
        subtitle = " ".join(leaderboard_figure(models, criterion="BLiMP").title["subtitle"])
        assert all(words in subtitle for words in said), subtitle
        assert not any(words in subtitle for words in silent), subtitle
