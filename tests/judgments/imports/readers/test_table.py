"""The long table: columns under any name, scales, tasks and bad cells."""

import gzip
import json

import pandas as pd
import pytest

from analysis.errors import BadInput, MissingColumns, UnknownName
from judgments.imports.readers import SourceOptions, read_judgments
from judgments.imports.readers.materials import create_materials
from judgments.imports.readers.registry import parse_judgment_mapping
from tests.experiments.materials.spreadsheet_files import write_xlsx

HEAD = "participant,item,condition,position,value"


@pytest.fixture
def table(tmp_path):
    def write(*lines, name="ratings.csv"):
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def read(path, *mapping, **options):
    return read_judgments(
        path, "table", options=SourceOptions(mapping=parse_judgment_mapping(list(mapping)), **options)
    )


def test_columns_are_mapped_and_the_rest_is_kept_with_each_trial(table):
    result = read(table("wer,Nr,Urteil,age", "p1,i1,5,30"), "participant=wer", "item=Nr", "value=Urteil")
    assert result.extra == ("age",)
    assert result.judgments["extra:age"].tolist() == ["30"]
    assert result.judgments["value"].tolist() == [5.0]


def test_several_columns_join_to_one_item(table):
    result = read(table("participant,verb,frame,value", "p,know,that S,5"), "item=verb+frame")
    assert result.judgments["item"].tolist() == ["know:that S"]
    assert result.extra == ("verb", "frame")


def test_columns_joined_are_blank_where_all_of_them_are(table):
    rows = ("p,i1,isl,em,5", "p,i2,,,4", "p,i3,isl,,3")
    result = read(table("participant,item,structure,distance,value", *rows), "condition=structure+distance")
    assert result.judgments["condition"].tolist() == ["isl:em", "", "isl:"]


def test_a_column_may_be_a_factor_and_the_expected_status(table):
    cells = [(status, number) for status in ("good", "bad") for number in ("sg", "pl")]
    rows = [f"p,1,{status},{number},The {number} {status}.,5" for status, number in cells]
    result = read(
        table("participant,item,grammaticality,number,sentence,value", *rows),
        "condition=grammaticality+number",
        "expected=grammaticality",
    )
    factors = create_materials(result)[1].factors
    assert factors == {"grammaticality": ("good", "bad"), "number": ("sg", "pl")}


def test_the_scale_is_detected_and_named_and_can_be_stated(table):
    path = table(HEAD, "p,i1,a,1,2", "p,i2,a,2,7")
    assert read(path).scale == (1.0, 7.0)
    assert any("scale 1 to 7" in note for note in read(path).notes)
    assert read(path, scale_low=0, scale_high=10).scale == (0, 10)


def test_a_rating_outside_the_stated_scale_is_refused_by_row_and_column(table):
    with pytest.raises(
        BadInput, match=r"ratings\.csv, row 3, column 'value': 8 is outside the scale from 1 to 7"
    ):
        read(table(HEAD, "p,i1,a,1,2", "p,i2,a,2,8"), scale_low=1, scale_high=7)


@pytest.mark.parametrize("cell", ["good", "NaN", "inf", "-Infinity", "3,5"])
def test_what_is_no_finite_number_is_refused_by_row_and_column(table, cell):
    with pytest.raises(BadInput, match=r"row 3, column 'value'.*not a number"):
        read(table(HEAD, "p,i1,a,1,2", f'p,i2,a,2,"{cell}"'))


def test_a_blank_is_a_missing_answer(table):
    result = read(table(HEAD, "p,i1,a,1,2", "p,i2,a,2,", "p,i3,a,3,NA"))
    assert result.judgments["status"].tolist() == ["answered", "missing", "missing"]


def test_a_missing_column_is_named_with_the_columns_found(table):
    with pytest.raises(MissingColumns, match="missing column value.*participant, item"):
        read(table("participant,item,age", "p,i,30"))


def test_an_unknown_standard_column_suggests_near_names():
    with pytest.raises(UnknownName, match="Did you mean.*value"):
        parse_judgment_mapping(["valu=rating"])


def test_one_file_has_one_task(table):
    head = "participant,item,task,value"
    with pytest.raises(BadInput, match="several tasks"):
        read(table(head, "p,i1,likert,3", "p,i2,yes_no,1"))


def test_yes_and_no_are_read_as_one_and_nothing(table):
    result = read(table("participant,sentence_id,response", "p,s1,yes", "p,s2,no"))
    assert result.task == "yes_no"
    assert result.judgments["value"].tolist() == [1.0, 0.0]


