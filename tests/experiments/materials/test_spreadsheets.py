"""Excel and OpenDocument files: one sheet is a table, every cell as it is shown."""

from pathlib import Path

import pytest

from analysis.errors import BadInput, UnknownName
from experiments.materials import encoding
from experiments.materials.readers.detect import read_materials
from judgments.imports.readers import SourceOptions, read_judgments
from tests.experiments.materials.spreadsheet_files import write_ods, write_xlsx

ITEMS = [
    ["item", "condition", "sentence", "expected"],
    [1, "plural", "The keys “here” are mine.", 1],
    [1, "singular", "The keys is here.", 0],
]
FILES = Path(__file__).parent / "files"  # names say which program wrote them
WRITERS = {".xlsx": write_xlsx, ".ods": write_ods}


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_sheet_of_materials_is_read_like_a_table(tmp_path, suffix):
    path = WRITERS[suffix](tmp_path / f"items{suffix}", {"Items": ITEMS})
    materials = read_materials([path])
    assert materials.sentences["text"].tolist() == ["The keys “here” are mine.", "The keys is here."]
    assert materials.sentences["item"].tolist() == ["1", "1"]  # whole numbers have no decimals
    assert materials.sentences["row"].tolist() == [2, 3]
    assert len(materials.pairs) == 1


@pytest.mark.parametrize("suffix", WRITERS)
def test_one_of_several_sheets_is_chosen_and_the_others_are_named(tmp_path, suffix):
    sheets = {"Notes": [], "Items": ITEMS, "Old": [["sentence"], ["It rains."]]}
    path = WRITERS[suffix](tmp_path / f"items{suffix}", sheets)
    first = read_materials([path])
    assert "sheet 'Items' of 3 (Notes, Items, Old)" in first.sources[0].description
    assert read_materials([path], sheet="Old").sentences["text"].tolist() == ["It rains."]
    with pytest.raises(UnknownName, match="unknown sheet 'Olds'.*Old"):
        read_materials([path], sheet="Olds")


def test_rows_of_a_sheet_keep_their_numbers_below_empty_ones(tmp_path):
    rows = [["item", "sentence"], [], ["1", "It rains."], ["2", ""]]
    path = write_xlsx(tmp_path / "items.xlsx", {"Items": rows})
    with pytest.raises(BadInput, match=r"items.xlsx, row 4, column 'sentence': the sentence is empty"):
        read_materials([path])


def test_judgments_are_read_from_a_sheet(tmp_path):
    rows = [["participant", "item", "value"], ["p1", "i1", 2], ["p1", "i2", 6.5], ["p2", "i1", ""]]
    path = write_xlsx(tmp_path / "ratings.xlsx", {"A": [["x"], [1]], "B": rows})
    read = read_judgments(path, "table", options=SourceOptions(sheet="B"))
    assert read.judgments["response"].tolist() == ["2", "6.5", ""]


def test_what_is_no_spreadsheet_or_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "items.xlsx"
    path.write_bytes(b"PK\x03\x04rest")
    with pytest.raises(BadInput, match="items.xlsx: cannot be read as a spreadsheet"):
        read_materials([path])
    write_xlsx(path, {"Items": ITEMS})
    monkeypatch.setattr(encoding, "MAX_UNPACKED_BYTES", 100)
    with pytest.raises(BadInput, match="unpacks to .* MB, more than is read"):
        read_materials([path])


@pytest.mark.parametrize(
    ("file", "cells"),
    [
        ("formulas-openpyxl-3.1.5.xlsx", r"2 cells have formulas .*\(D2, E5\)"),
        ("formulas-xlsxwriter-3.3.1.xlsx", r"1 cell has a formula .*\(E4\)"),  # 0; E5 has its value
    ],
)
def test_formulas_that_were_not_computed_are_named_by_cell(file, cells):
    with pytest.raises(BadInput, match=f"{file}: sheet 'Ratings': {cells}.*Excel or LibreOffice and save"):
        read_judgments(FILES / file, "table")
    with pytest.raises(BadInput, match=cells):
        read_materials([FILES / file])


def test_hidden_sheets_are_named_and_can_be_chosen():
    path = FILES / "hidden-openpyxl-3.1.5.xlsx"
    for read in (lambda: read_judgments(path, "table"), lambda: read_materials([path])):
        with pytest.raises(BadInput, match=r"of 3 \(Read me, Ratings \(hidden\), Empty \(hidden\)\)"):
            read()
    read = read_judgments(path, "table", options=SourceOptions(sheet="Ratings"))
    assert len(read.judgments) == 8
    assert "1 cell holds an error and is read as empty: E4 #N/A" in read.notes
    assert "1 hidden row and 1 hidden column read as well" in read.notes


def test_a_hidden_sheet_is_never_read_in_place_of_empty_ones(tmp_path):
    path = write_xlsx(tmp_path / "items.xlsx", {"Sheet1": [], "Items": ITEMS}, hidden={"Items"})
    with pytest.raises(BadInput, match="that are shown are empty; hidden: 'Items'.*--sheet Items"):
        read_materials([path])
