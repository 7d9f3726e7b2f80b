"""The command ``import_materials``: what it stores, says and refuses; all of it or nothing."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from experiments.intake import store
from experiments.intake.bulk_insert import insert_rows
from experiments.intake.store import MaterialSetInfo, store_materials
from experiments.materials.readers.detect import read_materials
from experiments.models import Item, MaterialSet, MinimalPair, Paradigm, Phenomenon, Sentence
from tests import cast

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
TABLE = """sentence_id,sentence,item,condition,paradigm,phenomenon,expected,lab
a1,The keys are here.,1,plural,keys,agreement,1,x
b1,The keys is here.,1,singular,keys,agreement,*,
a2,"The ""cups"", he said, don't break.",2,plural,keys,agreement,1,
b2,"The ""cups"", he said, doesn't break.",2,singular,keys,agreement,*,
"""


@pytest.fixture
def table(tmp_path):
    """A small table of two items in two conditions."""
    path = tmp_path / "keys.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def run(*arguments: object) -> str:
    """Run the command and give what it prints."""
    out = io.StringIO()
    call_command("import_materials", *map(str, arguments), stdout=out)
    return out.getvalue()


def rows_stored() -> list[int]:
    """How many rows each table of materials has."""
    return [
        model.objects.count() for model in (MaterialSet, Phenomenon, Paradigm, Item, Sentence, MinimalPair)
    ]


def test_a_table_becomes_rows(table):
    document = json.loads(run(table, "--name", "Keys", "--language", "en", "--json"))
    assert document["created"] and document["counts"]["pairs"] == 2
    assert rows_stored() == [1, 1, 1, 2, 4, 2]
    pair = MinimalPair.objects.get(key="2")
    assert pair.good.text == """The "cups", he said, don't break."""
    assert (pair.bad.mark, pair.bad.expected) == ("*", "unacceptable")
    assert pair.paradigm.phenomenon.name == "agreement"
    assert Sentence.objects.get(key="a1").attributes == {"lab": "x"}
    material_set = MaterialSet.objects.get()
    assert (material_set.slug, material_set.file_format, material_set.checksum) == (
        "keys",
        "table",
        document["checksum"],
    )


def test_importing_the_same_file_twice_changes_nothing_and_is_reported(table):
    run(table, "--name", "Keys")
    before = rows_stored()
    assert "holds exactly this already: nothing stored" in run(table, "--name", "Keys")
    assert json.loads(run(table, "--name", "Keys", "--json"))["created"] is False
    assert rows_stored() == before


def test_the_same_content_in_another_encoding_is_the_same(table, tmp_path):
    run(table, "--name", "Keys")
    other = tmp_path / "other.csv"
    other.write_bytes(TABLE.replace("\n", "\r").encode("utf-16"))
    assert "nothing stored" in run(other, "--name", "Keys")


def test_other_content_under_a_taken_name_is_refused(table):
    run(table, "--name", "Keys")
    before = rows_stored()
    table.write_text(TABLE.replace("cups", "mugs"))
    with pytest.raises(CommandError, match="exists with other content.*Choose another name") as caught:
        run(table, "--name", "Keys")
    assert (caught.value.returncode, rows_stored()) == (2, before)


def test_two_names_that_look_alike_get_two_addresses(table):
    for name in ("Keys", "keys!", "Upload"):
        run(table, "--name", name)
    assert sorted(MaterialSet.objects.values_list("slug", flat=True)) == ["keys", "keys-2", "upload-2"]


def test_a_dry_run_shows_and_stores_nothing(table):
    output = run(table, "--name", "Keys", "--dry-run")
    assert "2 pairs" in output and "UTF-8, line ends LF, delimiter comma" in output
    assert rows_stored() == [0] * 6


