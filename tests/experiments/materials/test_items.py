"""Which rows of tables are one item: files with the same numbers, repeated rows, blank and merged cells."""

import json
import zipfile

import pytest

from analysis.errors import BadInput
from experiments.intake.store import MaterialSetInfo, store_materials
from experiments.lists.balance_report import proofs
from experiments.materials.checks import check
from experiments.materials.leaving_out import concerned_items, leave_out
from experiments.materials.readers.detect import read_materials
from tests import cast
from tests.experiments.materials.spreadsheet_files import write_xlsx

KEYS = ["item,condition,sentence,expected", "1,pl,The keys are here.,good", "1,sg,The keys is here.,bad"]
WHO = ["item,condition,sentence,expected", "1,wh,Who did Mary see?,good", "1,gap,Who did Mary see Bill?,bad"]


def codes(materials):
    return {finding.code: finding.severity for finding in check(materials).findings}


def test_items_of_two_files_are_apart_unless_each_file_is_one_condition(write_file):
    two = read_materials([write_file("a.csv", "\n".join(KEYS)), write_file("b.csv", "\n".join(WHO))])
    assert two.pairs["item"].tolist() == ["a:1", "b:1"]
    assert codes(two)["items_by_file"] == "note" and "hole" not in codes(two)
    halves = [
        write_file(f"{name}.csv", "\n".join([KEYS[0], row])) for name, row in zip("gh", KEYS[1:], strict=True)
    ]
    joined = read_materials(halves)
    assert joined.pairs["item"].tolist() == ["1"] and codes(joined)["items_joined"] == "warning"
    lists = [
        write_file(f"list{n}.csv", "\n".join([KEYS[0], f"1,pl,Sentence {n} is here.,good"])) for n in (1, 2)
    ]
    assert read_materials(lists).sentences["item"].tolist() == ["list1:1", "list2:1"]


def test_rows_repeated_for_each_list_are_read_once(write_file):
    filler = [f"9,,The police asked for help.,{n},filler" for n in (1, 2)]
    target = [
        f"1,{cell},Mary was {word} content.,{n},item"
        for n in (1, 2)
        for cell, word in (("a", "gladly"), ("b", "badly"))
    ]
    one = write_file("one.csv", "\n".join(["item,condition,sentence,list,filler", *target, *filler]))
    materials = read_materials([one])
    assert materials.sentences["is_filler"].tolist() == [False, False, True]
    assert codes(materials)["repeated_rows"] == "note"
    files = [
        write_file(f"l{n}.csv", "\n".join(["item,condition,sentence,filler", row.replace(f",{n},", ",")]))
        for n, row in enumerate(filler, start=1)
    ]
    assert len(read_materials(files).sentences) == 1


