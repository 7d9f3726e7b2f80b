"""CoNLL-U is read strictly and kept as it was."""

import pytest

from analysis.corpora import parse_conllu, read_conllu
from analysis.errors import BadInput

MULTIWORD = """# sent_id = w-1
# text = I can't.
1\tI\tI\tPRON\t_\tCase=Nom\t2\tnsubj\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tca\tcan\tAUX\t_\t_\t0\troot\t_\t_
3\tn't\tnot\tPART\t_\t_\t2\tadvmod\t_\t_
3.1\tgo\tgo\tVERB\t_\t_\t_\t_\t_\t_
4\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_
"""
ROW = "1\tRun\trun\tVERB\t_\t_\t0\troot\t_\t_"


def test_multiword_tokens_and_empty_nodes_are_no_words_but_stay_in_the_lines():
    (sentence,) = parse_conllu(MULTIWORD.splitlines())
    assert [word.form for word in sentence.words] == ["i", "ca", "n't", "."]
    assert sentence.lines == tuple(MULTIWORD.splitlines())
    assert (sentence.sent_id, sentence.text, sentence.token_text) == ("w-1", "I can't.", "I can't .")


def test_text_is_put_together_where_no_comment_gives_it():
    lines = [line for line in MULTIWORD.splitlines() if not line.startswith("#")]
    (sentence,) = parse_conllu(lines)
    assert (sentence.sent_id, sentence.text) == ("line 1", "I can't.")


def test_a_sentence_is_one_line_whatever_its_comment_holds():
    (sentence,) = parse_conllu(["# text = a\u2028b\x85c", ROW])
    assert sentence.text == "a b c"


def test_windows_line_ends_a_byte_order_mark_and_a_missing_last_line_are_read(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_bytes(b"\xef\xbb\xbf" + f"{ROW}\r\n\r\n\r\n{ROW}".encode())
    first, second = read_conllu(path)
    assert first.lines == second.lines == (ROW,)
    assert second.first_line == 4


BROKEN = {
    "1 Run run VERB _ _ 0 root _ _": "separated by spaces",
    "1\tRun\trun": "3 columns, not ten",
    "2" + ROW[1:]: "column 'ID': '2' where 1 is next",
    "1-x" + ROW[1:]: "column 'ID': '1-x' is no number",
    ROW.replace("\t0\t", "\t_\t"): "column 'HEAD': '_' is no number of a head",
    ROW.replace("\t0\t", "\t7\t"): "column 'HEAD': the sentence has no word 7",
    ROW.replace("\t0\t", "\t1\t"): "column 'HEAD': heads run in a circle",
    ROW.replace("VERB\t_\t_", "VERB\t_\tMood"): "column 'FEATS': 'Mood' is not a list of features",
    ROW.replace("Run", ""): "column 'FORM': the cell is empty",
}


@pytest.mark.parametrize("line", BROKEN, ids=list(BROKEN.values()))
def test_a_broken_line_is_named(line):
    with pytest.raises(BadInput) as caught:
        list(parse_conllu(["# sent_id = a", ROW, "", "# sent_id = b", line], file="a.conllu"))
    assert str(caught.value).startswith("a.conllu, row 5")
    assert BROKEN[line] in str(caught.value)


def test_a_longer_circle_is_named():
    lines = ["1\ta\ta\tX\t_\t_\t2\tdep\t_\t_", "2\tb\tb\tX\t_\t_\t1\tdep\t_\t_"]
    with pytest.raises(BadInput, match="row 1, column 'HEAD': heads run in a circle"):
        list(parse_conllu(lines))


def test_comments_without_words_are_named():
    with pytest.raises(BadInput, match="row 3: comments without any word"):
        list(parse_conllu([ROW, "", "# sent_id = b", "", ROW]))


def test_text_that_is_not_utf8_is_named_with_its_line(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_bytes(f"{ROW}\n\n".encode() + b"# text = caf\xe9\n")
    with pytest.raises(BadInput, match=r"a.conllu, row 3: the text is not UTF-8"):
        list(read_conllu(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        list(read_conllu(tmp_path / "none.conllu"))
