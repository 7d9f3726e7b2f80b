"""Raw PCIbex results: columns that change inside the file, respondents, markup."""

import pytest

from analysis.errors import BadInput
from judgments.imports.readers import SourceOptions, read_judgments

HEAD = """#
# Results on Fri, 26 Jul 2024 11:39:16 GMT
# USER AGENT: Mozilla/5.0
# 1. Results reception time.
# 2. MD5 hash of participant's IP address.
# 3. Controller name.
# 4. Order number of item.
# 5. Inner element number.
# 6. Label.
# 7. Latin Square Group.
# 8. PennElementType.
# 9. PennElementName.
# 10. Parameter.
# 11. Value.
# 12. EventTime.
# 13. Comments.
1721,abc,PennController,1,0,intro,NULL,PennController,0,_Trial_,Start,1000,NULL
# 13. ParticipantID.
# 14. Comments.
1721,abc,PennController,2,0,questions,NULL,TextInput,age,Final,25,1500,X1,NULL
1721,abc,PennController,2,0,q,NULL,Scale,school,Choice,<p style=x>S&atilde;o J.</p>,1600,X1,NULL
# 14. item.
# 15. sentence.
# 16. condition.
# 17. Comments.
1721,abc,PennController,9,0,target,NULL,Text,sentence,Print,NA,2000,X1,4,She%2C too%2C left.,A,NULL
1721,abc,PennController,9,0,target,NULL,Scale,answer,Choice,2,2500,X1,4,She%2C too%2C left.,A,NULL
1721,abc,PennController,9,0,target,NULL,Scale,answer,Choice,5,2900,X1,4,She%2C too%2C left.,A,NULL
1721,abc,PennController,7,0,distractor,NULL,Text,sentence,Print,NA,1700,X1,8,He leave.,NA,NULL
1721,abc,PennController,7,0,distractor,NULL,Scale,answer,Choice,1,1900,X1,8,He leave.,NA,NULL
1721,abc,PennController,10,0,end,NULL,PennController,3,_Trial_,Start,3000,NULL
"""


@pytest.fixture
def results(tmp_path):
    def write(text=HEAD):
        path = tmp_path / "results.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_trials_are_placed_by_time_and_the_last_choice_counts(results):
    trials = read_judgments(results(), "pcibex").judgments
    assert trials["kind"].tolist() == ["filler", "target"]
    assert trials["value"].tolist() == [1.0, 5.0]
    assert trials["rt_ms"].tolist() == [200.0, 900.0]
    assert trials["text"].tolist() == ["He leave.", "She, too, left."]


def test_answers_outside_of_trials_are_background_without_markup(results):
    person = read_judgments(results(), "pcibex").participants.iloc[0]
    assert person["participant"] == "X1"
    assert person["background"] == {"age": "25", "school": "São J."}


def test_the_hash_of_the_ip_address_is_discarded(results):
    judgments = read_judgments(results(), "pcibex")
    everything = [judgments.judgments, judgments.sessions, judgments.participants]
    assert not any("abc" in frame.to_csv() for frame in everything)


def test_two_people_who_sent_at_the_same_second_stay_apart(results):
    twice = HEAD + "".join(
        line.replace("abc", "def").replace("X1", "X2") + "\n" for line in HEAD.splitlines() if "abc" in line
    ).replace("1721,def,PennController,1,0,intro,NULL,PennController,0,_Trial_,Start,1000,NULL\n", "")
    judgments = read_judgments(results(twice), "pcibex")
    assert sorted(judgments.participants["participant"]) == ["X1", "X2"]
    assert judgments.judgments.groupby("session").size().tolist() == [2, 2]


def test_a_line_of_a_length_never_announced_is_refused_by_its_row(results):
    with pytest.raises(BadInput, match=r"results\.csv, row 32: 5 cells"):
        read_judgments(results(HEAD + "1721,abc,PennController,1,0\n"), "pcibex")


def test_the_portuguese_study_has_its_counts(shared_data):
    judgments = read_judgments(shared_data("pcibex-ajt-ptbr/results_prod.csv"), "pcibex")
    assert judgments.counts["sessions"] == judgments.counts["participants"] == 62
    assert judgments.counts["by_kind"] == {"filler": 1984, "practice": 372, "target": 992}
    assert judgments.scale == (1.0, 5.0)
    assert all(len(background) == 9 for background in judgments.participants["background"])


def test_files_of_former_versions_are_read_alike(results):
    former = HEAD
    for present, name in {
        "Results reception time": "Time results were received",
        "Order number of item": "Item number",
        "Inner element number": "Element number",
        "Label": "Type",
        "Latin Square Group": "Group",
    }.items():
        former = former.replace(f". {present}.", f". {name}.")
    same = read_judgments(results(former), "pcibex").judgments
    assert same.equals(read_judgments(results(), "pcibex").judgments)


def trial(number, *events, item):
    """Lines as PennController 1.9 (58087d6) saves them: type, name, parameter, value, time."""
    return "".join(
        f"1721,abc,PennController,{number},0,exp,NULL,{event},X1,{item},S{item}.,a,NULL\n" for event in events
    )


def columns():
    return (
        HEAD.split("1721,abc", 1)[0]
        + "# 13. ParticipantID.\n# 14. item.\n# 15. sentence.\n# 16. condition.\n# 17. Comments.\n"
    )


def test_keys_are_answers_and_a_key_without_an_alternative_only_continues(results):
    # PennElement_key.js saves PressedKey, or Key, NA, Never where none was pressed
    keys = (("F", 1000), ("J", 2000), ("NA", "Never"))
    text = columns() + "".join(
        trial(
            number,
            f"Key,answer,{'PressedKey' if key != 'NA' else 'Key'},{key},{time}",
            f"Key,next,PressedKey, ,{number}900",
            item=number,
        )
        for number, (key, time) in enumerate(keys, start=1)
    )
    with pytest.raises(BadInput, match="'F' is not a number"):
        read_judgments(results(text), "pcibex")
    read = read_judgments(results(text), "pcibex", options=SourceOptions(labels={"F": "yes", "J": "no"}))
    assert read.task == "yes_no"
    assert read.judgments["value"].fillna(-1).tolist() == [1.0, 0.0, -1.0]
    assert read.judgments["status"].tolist() == ["answered", "answered", "missing"]


def test_a_first_trial_without_any_time_keeps_the_first_position(results):
    text = columns() + "".join(
        trial(number, f"Scale,answer,Choice,{value},{time}", item=number)
        for number, value, time in ((4, "NA", "Never"), (5, "6", 2000), (6, "NA", "Never"))
    )
    trials = read_judgments(results(text), "pcibex").judgments
    assert trials["text"].tolist() == ["S4.", "S5.", "S6."] and trials["position"].tolist() == [1, 2, 3]


def test_a_scale_that_is_called_slider_is_one(results):
    text = columns() + "".join(
        trial(number, f"Scale,rating_slider,Choice,{value},{number}000", item=number)
        for number, value in ((1, 3), (2, 55), (3, 90))
    )
    assert read_judgments(results(text), "pcibex").task == "slider"


def test_a_logged_context_is_the_text_above_its_sentence(results):
    text = HEAD.replace("# 16. condition.\n", "# 16. condition.\n# 17. context.\n")
    text = text.replace("# 17. Comments.", "# 18. Comments.").replace("leave.,NA,NULL", "leave.,NA,,NULL")
    text = text.replace("left.,A,NULL", "left.,A,Who left%2C then?,NULL")
    read = read_judgments(results(text), "pcibex")
    assert read.judgments["context"].tolist() == ["", "Who left, then?"] and "context" not in read.extra
