"""Judgments from files into the database: once, whole, and nothing where a file does not fit."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, MaterialSet
from judgments.models import Judgment, Participant, PlatformIdentity, Session, Trial
from tests.cast import user

pytestmark = pytest.mark.django_db
HEAD = "participant,item,condition,sentence,position,value,verb"
LINES = (
    "p1,i1,good,She left.,1,6,leave",
    "p1,i2,bad,He leave.,2,,leave",
    "p2,i1,good,She left.,1,7,leave",
    "p2,i2,bad,He leave.,2,1,leave",
)


@pytest.fixture
def ratings(tmp_path):
    def write(*lines, head=HEAD, name="ratings.csv"):
        path = tmp_path / name
        path.write_text("\n".join([head, *(lines or LINES)]) + "\n", encoding="utf-8")
        return path

    return write


def imported(path, experiment="ratings", format="table", **options):
    out = StringIO()
    options.setdefault("json", True)
    call_command("import_judgments", path, experiment=experiment, format=format, stdout=out, **options)
    return json.loads(out.getvalue())


def test_a_table_becomes_sessions_trials_judgments_and_its_own_materials(ratings):
    report = imported(ratings())
    assert report["added"] == {"participants": 2, "sessions": 2, "judgments": 4}
    study = Experiment.objects.get(slug="ratings")
    assert (study.origin, study.status, study.task) == ("imported", "closed", "likert")
    assert study.parameters == {"lowest": 1, "points": 7}
    assert study.materials.sentences.count() == 2
    trial = Trial.objects.get(session__participant__pseudonym="p1", position=1)
    assert trial.shown == {"sentence_id": "i1", "text": "She left.", "language": "en"}
    assert trial.attributes == {"verb": "leave"}
    assert (trial.judgment.value, trial.judgment.input_type) == (6, "imported")
    assert Judgment.objects.get(status="missing").value is None


@pytest.mark.parametrize(("column", "yes"), [("status", "timed_out"), ("Timed Out", "1")])
def test_a_trial_that_timed_out_keeps_that_status(column, yes, ratings):
    cells = ("", yes, "", yes)  # the last has an answer all the same
    lines = [f"{line},{cell}" for line, cell in zip(LINES, cells, strict=True)]
    report = imported(ratings(*lines, head=f"{HEAD},{column}"))
    assert report["added"]["judgments"] == 4
    statuses = Judgment.objects.order_by("pk").values_list("status", flat=True)
    assert list(statuses) == ["answered", "timed_out", "answered", "answered"]


def test_importing_the_same_file_twice_adds_nothing_and_is_reported(ratings):
    path = ratings()
    imported(path)
    report = imported(path)
    assert report["added"] == {"participants": 0, "sessions": 0, "judgments": 0}
    assert any("already here" in note for note in report["notes"])
    assert Judgment.objects.count() == 4
    assert Experiment.objects.get().versions.count() == 1


def test_a_file_that_has_grown_adds_its_new_sessions(ratings):
    imported(ratings())
    report = imported(ratings(*LINES, "p3,i1,good,She left.,1,5,leave", name="later.csv"))
    assert report["added"] == {"participants": 1, "sessions": 1, "judgments": 1}
    assert Experiment.objects.get().versions.count() == 2


def test_a_dry_run_reports_and_writes_nothing(ratings):
    report = imported(ratings(), dry_run=True)
    assert (report["sessions_new"], report["creates_experiment"]) == (2, True)
    assert report["creates_materials"]["sentences"] == 2
    assert not Experiment.objects.exists()
    assert not MaterialSet.objects.exists()


def test_a_file_that_does_not_fit_leaves_nothing_behind_and_exits_with_two(ratings):
    path = ratings(*LINES, "p3,i1,good,She left.,1,twelve,leave")
    with pytest.raises(CommandError, match=r"ratings\.csv, row 6, column 'value'") as error:
        imported(path)
    assert error.value.returncode == 2
    assert not Experiment.objects.exists()
    assert not Participant.objects.exists()


def test_a_broken_table_is_refused_by_file_and_line(shared_data):
    path = shared_data("paired-gpt2-li/Sprouse2013_surprisalsSents.csv")
    with pytest.raises(CommandError, match=r"Sprouse2013_surprisalsSents\.csv, row \d+"):
        imported(path)
    assert not Experiment.objects.exists()


def test_ids_of_platforms_go_to_the_vault_and_nowhere_else(ratings):
    prolific = "5f0c1a2b3c4d5e6f70819203"
    imported(ratings(f"{prolific},i1,good,She left.,1,6,leave"))
    person = Participant.objects.get()
    assert prolific not in person.pseudonym
    assert PlatformIdentity.objects.get().external_id == prolific
    assert prolific not in Session.objects.get().external_id
    assert imported(ratings(f"{prolific},i1,good,She left.,1,6,leave"))["added"]["sessions"] == 0


def test_rows_join_stored_materials_by_id_item_or_text(ratings):
    imported(ratings(), experiment="first")
    report = imported(
        ratings("q,She left.,4", "q,He leave.,2", head="participant,sentence,value"),
        experiment="second",
        materials="first",
    )
    assert report["creates_materials"] is None
    study = Experiment.objects.get(slug="second")
    assert study.materials == Experiment.objects.get(slug="first").materials
    keys = Trial.objects.filter(session__experiment=study).values_list("sentence__key", "item__key")
    assert sorted(keys) == [("i1", "i1"), ("i2", "i2")]


def test_what_does_not_match_the_materials_is_named(ratings):
    imported(ratings(), experiment="first")
    with pytest.raises(
        CommandError, match=r"row 3: 1 rows do not match the materials 'first': 'They goes\.'"
    ):
        imported(
            ratings("q,She left.,4", "q,They goes.,2", head="participant,sentence,value"),
            experiment="second",
            materials="first",
        )
    assert not Experiment.objects.filter(slug="second").exists()


def test_unlabelled_pairs_take_their_good_member_from_the_materials(tmp_path):
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(
        json.dumps({"sentence_good": "He runs.", "sentence_bad": "He run.", "UID": "sva", "pairID": "0"})
        + "\n"
    )
    call_command("import_materials", pairs, name="sva", stdout=StringIO())
    batch = tmp_path / "batch.csv"
    batch.write_text(
        "AssignmentId,WorkerId,AssignmentStatus,Input.field_1_1,Input.field_1_2,Answer.Choice1\n"
        "a1,w1,Approved,He run.,He runs.,2. He runs.\n"
        "a2,w2,Approved,He runs.,He run.,2. He run.\n"
    )
    imported(batch, experiment="fc", format="mturk-batch", materials="sva")
    trials = Trial.objects.order_by("session__external_id")
    assert [trial.expected_first for trial in trials] == [False, True]
    assert [trial.judgment.value for trial in trials] == [1.0, 0.0]
    assert [trial.judgment.chosen.key for trial in trials] == ["sva:0:good", "sva:0:bad"]
    assert [option["text"] for option in trials[0].shown["options"]] == ["He run.", "He runs."]


def test_pairs_without_label_or_materials_are_refused(tmp_path):
    batch = tmp_path / "batch.csv"
    batch.write_text(
        "AssignmentId,WorkerId,AssignmentStatus,Input.field_1_1,Input.field_1_2,Answer.Choice1\n"
        "a1,w1,Approved,He run.,He runs.,2. He runs.\n"
    )
    with pytest.raises(CommandError, match="does not say which member of the pair is expected"):
        imported(batch, experiment="fc", format="mturk-batch")


def test_a_study_that_collects_takes_no_file(ratings):
    study = Experiment.objects.create(slug="own", title="Own", task="likert", status="open")
    with pytest.raises(CommandError, match="collects its own judgments"):
        imported(ratings(), experiment="own")
    assert study.sessions.count() == 0


def test_an_owner_is_named_and_the_import_is_on_the_trail(ratings):
    ada = user("ada")
    imported(ratings(), owner="ada")
    assert Experiment.objects.visible_to(ada).count() == 1
    assert AuditEntry.objects.filter(action="judgments imported").count() == 1


def test_an_unknown_material_set_suggests_near_names(ratings):
    imported(ratings(), experiment="ratings")
    with pytest.raises(CommandError, match="Did you mean 'ratings'"):
        imported(ratings(), experiment="other", materials="rating")


def test_quotes_right_to_left_text_and_emoji_come_through(ratings):
    text = 'הוא אמר "שלום" 🎈 [ˈɪŋɡlɪʃ] it\'s \\N'
    quoted = text.replace('"', '""')
    imported(ratings(f'p,i,c,"{quoted}",1,3,v'))
    assert Trial.objects.get().shown["text"] == text


def test_blimps_batch_comes_in_whole(shared_data):
    report = imported(shared_data("blimp/human_responses.csv"), experiment="blimp", format="mturk-batch")
    assert report["added"] == {"participants": 345, "sessions": 1744, "judgments": 8720}
    assert Session.objects.filter(submission_status="rejected").count() == 10
    assert Trial.objects.filter(kind="catch").count() == 1744
    assert MaterialSet.objects.get().pairs.count() == 348


def test_preparing_needs_a_name(ratings):
    with pytest.raises((BadInput, CommandError), match="needs a name"):
        imported(ratings(), experiment=" ")


def test_the_language_of_the_sentences_is_stored_with_study_and_materials(ratings):
    report = imported(ratings(), language="tr")
    study = Experiment.objects.get()
    assert (report["language"], study.language, study.materials.language) == ("tr", "tr", "tr")
    with pytest.raises(CommandError, match="are in tr, not in de"):
        imported(ratings("p9,i1,good,She left.,1,6,leave"), language="de")
    with pytest.raises(CommandError, match="not a language tag"):
        imported(ratings(), experiment="other", language="t")


@pytest.mark.parametrize("name", ["rows.json", "rows.txt"])
@pytest.mark.parametrize("indent", [None, 2])
def test_arrays_of_json_are_read_on_one_line_or_many(tmp_path, name, indent):
    rows = [
        {"participant": f"p{p}", "item": n, "sentence": f'She said [{n}], "no".', "rating": n + p}
        for p in (1, 2)
        for n in (1, 2)
    ]
    path = tmp_path / name
    path.write_text("\ufeff" + json.dumps(rows, indent=indent), encoding="utf-8")
    call_command("import_judgments", path, experiment="a", format="table", stdout=StringIO())
    assert sorted(Judgment.objects.values_list("value", flat=True)) == [2, 3, 3, 4]
    materials = tmp_path / f"materials-{name}"
    materials.write_text(json.dumps([{**row, "condition": "a"} for row in rows[:2]], indent=indent))
    call_command("import_materials", materials, name="m", stdout=StringIO())


def test_participants_may_be_called_like_empty_cells(tmp_path):
    path = tmp_path / "names.csv"
    people = ("NA", "null", "None", "N/A")
    path.write_text(
        "participant,item,sentence,rating\n"
        + "".join(f"{person},{n},Sentence {n}.,{n}\n" for person in people for n in (1, 7))
    )
    call_command("import_judgments", path, experiment="a", format="table", stdout=StringIO())
    assert set(Participant.objects.values_list("pseudonym", flat=True)) == set(people)


@pytest.mark.parametrize("field", ["participant", "session", "list", "note"])
def test_a_control_character_in_a_name_is_refused_and_nothing_is_stored(tmp_path, field):
    row = {"participant": "p1", "session": "s1", "list": "A", "item": "1", "sentence": "A.", "rating": "3"}
    row = row | ({field: row[field] + "\x07"} if field in row else {"no\x07te": "x"})
    path = tmp_path / "names.json"
    path.write_text(json.dumps([row, {**row, "item": "2", "sentence": "B.", "rating": "5"}]))
    with pytest.raises(
        CommandError, match=r"names\.json: the (participant|session|list|name of a column) .*control"
    ):
        call_command("import_judgments", path, experiment="a", format="table", stdout=StringIO())
    assert not Experiment.objects.exists() and not Participant.objects.exists()