def test_columns_are_mapped(table):
    table.write_text(TABLE.replace("sentence,item", "Satz,Nr"))
    run(table, "--name", "Keys", "--map", "sentence=Satz", "--map", "item=Nr")
    assert MinimalPair.objects.count() == 2


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (
            TABLE + "c,Well, no.,3,x,keys,agreement,1,\n",
            [],
            "keys.csv, row 6: 9 cells, but the header has 8 columns",
        ),
        (
            TABLE.replace("sentence,", "Satz,"),
            [],
            "keys.csv: missing column .* The columns found are: sentence_id",
        ),
        (
            TABLE + "c,Yes.,3,x,other,,maybe,\n",
            [],
            "keys.csv, row 6, column 'expected': 'maybe' is not a status",
        ),
        (TABLE + "c,Yes.,1,y,other,,1,\n" * 2, [], "row 7, column 'sentence_id': 'c' is already used"),
        (TABLE + f"c,Yes.,{'9' * 251},y,keys,,1,\n", [], "row 6: column 'item': 251 characters, at most 250"),
        (TABLE, ["--format", "blump"], "unknown format 'blump'. Did you mean 'blimp'"),
        (TABLE, ["--language", "english please"], "is not a language tag"),
        (TABLE, ["--owner", "nobody"], "unknown user 'nobody'"),
        (TABLE, ["--encoding", "klingon"], "unknown encoding"),
    ],
)
def test_bad_input_is_one_line_with_status_2_and_stores_nothing(table, text, arguments, message):
    table.write_text(text)
    with pytest.raises(CommandError, match=message) as caught:
        run(table, "--name", "Keys", *arguments)
    assert caught.value.returncode == 2 and "\n" not in str(caught.value)
    assert rows_stored() == [0] * 6


def test_a_missing_file_is_bad_input(tmp_path):
    with pytest.raises(CommandError, match="there is no such file"):
        run(tmp_path / "nowhere.csv", "--name", "Keys")


def test_a_failure_in_the_middle_leaves_nothing(table, monkeypatch):
    def broken(model, *arguments):
        if model is MinimalPair:
            raise OSError("disk full")
        return insert_rows(model, *arguments)

    monkeypatch.setattr(store, "insert_rows", broken)
    with pytest.raises(OSError, match="disk full"):
        run(table, "--name", "Keys")
    assert rows_stored() == [0] * 6


def test_two_imports_at_once_make_one_set(table, monkeypatch):
    materials = read_materials([table])
    first = store_materials(materials, MaterialSetInfo("Keys"))
    lookups = iter([None, first.material_set])
    monkeypatch.setattr(store, "_existing_set", lambda *arguments: next(lookups))
    second = store_materials(materials, MaterialSetInfo("Keys"))
    assert (second.created, second.material_set) == (False, first.material_set)
    assert MaterialSet.objects.count() == 1


def test_a_name_of_another_owner_is_taken_even_with_the_same_content(table):
    run(table, "--name", "Keys")
    MaterialSet.objects.update(owner=cast.ada())
    with pytest.raises(CommandError, match="exists with other content"):
        cast.cleo()
        run(table, "--name", "Keys", "--owner", "cleo")


def test_rows_go_on_being_numbered_after_a_bulk_insert(table):
    run(table, "--name", "Keys")
    material_set = MaterialSet.objects.get()
    item = Item.objects.create(material_set=material_set, key="later")
    assert item.pk > max(Item.objects.exclude(pk=item.pk).values_list("pk", flat=True))
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_rows(Item, ["material_set", "paradigm", "key"], [(material_set.pk, None, "later")])


def test_li_adger_from_its_folder(shared_data):
    output = run(shared_data("li-adger"), "--name", "LI-Adger")
    assert "2,393 pairs (28 marked for discarding)" in output
    assert "warning identical_members: 2" in output and "li-adger_min_pairs.csv, row 650" in output
    assert MinimalPair.objects.filter(discard=False).count() == 2_365
    material_set = MaterialSet.objects.get()
    assert material_set.report["finding_counts"]["identical_members"] == 2


def test_help_has_an_example():
    command = [sys.executable, "manage.py", "import_materials", "--help"]
    help_text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "manage.py import_materials data/*.jsonl --name BLiMP" in help_text


@pytest.mark.django_db(transaction=True)
def test_nothing_is_inserted_outside_a_transaction():
    with pytest.raises(transaction.TransactionManagementError):
        insert_rows(Item, ["key"], [("a",)])


def test_an_inferred_encoding_is_stated_with_the_lines_to_check_and_can_be_fixed(tmp_path):
    path = tmp_path / "quotes.csv"
    path.write_bytes("item,sentence\n1,The boy said “hello”.\n2,He left.\n".encode("cp1252"))
    printed = run(path, "--name", "Quotes", "--dry-run")
    assert "the encoding Windows-1252 is inferred from 1 lines" in printed
    assert "row 2: 1,The boy said “hello”." in printed
    source = json.loads(run(path, "--name", "Quotes", "--dry-run", "--json"))["sources"][0]
    assert source["inferred"]["encoding"] == "Windows-1252"
    fixed = run(path, "--name", "Quotes", "--encoding", "mac-roman")
    assert "inferred" not in fixed
    assert Sentence.objects.get(item__key="1").text == "The boy said ìhelloî."
