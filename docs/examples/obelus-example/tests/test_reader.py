import pytest

from analysis.errors import BadInput
from judgments.imports.readers import SourceOptions
from obelus_example.reader import read_export


def test_the_columns_of_the_export_are_read(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text("who,what,points\na,The cat sleeps.,5\nb,The cat sleeps.,6\n", encoding="utf-8")
    export = read_export(path, SourceOptions())
    assert export.judgments["value"].tolist() == [5, 6]
    assert export.participants["participant"].tolist() == ["a", "b"]


def test_a_file_without_these_columns_is_refused(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text("name,text\na,The cat sleeps.\n", encoding="utf-8")
    with pytest.raises(BadInput, match="who"):
        read_export(path, SourceOptions())