def test_repeated_positions_are_renumbered_and_reported(table):
    result = read(table(HEAD, "p,i1,a,0,2", "p,i2,a,0,3", "p,i3,a,1,4"))
    assert result.judgments["position"].tolist() == [1, 2, 3]
    assert any("renumbered" in note for note in result.notes)


def test_sessions_are_participant_with_list_and_native_answers_join(table):
    result = read(
        table("participant,list,item,value,native", "p,1,i1,2,True", "p,2,i2,3,True", "q,1,i1,4,False")
    )
    assert result.sessions["session"].tolist() == ["p/1", "p/2", "q/1"]
    assert result.participants["is_native"].tolist() == [True, False]


def test_forced_choices_with_both_members_are_pairs(table):
    head = "participant,pair_id,good,bad,good_id,bad_id,shown_first,value"
    result = read(table(head, "p,1,He runs.,He run.,1g,1b,1b,1"))
    assert result.task == "forced_choice"
    assert result.judgments["expected_first"].tolist() == [False]


def test_a_phenomenon_without_paradigms_is_one_paradigm_of_its_name(table):
    result = read(table("participant,item,phenomenon,paradigm,value", "p,i,islands,,3", "p,j,islands,wh,4"))
    assert result.judgments["paradigm"].tolist() == ["islands", "wh"]


def test_addresses_of_persons_are_never_kept(table):
    result = read(table("participant,item,value,email,IP.address", "p,i,2,a@b.org,1.2.3.4"))
    assert result.extra == ()


def test_json_lines_and_packed_tables_are_read_alike(table, tmp_path):
    rows = [{"participant": "p", "item": "i1", "value": 3}, {"participant": "p", "item": "i2", "value": 4}]
    lines = read(table(*map(json.dumps, rows), name="a.jsonl"))
    packed = tmp_path / "a.tsv.gz"
    packed.write_bytes(gzip.compress(b"participant\titem\tvalue\np\ti1\t3\np\ti2\t4\n"))
    assert lines.judgments["value"].tolist() == read(packed).judgments["value"].tolist() == [3.0, 4.0]


