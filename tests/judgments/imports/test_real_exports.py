"""Files that the tools themselves wrote, cell by cell; a file's name has the tool and its version.

jsPsych: simulated runs of its plugins under jsdom, saved by ``json()`` and ``csv()``; Ibex: the functions of
its server that write results, on what its controllers post; Potato: its server, answered over HTTP, then
its exports; Label Studio: the converter of its SDK.
"""

from pathlib import Path

import pytest

from analysis.errors import BadInput
from judgments.imports.readers import SourceOptions, presets, read_judgments

EXPORTS = Path(__file__).parent / "exports"
YES_NO = {"Natural": "yes", "Odd": "no"}
PLACES = {"first": "one", "second": "two", "expected_first": "good_first"}
BUTTONS = [("i1", "good", 6), ("i1", "bad", 1), ("i2", "good", 5)]
RATED = [("i1", "good", 7), ("i1", "good", 6), ("i1", "bad", 2), ("i1", "bad", 1), ("i2", "good", 6)]
IBEX = [("1", "good", 7), ("2", "bad", 2), ("9", "filler", 5), ("1", "bad", None), ("2", "good", 6)]
POTATO = {("i1", 7), ("i2", 2), ("i3", 6)}
FILES = {
    "jspsych-8.3.0-buttons.json": ("jspsych", {}, BUTTONS),
    "jspsych-8.3.0-buttons.csv": ("jspsych", {}, BUTTONS),
    "jspsych-8.3.0-sliders.csv": ("jspsych", {}, [*BUTTONS, ("i3", "good", None)]),
    "jspsych-8.3.0-questions.json": (
        "jspsych",
        {"mapping": {"value": "naturalness"}},
        [(item, condition, 2) for item, condition, _ in BUTTONS],
    ),
    "jspsych-8.3.0-nested.csv": (
        "jspsych",
        {"labels": {"0": "yes", "1": "no"}},
        [("i1", "good", 1), ("i1", "bad", 0), ("i2", "good", 1)],
    ),
    "ibex-4b2a056-columns.txt": ("ibex", {}, [*IBEX, ("9", "filler", 4)]),
    "ibex-4b2a056-terse.txt": ("ibex", {}, [*IBEX, ("9", "filler", 4)]),
    "label-studio-sdk-2.1.2-rating.csv": ("label-studio", {}, [*RATED, ("i2", "good", 5)]),
    "label-studio-sdk-2.1.2-rating.tsv": ("label-studio", {}, [*RATED, ("i2", "good", 5)]),
    "label-studio-sdk-2.1.2-rating-min.json": ("label-studio", {}, [*RATED, ("i2", "good", 5)]),
    "label-studio-sdk-2.1.2-choices.csv": (
        "label-studio",
        {"mapping": {"value": "ok"}, "labels": YES_NO},
        [(item, condition, int(value > 3)) for item, condition, value in [*RATED, ("i2", "good", 5)]],
    ),
    "label-studio-sdk-2.1.2-pairwise.json": (
        "label-studio",
        {"mapping": PLACES},
        [("11", "", 1), ("11", "", 1), ("12", "", 1), ("12", "", 0)],
    ),
    "label-studio-sdk-2.1.2-pairwise.csv": (
        "label-studio",
        {"mapping": PLACES},
        [("11", "", 1), ("11", "", 1), ("12", "", 1), ("12", "", 0)],
    ),
}


def read(name, format, **options):
    return read_judgments(EXPORTS / name, format, options=SourceOptions(**options))


@pytest.mark.parametrize("name", FILES)
def test_every_answer_stands_at_its_item_and_condition(name):
    format, options, expected = FILES[name]
    assert presets.recognized_format(EXPORTS / name, SourceOptions())[0] == format
    trials = read(name, format, **options).judgments
    values = [None if value != value else value for value in trials["value"]]
    answers = zip(trials["item"], trials["condition"], values, strict=True)
    assert sorted(answers, key=str) == sorted(expected, key=str)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", "-user_state.json"])
def test_each_schema_of_potato_is_read_by_its_name(suffix):
    name = f"potato-2.12.1{suffix}"
    assert presets.recognized_format(EXPORTS / name, SourceOptions())[0] == "potato"
    with pytest.raises(BadInput, match="several questions were answered.*naturalness"):
        read(name, "potato")
    for schema, answers, task in (
        ("naturalness", POTATO, "likert"),
        ("sure", {("i1", 1), ("i2", 0), ("i3", 1)}, "yes_no"),
        ("slide", {("i1", 80), ("i2", 10), ("i3", 77)}, "slider"),
    ):
        rated = read(name, "potato", mapping={"value": schema})
        own = rated.judgments[rated.judgments["session"] == "ann"]
        assert set(zip(own["item"], own["value"], strict=True)) == answers
        assert rated.task == task


def test_forms_of_ibex_are_background_whatever_commas_an_answer_has():
    for name in ("ibex-4b2a056-columns.txt", "ibex-4b2a056-terse.txt"):
        people = read(name, "ibex").participants["background"].tolist()
        assert people == [
            {"age": "31", "comment": "fine"},
            {"age": "44", "comment": "I liked it, but it was long"},
        ]


def test_questions_of_label_studio_are_listed_where_several_may_be_meant():
    with pytest.raises(BadInput, match="There are: ok, tags, why"):
        read("label-studio-sdk-2.1.2-choices-min.json", "label-studio")
    with pytest.raises(BadInput, match="There are: condition, item, ok, tags, text, why"):
        read("label-studio-sdk-2.1.2-choices.csv", "label-studio")
    assert (
        "task likert, as response_type 'rating' states"
        in read("label-studio-sdk-2.1.2-rating.csv", "label-studio").notes
    )
