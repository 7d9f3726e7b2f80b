"""Points of a drawing name what they show and lead to it; participants by agreement with the others."""

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from analysis.figures import Addresses, Evidence, draw, export_figure
from analysis.figures.charts.participants.agreement_and_time import MAJORITY, agreement_with_others
from analysis.figures.charts.participants.arrivals import arrival_frame, duration_frame
from tests.analysis.figures import examples

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
TEXT = 'The "key" & the <b>doors</b> aren\'t here.'


def links(evidence, name, **file):
    root = ET.fromstring(export_figure(draw(name, evidence), "svg", **file))
    return {
        link.get(LINK): link.find(f".//{SVG}title").text
        for link in root.iter(f"{SVG}a")
        if link.find(f".//{SVG}title") is not None
    }


def test_points_link_to_this_site_and_show_the_sentence_as_stored():
    rows = examples.choices()
    item = str(rows["item"].iloc[0])
    places = Addresses(item="/studies/a/judgments/?item=")
    opened = links(Evidence(judgments=rows, members={item: TEXT}, addresses=places), "items", width=408)
    assert len(opened) == rows.loc[rows["kind"] == "target", "item"].nunique()
    assert all(address.startswith("/studies/a/judgments/?item=") for address in opened)
    (description,) = [text for text in opened.values() if text.startswith(TEXT)]
    assert "as expected, 95 %" in description


def test_names_are_escaped_in_addresses():
    rows = examples.choices()
    rows["participant"] = rows["participant"].astype(str) + " & co/1"
    opened = links(
        Evidence(judgments=rows, addresses=Addresses(participant="/j/?participant=")),
        "participants-agreement",
    )
    assert opened and all("%20%26%20co%2F1" in address for address in opened)


def test_without_addresses_a_file_has_no_links():
    drawing = export_figure(draw("items", Evidence(judgments=examples.choices())), "svg").decode()
    assert "<a " not in drawing and "vega-datasets" not in drawing
    assert "as expected, 95 % " in drawing


@pytest.mark.parametrize("task", ["forced_choice", "yes_no"])
def test_agreement_with_the_majority_of_the_others_equals_counting_by_hand(task):
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(
        [
            (f"p{p}", f"i{i}", float(rng.random() < 0.7))
            for p in range(7)
            for i in range(9)
            if rng.random() < 0.8
        ],
        columns=["participant", "item", "value"],
    ).assign(task=task, kind="target", paradigm="a")
    rows["sentence_id"] = rows["item"]
    expected = {}
    for person, answers in rows.groupby("participant"):
        agrees = []
        for item, value in zip(answers["item"], answers["value"], strict=True):
            other_answers = rows[(rows["item"] == item) & (rows["participant"] != person)]["value"]
            if len(other_answers) and other_answers.mean() != 0.5:
                agrees.append((other_answers.mean() > 0.5) == (value == 1))
        expected[person] = np.mean(agrees)
    agreement, measure = agreement_with_others(rows)
    assert measure == MAJORITY
    assert agreement.to_dict() == pytest.approx(expected)


def test_arrivals_and_completions_are_counted_at_their_times():
    frame = arrival_frame(examples.sessions())
    assert frame.groupby("line")["n"].max().to_dict() == {"arrived": 6, "complete": 5}
    assert str(frame["at"].iloc[0]) == "2026-11-02 09:00:00+00:00"
    assert duration_frame(examples.sessions())["minutes"].tolist() == [5, 6, 7, 8, 30]
