"""Tables in files come back as they went out; what does not fit is refused with file and line."""

import time

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadInput
from analysis.files import atomic_write, read_table, write_table

SENTENCES = [
    "He said, \"don't\".", "الولد الذي رأيته", "[ˈkʰæt̚] 🙂", "two\nlines", " spaces ", "他把书看完了。",
]  # fmt: skip
cells = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r"), min_size=1, max_size=12
)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_sentences_of_every_script_survive_a_round_trip(tmp_path, suffix):
    frame = pd.DataFrame({"sentence_id": [f"s{i}" for i in range(6)], "sentence": SENTENCES})
    write_table(frame, tmp_path / f"t{suffix}")
    assert read_table(tmp_path / f"t{suffix}")["sentence"].tolist() == SENTENCES


@given(st.lists(cells, min_size=1, max_size=5))
def test_any_text_survives_a_round_trip(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("round") / "t.csv"
    write_table(pd.DataFrame({"sentence_id": range(len(texts)), "sentence": texts}), path)
    assert read_table(path)["sentence"].tolist() == texts


def test_rows_know_their_line_even_after_a_sentence_of_two_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"x\ny",1\n\nz,2\n')
    assert read_table(path).index.tolist() == [2, 5]


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n1,2\n")
    assert read_table(path).columns.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", b"a,b\n1,2\n1,2,3\n", ["row 3", "3 cells", "2 columns"]),
        ("t.csv", b'a,b\n1,"2\n', ["row 2", "end of data"]),
        ("t.csv", b"a,b\n1,2\ncaf\xe9,2\n", ["row 3", "not UTF-8"]),
        ("t.csv", b"", ["empty"]),
        ("t.csv", b"a,a\n1,2\n", ["row 1", "'a'", "twice"]),
        ("t.jsonl", b'{"a": 1}\n{"a": NaN}\n', ["row 2", "NaN"]),
        ("t.jsonl", b'{"a": 1}\n{"a": \n', ["row 2", "not JSON"]),
        ("t.jsonl", b"[1]\n", ["row 1", "object"]),
        ("t.jsonl", b'{"a": 1}\n' + b"[" * 200_000, ["row 2", "nested too deeply"]),
        ("t.jsonl", b'{"a": ' + b"9" * 5_000 + b"}\n", ["row 1", "too many digits"]),
        ("t.parquet", b"PAR", ["not a Parquet file"]),
        ("t.xlsx", b"", [".xlsx", ".csv"]),
    ],
)
def test_a_file_that_does_not_fit_is_refused_by_name_and_line(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInput) as refusal:
        read_table(path)
    assert all(word in str(refusal.value) for word in [str(path), *words])


def test_a_head_of_many_columns_takes_no_time(tmp_path):
    """Names were counted in the whole head, one after the other: 20,000 took seconds."""
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"c{number}" for number in range(20_000)) + ",c1\n")
    started = time.process_time()
    with pytest.raises(BadInput, match="'c1'.*twice"):
        read_table(path)
    assert time.process_time() - started < 1


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        read_table(tmp_path / "nowhere.csv")


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_write(path) as draft:
        draft.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


def test_writing_into_no_folder_is_refused(tmp_path):
    with pytest.raises(BadInput, match="cannot be written"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "nowhere" / "t.csv")
