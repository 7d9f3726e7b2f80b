"""The same frame gives the same bytes, and only stated columns are written."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import MissingColumns
from analysis.gold.writers import (
    BLIMP_FIELDS,
    blimp_record,
    csv_bytes,
    json_bytes,
    jsonl_bytes,
    round_computed,
)


def test_unnamed_columns_are_not_written():
    frame = pd.DataFrame({"participant": ["p1"], "worker_id": ["A1B2"]})
    assert csv_bytes(frame, ["participant"]) == b"participant\np1\n"


def test_absent_column_is_refused():
    with pytest.raises(MissingColumns, match="sentence_id"):
        csv_bytes(pd.DataFrame({"n": [1]}), ["n", "sentence_id"])


def test_cells_have_one_form_each():
    frame = pd.DataFrame(
        {
            "flag": pd.Series([True, None], dtype=object),
            "whole": [2.0, np.nan],
            "part": [0.1, 1e-7],
            "count": pd.Series([3, None], dtype="Int64"),
            "text": ["a,b", 'say "x"\n'],
        }
    )
    assert csv_bytes(frame, list(frame.columns)) == (
        b'flag,whole,part,count,text\ntrue,2,0.1,3,"a,b"\n,,1e-07,,"say ""x""\n"\n'
    )


@given(
    st.lists(
        st.text(alphabet=st.characters(blacklist_categories=("Cs",), blacklist_characters="\r\x00")),
        min_size=1,
    )
)
def test_texts_of_any_script_come_back(texts):
    frame = pd.DataFrame({"n": range(len(texts)), "sentence": texts})
    written = csv_bytes(frame, ["n", "sentence"])
    read = pd.read_csv(io.BytesIO(written), dtype=str, keep_default_na=False, lineterminator=None)
    assert read["sentence"].tolist() == texts
    lines = jsonl_bytes([{"sentence": text} for text in texts]).decode().split("\n")[:-1]
    assert [json.loads(line)["sentence"] for line in lines] == texts


def test_order_of_a_sum_does_not_show():
    values = [0.1, 0.2, 0.3, 1e9 / 3]
    assert round_computed(pd.Series([sum(values)])).equals(round_computed(pd.Series([sum(reversed(values))])))


def test_blimp_fields_come_first_and_in_order():
    given_fields = {"pairID": "3", "zeta": 1, "sentence_bad": "b", "sentence_good": "g", "alpha": 2}
    record = blimp_record(given_fields, {"UID": "paradigm"})
    assert list(record) == [*BLIMP_FIELDS, "alpha", "zeta"]
    assert (record["UID"], record["pairID"], record["field"]) == ("paradigm", "3", None)


def test_undefined_numbers_become_null():
    assert json.loads(json_bytes({"a": float("inf"), "b": np.float64("nan"), "c": np.int64(3)})) == {
        "a": None,
        "b": None,
        "c": 3,
    }
