"""Raw results of classic Ibex: columns named by comments, sentences before their answers, forms."""

import pytest

from analysis.errors import BadInput
from judgments.imports.readers import read_judgments

COMMON = """# Columns below this comment are as follows:
# 1. Results reception time.
# 2. MD5 hash of participant's IP address.
# 3. Controller name.
# 4. Item number.
# 5. Element number.
# 6. Type.
# 7. Group.
"""
FORM = COMMON + "# 8. Field name.\n# 9. Value.\n"
SENTENCE = COMMON + "# 8. Sentence (or sentence MD5).\n"
ANSWER = (
    COMMON
    + "# 8. Question (NULL if none).\n# 9. Answer.\n"
    + "# 10. Whether or not answer was correct (NULL if N/A).\n# 11. Time taken to answer.\n"
)
HEAD = "#\n# Results on Wednesday August 03 2011 17:30:12 UTC.\n# USER AGENT: Mozilla/5.0\n#\n"


def judged(number, kind, group, sentence, answer, rt, participant_prefix="1312,abc"):
    """The two lines of an AcceptabilityJudgment."""
    start = f"{participant_prefix},AcceptabilityJudgment,{number},0,{kind},{group}"
    return f"{SENTENCE}{start},{sentence}\n{ANSWER}{start},NULL,{answer},NULL,{rt}\n"


FIRST = (
    f"{HEAD}{FORM}1312,abc,Form,0,0,intro,NULL,age,22\n1312,abc,Form,0,0,intro,NULL,native,yes\n"
    + judged(3, "island-long", 1, "Who%2C he said%2C left?", 2, 1530)
    + judged(9, "filler", "NULL", "She left.", 7, 900)
    + f"{ANSWER}1312,abc,Question,9,1,filler,NULL,Did she leave?,yes,1,400\n"
)
SECOND = f"{HEAD}" + judged(4, "island-short", 1, "Who left?", 6, 1100, participant_prefix="1400,def")


@pytest.fixture
def results(tmp_path):
    def write(text):
        path = tmp_path / "raw_results"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_answers_are_judgments_of_the_sentences_before_them(results):
    read = read_judgments(results(FIRST + SECOND), "ibex")
    rows = read.judgments[["session", "item", "condition", "kind", "text", "value", "rt_ms"]]
    assert rows.values.tolist() == [
        ["1312", "1", "island-long", "target", "Who, he said, left?", 2.0, 1530.0],
        ["1312", "9", "filler", "filler", "She left.", 7.0, 900.0],
        ["1400", "1", "island-short", "target", "Who left?", 6.0, 1100.0],
    ]
    assert (read.task, read.scale) == ("likert", (1.0, 7.0))
    assert "1 answers to comprehension questions are left out" in read.notes


def test_forms_are_the_background_and_addresses_are_not_kept(results):
    read = read_judgments(results(FIRST + SECOND), "ibex")
    people = read.participants
    assert people["participant"].tolist() == ["1312", "1400"]
    assert people["background"].tolist() == [{"age": "22", "native": "yes"}, {}]
    assert people["is_native"].tolist() == [True, None]
    assert not any("abc" in str(cell) for frame in (people, read.sessions) for cell in frame.to_numpy().flat)


def test_each_reader_of_ibex_results_names_the_other_one(results):
    with pytest.raises(BadInput, match="results of classic Ibex, not of PCIbex.*--format ibex"):
        read_judgments(results(FIRST), "pcibex")
    with pytest.raises(BadInput, match="raw results"):
        read_judgments(results("a,b\n1,2\n"), "ibex")


def test_the_columns_are_named_as_the_server_of_ibex_writes_them(results):
    former = FIRST.replace("Results reception time.", "Time results were received.")
    same = read_judgments(results(former), "ibex").judgments
    assert same.equals(read_judgments(results(FIRST), "ibex").judgments)


def test_a_study_without_forms_is_read(results):
    read = read_judgments(results(HEAD + judged(3, "a", 1, "One.", 2, 900) + SECOND), "ibex")
    assert len(read.judgments) == 2 and read.participants["background"].tolist() == [{}, {}]
