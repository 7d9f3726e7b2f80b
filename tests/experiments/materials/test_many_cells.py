"""Tables of few bytes with many empty cells are refused before the cells take memory."""

import json
import tracemalloc
import zipfile

import pytest

from analysis.errors import BadInput
from experiments.materials.encoding import decode
from experiments.materials.readers import spreadsheets
from experiments.materials.readers.detect import read_materials
from experiments.materials.readers.sheets import read_sheet
from experiments.materials.readers.spreadsheets import read_spreadsheet, sheet_labels
from judgments.imports.readers import SourceOptions, read_judgments
from judgments.imports.readers.pcibex import raw_lines
from judgments.imports.readers.presets import raw_rows
from judgments.imports.readers.table import table_rows
from tests.experiments.materials.spreadsheet_files import write_ods, write_xlsx

NAMES = ["trial_type", *(f"x{number}" for number in range(1_998))]
HEAD = ["item", "condition", "sentence", "expected"]


def with_far_cell(path, cell):
    """Write a spreadsheet whose sheet has one more cell, at that place."""
    write_xlsx(path, {"Items": [HEAD, [1, "a", "It rains.", 1]]})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    row = cell.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    far = f'<row r="{row}"><c r="{cell}"><v>1</v></c></row></sheetData>'.encode()
    parts["xl/worksheets/s1.xml"] = parts["xl/worksheets/s1.xml"].replace(b"</sheetData>", far)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert path.stat().st_size < 2_000
    return path


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("ALL2000", "sheet 'Items' up to cell ALL2000 has 1,000 columns in 2,000 rows or more; for its size"),
        (
            "XFD1048576",
            "sheet 'Items' needs more than 250 MB of memory, because its cells reach to XFD1048576",
        ),
    ],
)
def test_a_sheet_with_one_far_cell_is_refused_and_the_cell_is_named(tmp_path, cell, message):
    path = with_far_cell(tmp_path / "items.xlsx", cell)
    with pytest.raises(BadInput) as refusal:
        read_materials([path])
    assert str(refusal.value).startswith(f"items.xlsx: {message}")
    assert "Delete the rows and columns" in str(refusal.value)
    assert sheet_labels(path) == {"Items": "Items"}


def test_an_open_document_that_repeats_a_row_without_end_ends_no_process_of_ours(tmp_path):
    path = write_ods(tmp_path / "items.ods", {"Items": [HEAD, [1, "a", "It rains.", 1]]})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    one = b"<table:table-row>"
    many = b'<table:table-row table:number-rows-repeated="4000000000">'
    parts["content.xml"] = parts["content.xml"].replace(one, many, 1)
    assert many in parts["content.xml"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(BadInput, match="needs more than 250 MB of memory"):
        read_spreadsheet(path)


def test_a_sheet_keeps_its_place_below_and_right_of_empty_cells(tmp_path):
    rows = [[], ["", "", *HEAD], [], ["", "", 1, "a", "It rains.", 1], ["", "", 2, "a", "", "", "note"]]
    sheet = read_spreadsheet(write_xlsx(tmp_path / "items.xlsx", {"Items": rows}))
    assert sheet.frame.index.tolist() == [4, 5] and sheet.notes == ("1 row above the header skipped",)
    assert list(sheet.frame.columns) == ["unnamed_1", "unnamed_2", *HEAD, "unnamed_3"]
    assert sheet.frame.loc[4].tolist() == ["", "", "1", "a", "It rains.", "1", ""]


def test_a_program_that_fails_for_another_reason_is_no_fault_of_the_file(tmp_path, monkeypatch):
    path = write_xlsx(tmp_path / "items.xlsx", {"Items": [HEAD]})
    broken = tmp_path / "broken.py"
    broken.write_text("import no_such_module")
    monkeypatch.setattr(spreadsheets, "PROGRAM", str(broken))
    with pytest.raises(Exception, match="non-zero exit status"):
        read_spreadsheet(path)


def csv_file(folder):
    path = folder / "short.csv"
    path.write_text(",".join(NAMES) + "\n" + "a\n" * 20_000)
    return path


def json_lines_file(folder):
    path = folder / "short.jsonl"
    path.write_text(json.dumps(dict.fromkeys(NAMES, 1)) + "\n" + '{"trial_type": 1}\n' * 20_000)
    return path


def json_file(folder):
    path = folder / "short.json"
    path.write_text(json.dumps([dict.fromkeys(NAMES, 1), *[{"trial_type": 1}] * 20_000]))
    return path


@pytest.mark.parametrize("write", [csv_file, json_lines_file, json_file])
@pytest.mark.parametrize(
    "read",
    [
        read_sheet,
        lambda path: raw_rows(path, SourceOptions()),
        lambda path: read_judgments(path, "jspsych", options=SourceOptions()),
    ],
    ids=["materials", "judgments", "jspsych"],
)
def test_short_rows_under_a_long_header_are_refused_before_they_are_filled(tmp_path, write, read):
    path = write(tmp_path)
    tracemalloc.start()
    with pytest.raises(BadInput, match="(1,999|2,000) columns in .* rows or more.*cells are read"):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # the filled cells would take 320 MB and more


def test_json_lines_of_judgments_are_refused_before_they_are_filled(tmp_path):
    with pytest.raises(BadInput, match="1,999 columns in 20,001 rows"):
        table_rows(json_lines_file(tmp_path))


def test_results_of_pcibex_with_many_lists_of_columns_are_refused_before_they_are_filled():
    lists = [f"# {place}. c{number}_{place}" for number in range(200) for place in range(1, 11)]
    text = "\n".join([*lists, *["1,2,3,4,5,6,7,8,9,10"] * 10])
    assert len(raw_lines(decode(text.encode(), file="r.csv"))) == 10
    changing = "\n".join(f"# 10. c{number}\n1,2,3,4,5,6,7,8,9,10" for number in range(1_900))
    begin = "\n".join(f"# {place}. c{place}" for place in range(1, 11))
    with pytest.raises(BadInput, match="rows or more"):
        raw_lines(decode(f"{begin}\n{changing}".encode(), file="r.csv"))


def test_a_dense_table_of_as_many_cells_is_read(tmp_path):
    path = tmp_path / "dense.csv"
    path.write_text(",".join(NAMES) + "\n" + ("1" + "," * 1_998 + "\n") * 600)
    assert read_sheet(path).frame.shape == (600, 1_999)  # above one million cells, as its bytes allow


def test_columns_repeated_with_every_answer_are_refused_before_they_are_repeated(tmp_path):
    people, others = NAMES[1:1_001], [f"note{number}" for number in range(900)]
    path = tmp_path / "wide.csv"
    path.write_text(",".join(["item", *people, *others]) + "\n" + f"i,{'1,' * 1_000}{',' * 899}\n" * 30)
    tracemalloc.start()
    with pytest.raises(BadInput, match="the table with a row per answer has 901 columns in 30,000 rows"):
        read_judgments(path, "table", options=SourceOptions(people=("x*",)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # 216 MB repeated