ROWS = [
    {"participant": "p", "item": "i1", "value": 3},
    {"participant": "p", "item": "i2", "value": 4},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


def test_json_is_read_in_every_shape_that_has_one_reading(table):
    shapes = {
        "object with the list": {"n": 2, "data": ROWS},  # as LimeSurvey and web services write it
        "lists by column": COLUMNS,
        **{f"pandas {o}": json.loads(pd.DataFrame(ROWS).to_json(orient=o)) for o in PANDAS},
    }
    for name, document in shapes.items():
        assert read(table(json.dumps(document), name="a.json")).judgments["value"].tolist() == [3, 4], name
    with pytest.raises(BadInput, match=r'row 1: is no JSON object.*orient="records"'):
        read(table(json.dumps([["p", "i1", 3]]), name="a.json"))


PANDAS = ("columns", "index", "records", "split", "table")


def test_a_repeated_header_arranges_the_rows_below_it(table):
    head = "participant,item,condition,value"
    joined = table(head, "p,i1,a,3", "item,value,participant,condition", "i1,5,q,a", head, "r,i1,b,6")
    assert read(joined).judgments[["session", "item", "condition", "value"]].values.tolist() == [
        ["p", "i1", "a", 3], ["q", "i1", "a", 5], ["r", "i1", "b", 6],
    ]  # fmt: skip
    fewer = read(table(head, "p,i1,a,3", "value,participant,item", "5,q,i1"))
    assert fewer.judgments[["item", "condition", "value"]].values.tolist() == [["i1", "a", 3], ["i1", "", 5]]
    with pytest.raises(BadInput, match="row 3: the row names 5 columns.*joined run by run"):
        read(table(head, "p,i1,a,3", f"{head},age", "q,i1,a,5,30"))


def test_answers_that_are_names_of_columns_are_no_header(table):
    rows = read(table("participant,item,A,B,value", "p,i1,B,A,3", "q,i1,A,B,4")).judgments
    assert rows["extra:A"].tolist() == ["B", "A"]


@pytest.mark.parametrize(
    "title", [["Study 3"], ["Study 3,,,,"], ["Study 3, by Ana", ""], ["Study 3", "", "2024, spring"]]
)
def test_a_title_above_the_column_names_is_skipped_with_a_note(table, title):
    rows = ["p,i1,a,1,2", "p,i2,a,2,3", "p,i3,a,3,4", "q,i1,a,1,2"]
    result = read(table(*title, HEAD, *rows))
    assert result.judgments["value"].tolist() == [2, 3, 4, 2]
    assert result.judgments["row"].tolist()[0] == len(title) + 2
    assert any("above the header skipped" in note for note in result.notes)


def test_a_merged_title_of_a_spreadsheet_is_skipped(tmp_path):
    rows = [["Study 3"] * 5, HEAD.split(","), ["p", "i1", "a", 1, 2], ["p", "i2", "a", 2, 3]]
    path = write_xlsx(tmp_path / "a.xlsx", {"answers": rows})  # the reader fills merged ranges
    assert read(path).judgments["row"].tolist() == [3, 4]


def test_a_row_of_groups_above_the_column_names_is_pointed_out(table):
    with pytest.raises(BadInput, match="row 2: missing.*seems to name the columns"):
        read(table("People,,Sentences,,", HEAD, "p,i1,a,1,2"))


def test_a_rating_called_acceptability_is_proposed(table):
    with pytest.raises(BadInput, match="missing column value.*--map value=acceptability"):
        read(table("participant,item,acceptability", "p,i1,3", "p,i2,7"))


def test_ssa_2013_is_read_without_a_mapping(shared_data):
    result = read(shared_data("ssa2013-likert/LI.ls.results.csv"))
    assert result.counts["judgments"] == 30400
    assert result.counts["missing"] == 62
    assert result.counts["participants"] == 304
    assert result.judgments["position"].min() == 7
    assert "Mac Roman" in result.description


def test_swp_2012_is_read_without_a_mapping(shared_data):
    result = read(shared_data("swp2012-exp1/SWP.EXP1.results.csv"), "background.age=age")
    assert result.counts["judgments"] == 6816
    assert len(result.participants) == 142
    assert result.participants["background"].iloc[0] == {"age": "21"}


def test_slider_ratings_are_a_slider_with_practice_trials(shared_data):
    result = read(shared_data("slider-that-trace/thattracenewfull-trials.csv"))
    assert (result.task, result.scale) == ("slider", (0.0, 1.0))
    assert result.counts["by_kind"] == {"practice": 402, "target": 6432}


def test_mega_acceptability_is_keyed_by_verb_and_frame(shared_data):
    result = read(shared_data("mega-acceptability-v1/mega-acceptability-v1.tsv.gz"), "item=verb+frame")
    assert (result.counts["judgments"], result.counts["missing"]) == (250_000, 10)
    assert result.judgments["item"].nunique() == 50_000
    assert (len(result.participants), len(result.sessions)) == (729, 5000)
    native = [attributes["native"] for attributes in result.sessions["attributes"]]
    assert 50 * native.count(False) == 600


def test_a_forced_choice_is_one_or_nothing(table):
    head = "participant,pair_id,value"
    with pytest.raises(BadInput, match=r"row 3, column 'value': 0\.5 is neither 0 nor 1"):
        read(table(head, "p,1,1", "p,2,0.5"), task="forced_choice")


def test_a_row_without_a_participant_is_refused(table):
    with pytest.raises(BadInput, match=r"ratings\.csv, row 3, column 'participant'"):
        read(table(HEAD, "p,i1,a,1,2", ",i2,a,2,3"))


def test_broken_parquet_is_refused(table):
    with pytest.raises(BadInput, match="no Parquet file"):
        read(table("not parquet", name="a.parquet"))


def test_estimates_beyond_any_that_people_give_are_refused(table):
    rows = [f"p,i{n},{value}" for n, value in enumerate((50, 200, 100, "1e300"))]
    with pytest.raises(BadInput, match=r"row 5, column 'value': '1e300' is beyond 1e\+12"):
        read(table("participant,item,value", *rows))


def test_a_column_of_answers_without_any_answer_is_refused(table):
    with pytest.raises(BadInput, match="column 'value': the column of answers is empty in every row"):
        read(table("participant,item,value", "p,i1,", "p,i2,NA"))


def test_a_wide_table_has_one_column_for_each_person(table):
    path = table("item,sentence,annotator1,annotator2,annotator3", "i1,It rains.,6,7,", "i2,It rain.,2,1,3")
    result = read(path, people=("annotator*",))
    rows = result.judgments[["session", "item", "text", "value", "row"]].values.tolist()
    assert rows == [
        ["annotator1", "i1", "It rains.", 6.0, 2], ["annotator1", "i2", "It rain.", 2.0, 3],
        ["annotator2", "i1", "It rains.", 7.0, 2], ["annotator2", "i2", "It rain.", 1.0, 3],
        ["annotator3", "i2", "It rain.", 3.0, 3],
    ]  # fmt: skip
    assert result.participants["participant"].tolist() == ["annotator1", "annotator2", "annotator3"]
    assert "3 columns hold the answers of one person each" in result.notes
    assert "1 empty cells are no judgments" in result.notes


def test_a_wide_table_is_recognized_and_its_bad_cell_named(table):
    path = table("item,annotator1,annotator2,annotator3", "i1,6,7,x", "i2,2,1,3")
    with pytest.raises(BadInput, match=r"columns annotator\* may be one person each"):
        read(path)
    with pytest.raises(BadInput, match=r"row 2, column 'value': 'x' is not a number"):
        read(path, people=("annotator*",))
    with pytest.raises(UnknownName, match="unknown column 'annotators'"):
        read(path, people=("annotators",))


def test_rows_of_another_table_below_and_sentences_without_a_condition_are_named(table):
    head, rows = "participant,item,condition,sentence,value", []
    for person in "abcdef":
        rows += [f"{person},{n},{c},S {n} {c}.,{v}" for n in (1, 2) for c, v in (("x", 6), ("y", 2))]
    result = read(table(head, *rows, "", "name,n", "z,3"))
    messages = " ".join(result.warnings)
    assert "without an answer and without condition and sentence: rows 27, 28. If they belong to" in messages
    warm_up = read(table(head, "a,w,,Warm up.,4", *rows))
    assert "'condition' is empty in row 2; these sentences are in no cell" in " ".join(warm_up.warnings)
    assert not read(table(head, *rows)).warnings
    with pytest.raises(BadInput, match="row 26, column 'participant': the participant is empty"):
        read(table(head, *rows, ",,,Mean,4.2"))
    padded = read(table(f"{head},,", *(f"{row},," for row in rows)))
    assert padded.extra == ()


def test_parts_of_a_nested_answer_are_columns_of_which_one_is_chosen(tmp_path):
    rows = [
        {"participant": person, "item": n, "response": {"rating": value, "confidence": 3}}
        for person in "ab"
        for n, value in ((1, 6), (2, 2))
    ]
    for name, text in (("a.jsonl", "\n".join(map(json.dumps, rows))), ("a.json", json.dumps(rows))):
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(BadInput, match="several parts. Map value .* There are: rating, confidence"):
            read(path)
        result = read(path, "value=rating")
        assert result.judgments["value"].tolist() == [6, 2, 6, 2] and result.extra == ("confidence",)
    single = pd.DataFrame({"participant": ["a"], "item": ["1"], "response": ['{"Q0": 5}']})
    single.to_csv(tmp_path / "a.csv", index=False)
    assert read(tmp_path / "a.csv").judgments["value"].tolist() == [5]


def test_other_sheets_are_named_where_the_first_has_no_judgments(tmp_path):
    rows = [["participant", "item", "value"], ["p1", "i1", 5]]
    path = write_xlsx(tmp_path / "book.xlsx", {"notes": [["Read me"], ["first"]], "data": rows})
    with pytest.raises(
        BadInput, match=r"sheet 'notes' of 2 \(notes, data\); choose another \(--sheet NAME\)"
    ):
        read(path)
    assert read(path, sheet="data").counts["answered"] == 1


def test_columns_named_in_other_languages_are_proposed(table):
    with pytest.raises(BadInput, match="participant=Teilnehmer.*item=Satznr.*value=Urteil"):
        read(table("Teilnehmer;Satznr;Satz;Urteil", "a;1;Eins.;5"))


def test_columns_about_the_participant_are_named_together_and_no_column_is_so_by_its_name(table):
    path = table("participant,item,value,town,shoe+size,background,attribute", "p1,i1,5,Ulm,40,x,y")
    assert read(path).extra == ("town", "shoe+size", "background", "attribute")
    result = read(path, "background=town+background", "attribute=attribute")
    assert result.participants["background"].tolist() == [{"town": "Ulm", "background": "x"}]
    assert result.extra == ("shoe+size", "attribute")
    with pytest.raises(MissingColumns, match="missing column city"):
        read(path, "background=town+city")
