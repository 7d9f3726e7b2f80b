"""Any common encoding, line end and delimiter is detected, named, and the text comes back as it was."""

import codecs
import csv
import io
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import BadInput
from benchmarks.materials.charset_files import (
    outcome_here,
    outcome_of_charset_normalizer,
    outcomes,
    translated_files,
    written_files,
)
from experiments.materials.delimited import read_table, table_from
from experiments.materials.encoding import decode, read_text

LINGUISTIC = 'naïve déjà Schütze ’ ‘quoted’ “so” … don\'t "he said" señor Ångström'
UNICODE = [
    "הוא אמר 'כן'",
    "ˈlɪŋɡwɪstɪks ə̃",
    "这个学生",
    "👩‍🔬 said so",
    "don’t",
    "a\u0301",
    "x\u00a0y",
    "\u202eabc",
    "=1+1",
]
ENCODINGS = {
    "UTF-8": ("utf-8", b""),
    "UTF-8 with byte order mark": ("utf-8", codecs.BOM_UTF8),
    "UTF-16 LE with byte order mark": ("utf-16-le", codecs.BOM_UTF16_LE),
    "UTF-16 BE with byte order mark": ("utf-16-be", codecs.BOM_UTF16_BE),
}
ROW_ENDS = {"LF": "\n", "CRLF": "\r\n", "CR": "\r"}

texts = st.one_of(
    st.sampled_from(UNICODE),
    st.text(
        st.characters(blacklist_categories=("Cs",), blacklist_characters="\0\r\n\ufeff"),
        min_size=1,
        max_size=30,
    ),
)


def written(rows: list[list[str]], *, delimiter: str, end: str) -> str:
    """A delimited text of these rows."""
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue()


@settings(max_examples=20, deadline=None)
@given(sentences=st.lists(texts, min_size=1, max_size=5))
def test_a_table_comes_back_exactly(sentences):
    rows = [["id", "sentence"], *([str(n), text] for n, text in enumerate(sentences))]
    for encoding, newline, delimiter in itertools.product(ENCODINGS, ROW_ENDS, [",", "\t", ";"]):
        codec, mark = ENCODINGS[encoding]
        data = mark + written(rows, delimiter=delimiter, end=ROW_ENDS[newline]).encode(codec)
        decoded = decode(data, file="x.csv")
        table = table_from(decoded)
        assert decoded.description.startswith(f"{encoding}, line ends {newline}")
        assert table.delimiter == delimiter
        assert table.frame["sentence"].tolist() == sentences


@pytest.mark.parametrize(
    ("name", "codec"), [("Mac Roman", "mac-roman"), ("Windows-1252", "cp1252"), ("UTF-16 LE", "utf-16-le")]
)
def test_encodings_without_a_mark_are_inferred_and_reported_as_inferred(name, codec):
    decoded = decode(f"id,sentence\n1,{LINGUISTIC}\n".encode(codec))
    assert (decoded.encoding, decoded.inferred) == (name, True)
    assert LINGUISTIC in decoded.text


@pytest.mark.parametrize(
    "text", ["Schütze", "Où est-il né?", "¿Qué pasó, señor?", "smörgåsbord", "São João não vê"]
)
@pytest.mark.parametrize(("name", "codec"), [("Mac Roman", "mac-roman"), ("Latin-1", "latin-1")])
def test_eight_bit_words_of_several_languages_are_distinguished(text, name, codec):
    decoded = decode(text.encode(codec))
    assert (decoded.encoding, decoded.text) == (name, text)


def test_nul_byte_is_named_with_its_position():
    with pytest.raises(BadInput, match=r"x.csv, row 2: NUL byte at position 5.*not look like a text file"):
        decode(b"a,b\n1\0,2\nlonger text follows here, and more of it\n", file="x.csv")


def test_broken_utf8_is_named_with_its_position_and_not_read_otherwise():
    data = "é è ê ë ü ö\nline two: ".encode() + b"\xff\n"
    with pytest.raises(BadInput, match=r"row 2: byte 0xFF at position 28 is not UTF-8"):
        decode(data, file="x.csv")


@pytest.mark.parametrize(
    ("text", "codec"), [("Русский текст стоит здесь", "cp866"), ("Schütze hört Müller gern", "cp437")]
)
def test_an_encoding_that_no_reading_fits_is_refused(text, codec):
    with pytest.raises(BadInput, match="belongs to no encoding") as caught:
        decode(text.encode(codec), file="x.csv")
    assert "Save the file as UTF-8" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        ("The boy said “hello”.", "cp1252", "Windows-1252"),
        ("John’s mother didn’t come – why?", "cp1252", "Windows-1252"),
        ("The boy said “hello”.", "mac-roman", "Mac Roman"),
        ("Sa sœur mange des œufs.", "iso8859-15", "Latin-9"),
        ("Русский текст стоит здесь", "cp1251", "Windows-1251"),
        ("Русский текст стоит здесь", "koi8-r", "KOI8-R"),
        ("猫が寝ている。", "shift_jis", "Shift-JIS"),
        ("这个学生的最好的朋友把坡卖了", "gb18030", "GB18030"),
        ("這個學生的老師沒有來。", "big5", "Big5"),
        ("철수가 사과를 먹었다.", "euc-kr", "EUC-KR"),
    ],
)
def test_one_sentence_decides_the_encoding_of_a_short_file(text, codec, name):
    decoded = decode(f"item,sentence\n1,{text}\n".encode(codec), file="x.csv")
    assert (decoded.encoding, decoded.inferred) == (name, True)
    assert text in decoded.text


