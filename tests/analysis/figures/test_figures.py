"""Figures carry n and conventions, come out in every form, and ask no other host."""

import io
import json
import re

import altair as alt
import numpy as np
import pandas as pd
import pytest

from analysis.comparison import compare_report
from analysis.comparison.pairs import pair_table
from analysis.errors import BadInput, MissingColumns, NotEnoughData, UnknownName
from analysis.figures import (
    Evidence,
    adc_curve_figure,
    curve_frame,
    delta_figure,
    delta_frame,
    draw,
    export_figure,
    figure_data,
    item_strip,
    paradigm_figure,
    paradigm_frame,
    row_parts,
    specification,
    vega_bundle,
)
from analysis.figures.charts.effects.five_analyses import effect_size_figure
from analysis.figures.charts.judgments.ratings import rating_figure
from analysis.figures.charts.models.deltas import MAX_POINTS
from analysis.figures.theme import LIGHTER, MODELS, PASSED, caption
from tests.analysis.figures import examples


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(2)
    good, bad = [f"g{i}" for i in range(30)], [f"b{i}" for i in range(30)]
    pairs = pd.DataFrame({
        "pair_id": [f"p{i}" for i in range(30)], "good_id": good, "bad_id": bad,
        "paradigm": [f"paradigm {i % 3}" for i in range(30)],
    })  # fmt: skip
    score = np.concatenate([rng.normal(0.6, 0.4, 30), rng.normal(-0.6, 0.4, 30)])
    human = pd.DataFrame({"sentence_id": good + bad, "score": score})
    scores = pd.DataFrame({"sentence_id": good + bad, "trigram": score + rng.normal(size=60)})
    return human, pairs, scores


@pytest.fixture(scope="module")
def figures(study):
    table = pair_table(*study)
    items = pd.DataFrame({
        "item": ["a", "b", "c"], "share": [0.9, 0.5, 0.2], "n": [10, 10, 10],
        "majority": ["expected", "tie", "unexpected"],
        "ci_low": [0.6, 0.2, 0.05], "ci_high": [0.98, 0.8, 0.5],
    })  # fmt: skip
    return {
        "deltas": delta_figure(delta_frame(table, "trigram"), model="trigram"),
        "paradigms": paradigm_figure(paradigm_frame(compare_report(*study))),
        "curve": adc_curve_figure(curve_frame(table, ceiling={0.5: 0.7, 1.0: 0.9}), n_pairs=30),
        "items": item_strip(items),
    }


NAMES = ["deltas", "paradigms", "curve", "items"]


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_comes_out_in_every_form(figures, name):
    assert export_figure(figures[name], "svg").startswith(b"<svg")
    assert export_figure(figures[name], "png").startswith(b"\x89PNG")
    assert export_figure(figures[name], "pdf").startswith(b"%PDF")
    data = pd.read_csv(io.BytesIO(export_figure(figures[name], "csv")))
    assert len(data) == len(figure_data(figures[name])) > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_caption_states_counts_in_lines_that_fit_a_phone(figures, name):
    title = specification(figures[name])["title"]
    assert re.search(r"\b(30|3) (pairs|items|paradigms)", " ".join(title["subtitle"]))
    assert all(len(line) <= 54 for line in title["subtitle"])


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_is_as_wide_as_its_page_and_follows_the_paper(figures, name):
    light, dark = specification(figures[name]), specification(figures[name], "dark")
    assert light["width"] == "container"
    assert light["config"]["range"] != dark["config"]["range"]
    assert light["datasets"] == dark["datasets"]
    text = json.dumps({**light, "config": {}, "datasets": {}}, allow_nan=False)
    for color, lighter in zip(MODELS["light"], MODELS["dark"], strict=True):
        text = text.replace(f'"{color}"', f'"{lighter}!"')
    assert json.loads(text.replace('!"', '"')) == {**dark, "config": {}, "datasets": {}}


def test_marks_are_lighter_on_dark_paper_but_for_tiles_under_white_letters(figures):
    light, dark = (json.dumps(specification(figures["items"], mode)["layer"]) for mode in ("light", "dark"))
    assert PASSED in light and PASSED not in dark and LIGHTER[PASSED] in dark
    tiles = draw("five-analyses", Evidence(judgments=examples.ratings()))
    assert specification(tiles, "dark")["layer"] == specification(tiles)["layer"]


def test_points_are_distinguished_by_outcome(study):
    frame = delta_frame(pair_table(*study), "trigram", delta=0.5)
    distance = (frame["human_delta"] - frame["model_delta"]).abs()
    assert (distance[frame["outcome"] == "within δ"] < 0.5).all()
    assert (distance[frame["outcome"] == "too far"] >= 0.5).all()
    assert (np.sign(frame["human_delta"]) != np.sign(frame["model_delta"]))[
        frame["outcome"] == "other sign"
    ].all()


def test_very_many_pairs_are_sampled_and_the_caption_states_it():
    rng = np.random.default_rng(0)
    many = pd.DataFrame({
        "pair_id": [f"p{i}" for i in range(MAX_POINTS + 1)], "human_delta": rng.normal(size=MAX_POINTS + 1),
        "model_delta": rng.normal(size=MAX_POINTS + 1), "outcome": "too far",
    })  # fmt: skip
    figure = delta_figure(many, model="m")
    assert len(figure_data(figure)) == MAX_POINTS
    assert "random" in " ".join(specification(figure)["title"]["subtitle"])


