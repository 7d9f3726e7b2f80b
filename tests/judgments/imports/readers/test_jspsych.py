"""jsPsych's own data: JSON of one run or of many, CSV."""

import json

import pytest

from analysis.errors import BadInput
from judgments.imports.readers import SourceOptions, read_judgments

RUN = [
    {"trial_type": "survey-text", "trial_index": 0, "rt": 900, "response": {"age": "30"}, "subject": "P1"},
    {
        "trial_type": "html-button-response",
        "trial_index": 1,
        "time_elapsed": 4000,
        "rt": 1200.4,
        "response": 5,
        "stimulus": "<p>She left.</p>",
        "item": "i1",
        "condition": "a",
        "subject": "P1",
    },
    {
        "trial_type": "survey-likert",
        "trial_index": 2,
        "rt": 800,
        "response": {"Q0": 2},
        "stimulus": "He leave.",
        "item": "i2",
        "condition": "b",
        "subject": "P1",
    },
]


@pytest.fixture
def data(tmp_path):
    def write(content, name="data.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_trials_with_an_item_are_judgments_and_surveys_are_background(data):
    judgments = read_judgments(data(RUN), "jspsych")
    assert judgments.judgments["value"].tolist() == [5.0, 2.0]
    assert judgments.judgments["rt_ms"].tolist() == [1200.4, 800.0]
    assert judgments.judgments["position"].tolist() == [1, 2]
    assert judgments.participants["background"].tolist() == [{"age": "30"}]


def test_several_runs_and_an_unnamed_participant_are_distinguished(data):
    runs = [
        [{key: value for key, value in trial.items() if key != "subject"} for trial in RUN] for _ in range(2)
    ]
    judgments = read_judgments(data(runs), "jspsych")
    assert judgments.participants["participant"].tolist() == ["data-1", "data-2"]


def test_csv_is_read_like_json(data):
    lines = ["trial_type,trial_index,rt,response,item,subject"]
    lines += [f"html-slider-response,{number},500,{30 * number},i{number},P1" for number in (1, 2, 3)]
    judgments = read_judgments(
        data("\n".join(lines), "data.csv"), "jspsych", options=SourceOptions(task="slider")
    )
    assert judgments.scale == (0.0, 100.0)
    assert judgments.judgments["value"].tolist() == [30.0, 60.0, 90.0]


def test_broken_json_is_refused_by_line(data):
    with pytest.raises(BadInput, match=r"data\.json, row 1: not JSON"):
        read_judgments(data('[{"trial_type": '), "jspsych")


def test_other_json_is_refused(data):
    with pytest.raises(BadInput, match="trial_type or trial_index"):
        read_judgments(data([{"a": 1}]), "jspsych")