def test_blank_items_are_named_and_merged_ranges_filled(write_file, tmp_path):
    blank = read_materials([write_file("blank.csv", "\n".join([*KEYS[:2], KEYS[2].removeprefix("1")]))])
    (finding,) = [finding for finding in check(blank).findings if finding.code == "blank_item"]
    assert (finding.severity, finding.row) == ("warning", 3)
    rows = [line.split(",") for line in KEYS]
    rows[2][0] = ""
    path = write_xlsx(tmp_path / "merged.xlsx", {"items": rows})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    sheet = "xl/worksheets/s1.xml"
    parts[sheet] = parts[sheet].replace(
        "</sheetData>", '</sheetData><mergeCells><mergeCell ref="A2:A3"/></mergeCells>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    merged = read_materials([path])
    assert merged.sentences["item"].tolist() == ["1", "1"] and len(merged.pairs) == 1
    assert any("merged" in note for note in merged.sources[0].notes)


def test_a_check_of_all_items_offers_nothing_to_leave_out(write_file):
    rows = ["item,condition,sentence,kind", "1,a,One is here.,", "1,b,One are here.,"]
    rows += ["2,filler,It rains.,x", "3,filler,It snows.,x"]
    materials = read_materials([write_file("items.csv", "\n".join(rows))])
    assert codes(materials)["perhaps_fillers"] == "warning" and not concerned_items(materials)
    assert "hole" not in codes(materials)
    cells = [
        f"{n},{cell},{n} {cell}.," for n in (1, 2) for cell in "abcd" if (n, cell) not in {(1, "d"), (2, "a")}
    ]
    holes = read_materials([write_file("holes.csv", "\n".join([rows[0], *cells, *rows[3:]]))])
    assert codes(holes)["hole"] == "warning" and not concerned_items(holes)  # all but the fillers
    pair = read_materials([write_file("pair.csv", "pair_id,good,bad\na,It rains.,It rains.")])
    assert not concerned_items(pair)
    with pytest.raises(BadInput, match="names all items"):
        leave_out(pair, ["identical_members"])


def test_aliases_with_two_meanings_need_the_values_of_one(write_file):
    rows = ["uid,sentence,acceptability,ItemNum", "a1,It rains.,6.5,1", "a2,It rain.,2,1", "a3,It snows.,6,2"]
    materials = read_materials([write_file("ratings.csv", "\n".join(rows))])
    assert set(materials.sentences["paradigm"]) == set(materials.sentences["expected"]) == {""}
    messages = " ".join(finding.message for finding in materials.findings if finding.code == "near_name")
    for part in ("sentence_id=uid", "'6.5' is none", "item=ItemNum"):
        assert part in messages
    grouped = "\n".join(["uid,sentence,label", "keys,It rains.,1", "keys,It rain.,0"])
    assert set(read_materials([write_file("uids.csv", grouped)]).sentences["paradigm"]) == {"keys"}


@pytest.mark.parametrize("noun_column", ["attractor", "number"])
def test_the_expected_status_is_a_factor_where_it_is_one_of_two(write_file, noun_column):
    cells = [(status, noun) for status in ("grammatical", "ungrammatical") for noun in ("singular", "plural")]
    rows = [
        f"{item},{status},{noun},Key {item} to the {noun} is {status}."
        for item in (1, 2)
        for status, noun in cells
    ]
    path = write_file("keys.csv", "\n".join([f"item,grammaticality,{noun_column},sentence", *rows]))
    halves = [finding for finding in check(read_materials([path])).errors if finding.code == "half_mapping"]
    condition = f"grammaticality+{noun_column}"
    assert f"condition={condition}" in halves[0].message
    mapped = read_materials([path], mapping={"condition": condition})
    assert list(mapped.factors) == condition.split("+")
    assert set(mapped.sentences["expected"]) == {"acceptable", "unacceptable"}


def test_json_arrays_are_read_on_one_line_or_many(write_file):
    names, *rows = (line.split(",") for line in KEYS)
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    for indent in (None, 1):
        assert len(read_materials([write_file("keys.json", json.dumps(objects, indent=indent))]).pairs) == 1


def test_what_participants_do_not_see_is_said(write_file):
    rows = ["sentence_id,sentence,context,picture,heard", 'a,He left.,"A: John?\nB: Yes.",a,a.mp3']
    findings = check(read_materials([write_file("contexts.csv", "\n".join(rows))])).findings
    said = [finding.message for finding in findings if finding.code.endswith("not_shown")]
    assert len(said) == 2 and "picture names files" in said[0] and "heard names files" in said[1]
    (context,) = [finding for finding in findings if finding.code == "context"]
    assert "line_end" not in {finding.code for finding in findings}  # lines are kept
    assert context.severity == "note" and "participants see above it" in context.message


@pytest.mark.django_db
def test_the_balance_counts_uploaded_items(write_file):
    rows = ["item,sentence", "1,One is here.", "1,One are here.", "2,Two are here.", "2,Two is here."]
    materials = read_materials([write_file("rated.csv", "\n".join(rows))])
    stored = store_materials(materials, MaterialSetInfo("Rated")).material_set
    study = cast.draft(task="likert", materials=stored)
    claims = {claim.text: claim for claim in proofs(study)[0].claims}
    assert not claims["No list shows an item twice"].holds


def test_contexts_that_are_lists_of_turns_become_lines(write_file):
    turns = [{"speaker": "A", "text": "Who left?"}, {"speaker": "B", "text": "No idea."}]
    rows = [
        {"item": 1, "condition": "a", "sentence": "She did.", "context": turns},
        {"item": 1, "condition": "b", "sentence": "Did she.", "context": json.dumps(turns)},
        {"item": 2, "condition": "a", "sentence": "He did.", "context": ["Who left?", "No idea."]},
        {"item": 2, "condition": "b", "sentence": "Did he.", "context": "[It rained.]"},
    ]
    path = write_file("turns.jsonl", "\n".join(json.dumps(row) for row in rows))
    contexts = [row["context"] for row in read_materials([path]).sentences["attributes"]]
    dialogue = "A: Who left?\nB: No idea."
    assert contexts == [dialogue, dialogue, "Who left?\nNo idea.", "[It rained.]"]