def test_an_inferred_encoding_names_the_lines_to_check_and_how_others_read_them():
    text = "item,sentence\n1,plain\n2,Le chat a été vu.\n3,Où est-il né?\n"
    check = decode(text.encode("latin-1"), file="x.csv").check
    assert (check.encoding, check.n_lines) == ("Latin-1", 2)
    assert check.lines == ((3, "2,Le chat a été vu."), (4, "3,Où est-il né?"))
    assert decode(text.encode("latin-1"), encoding="Latin-1").check is None
    assert decode(text.encode("utf-8")).check is None


def test_a_word_that_two_encodings_spell_well_is_refused_with_both():
    with pytest.raises(BadInput, match=r"x.csv, row 2: .*'1,Peña' \(Latin-1\) or '1,Peńa' \(Windows-1250\)"):
        decode("id,name\n1,Peña\n".encode("latin-1"), file="x.csv")


def test_more_short_files_are_right_than_with_charset_normalizer_and_none_is_wrong():
    files = [*written_files(), *translated_files(n_files=1)]
    assert len(files) >= 60
    here, peer = outcomes(files, outcome_here), outcomes(files, outcome_of_charset_normalizer)
    assert here["wrong"] == 0
    assert here["right"] >= 0.95 * len(files) > peer["right"]


def test_a_named_encoding_takes_precedence_over_the_detection():
    text = "这个学生"
    assert decode(text.encode("gb18030"), encoding="gb18030").text == text
    assert decode(codecs.BOM_UTF8 + text.encode(), encoding="utf8").text == text
    with pytest.raises(BadInput, match="unknown encoding 'klingon'"):
        decode(b"a", encoding="klingon")
    with pytest.raises(BadInput, match="byte 0xFC at position 0 is not UTF-8"):
        decode(b"\xfc", encoding="utf-8")


def test_a_spreadsheet_is_refused_with_a_remedy(tmp_path):
    path = tmp_path / "items.xlsx"
    path.write_bytes(b"PK\x03\x04rest")
    with pytest.raises(BadInput, match="Save the sheet as CSV"):
        read_text(path)


def test_a_missing_file_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match="nowhere.csv: cannot be read"):
        read_text(tmp_path / "nowhere.csv")


def test_a_row_with_more_cells_than_the_head_is_named():
    with pytest.raises(BadInput, match="x.csv, row 3: 3 cells, but the header has 2 columns"):
        table_from(decode(b"id,sentence\n1,Yes\n2,Well, no\n", file="x.csv"))


def test_an_open_quotation_mark_is_named_by_the_row_where_it_opens():
    with pytest.raises(BadInput, match="x.csv, row 3: the quotation marks do not match"):
        table_from(decode(b'id,sentence\n1,Yes\n2,"No\n3,Maybe\n', file="x.csv"))


def test_quotation_marks_are_plain_in_a_tab_separated_file_that_does_not_quote():
    table = table_from(decode(b'id\tsentence\n1\t"Yes" he said\n2\tHe said "no"\n'))
    assert table.frame["sentence"].tolist() == ['"Yes" he said', 'He said "no"']
    assert table.notes == ("quotation marks are read as plain characters",)


def test_rows_are_known_by_their_line_also_after_a_cell_of_two_lines():
    table = table_from(decode(b'id,sentence\n1,"two\nlines"\n\n2,one\n'))
    assert table.frame.index.tolist() == [2, 5]


def test_notices_above_the_header_are_skipped_and_reported():
    table = table_from(decode(b'"# A notice, with commas",,\n,,\nid,sentence\n1,Yes\n'))
    assert table.frame.columns.tolist() == ["id", "sentence"]
    assert table.notes == ("2 lines above the header skipped",)


def test_a_column_named_twice_is_refused():
    with pytest.raises(BadInput, match="column 'id': the header names this column twice"):
        table_from(decode(b"id,sentence,id\n1,Yes,2\n"))


def test_one_column_of_sentences_with_commas_is_one_column():
    table = table_from(decode(b"sentence\nYes, it rains.\nNo, it snows, I think.\n"))
    assert table.frame["sentence"].tolist() == ["Yes, it rains.", "No, it snows, I think."]


def test_the_published_likert_file_is_mac_roman_with_notices(shared_data):
    table = read_table(shared_data("ssa2013-likert/LI.ls.results.csv"))
    assert (table.source.encoding, len(table.frame)) == ("Mac Roman", 30_400)
    assert "Schütze" in read_text(shared_data("ssa2013-likert/LI.ls.results.csv")).text


def test_the_published_conditions_file_has_bare_cr(shared_data):
    table = read_table(shared_data("ssa2013-likert/LI.conditions.csv"))
    assert (table.source.newline, len(table.frame)) == ("CR", 150)


def test_the_published_broken_file_is_refused_with_its_line(shared_data):
    path = shared_data("paired-gpt2-li/Sprouse2013_surprisalsSents.csv")
    with pytest.raises(BadInput, match=r"Sents.csv, row 181: 9 cells, but the header has 7 columns"):
        read_table(path)