def test_the_curve_ends_at_the_criterion_of_the_report(study):
    curves = curve_frame(pair_table(*study))
    report = compare_report(*study, deltas=[1.5])
    at = curves[(curves["judge"] == "trigram") & np.isclose(curves["delta"], 1.5)]["adc"]
    assert at.tolist() == [report["models"][0]["adc"]["1.5"]]


def test_empty_frames_and_unknown_forms_are_refused(study, figures):
    with pytest.raises(NotEnoughData):
        adc_curve_figure(curve_frame(pair_table(None, *study[1:])), n_pairs=0)
    with pytest.raises(MissingColumns):
        item_strip(pd.DataFrame({"item": ["a"]}))
    with pytest.raises(UnknownName, match="svg"):
        export_figure(figures["items"], "svgg")
    with pytest.raises(BadInput):
        figure_data(alt.LayerChart(layer=[]))


def test_the_bundle_comes_from_the_package_and_loads_nothing():
    script = vega_bundle()
    assert "window.vegaEmbed=" in script
    assert "sourceMappingURL" not in script
    assert not re.search(r"""(import|fetch|src=)\s*\(?["']https?://""", script)


def test_many_sentences_of_one_condition_are_drawn_faint_under_their_mean():
    few = pd.DataFrame({"condition": "", "mean": [0.1, 0.2]})
    many = pd.DataFrame({"condition": "", "mean": np.linspace(-1, 1, 5000)})
    faint = [rating_figure(frame).to_dict()["layer"][0]["mark"]["opacity"] for frame in (few, many)]
    assert faint[0] == 0.55 and faint[1] == 0.05
    title = rating_figure(many).title["subtitle"]
    assert " ".join(title).startswith("5,000 sentences in 1 condition; ticks: sentences")


def test_a_percent_sign_stays_with_its_number():
    lines = caption("T", *("Word " * 7 + "and 95 % of",) * 3).subtitle
    assert not any(line.startswith("%") for line in lines) and "95\u00a0%" in " ".join(lines)


def legends(chart):
    """The entries of every legend of a specification."""
    encodings = [layer["encoding"] for layer in specification(chart)["layer"]]
    codes = [encoding[name] for encoding in encodings for name in ("color", "shape") if name in encoding]
    return [code for code in codes if code.get("type") == "nominal" and code.get("legend", {}) is not None]


def test_a_legend_with_one_entry_vanishes(study, figures):
    assert legends(figures["items"])
    rows = figures["items"].data.iloc[:1]
    assert not legends(item_strip(rows))
    share = draw("power-share", Evidence(judgments=examples.choices(), by="paradigm"))
    assert "statement" not in share.data.columns and not legends(share)
    assert b'aria-roledescription="legend"' not in export_figure(share, "svg")


def many_items(n):
    names = [f"item {number:03d}" for number in range(n)]
    share = np.linspace(0.99, 0.2, n)
    return pd.DataFrame({
        "item": names, "share": share, "n": 10, "ci_low": share / 2, "ci_high": (1 + share) / 2,
        "majority": np.where(share > 0.5, "expected", "unexpected"),
    })  # fmt: skip


def test_many_rows_are_divided_into_parts_that_fit_a_page():
    strip = item_strip(many_items(40))
    assert row_parts(strip) == [strip]
    parts = row_parts(item_strip(many_items(70)))
    assert [len(part.data) for part in parts] == [35, 35]
    assert [part.title.text for part in parts] == [
        ["Agreement by item (1 of 2)"],
        ["Agreement by item (2 of 2)"],
    ]
    for part, first, last, absent in (
        (parts[0], "item 000", "item 034", "item 035"),
        (parts[1], "item 035", "item 069", "item 034"),
    ):
        svg = export_figure(part, "svg", width=720).decode()
        assert first in svg and last in svg and absent not in svg


def test_parts_have_the_same_horizontal_axis():
    sizes = pd.DataFrame({"contrast": [f"c{i:02d}" for i in range(50)], "d_z": np.linspace(3, -1, 50)})
    sizes = sizes.assign(ci_low=sizes["d_z"] - 0.5, ci_high=sizes["d_z"] + 0.5)
    parts = row_parts(effect_size_figure(sizes))
    domains = [
        [layer["encoding"]["x"]["scale"]["domain"] for layer in specification(part)["layer"]
         if "scale" in layer["encoding"]["x"]]
        for part in parts
    ]  # fmt: skip
    assert len(parts) == 2 and domains[0] == domains[1] and domains[0][0] == [-1.5, 3.5]


@pytest.mark.parametrize(("modulus", "unit"), [(100.0, "estimate / modulus"), (np.nan, "estimate")])
def test_estimates_without_a_modulus_are_no_ratios(modulus, unit):
    chart = draw("magnitudes", Evidence(judgments=examples.magnitudes().assign(modulus=modulus)))
    titles = [layer["encoding"]["x"].get("title") for layer in specification(chart)["layer"]]
    assert f"{unit}, logarithmic" in titles
