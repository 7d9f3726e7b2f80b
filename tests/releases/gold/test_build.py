"""A release holds what was judged, in BLiMP's form, and is the same bytes each time."""

import hashlib
import io
import json
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.comparison.files import read_human, read_pairs, read_sentences
from analysis.gold.writers import BLIMP_FIELDS
from judgments.models import PlatformIdentity
from releases.gold.build import build_release
from releases.gold.describe import FILES
from releases.gold.options import Options
from releases.gold.plans import write_plan
from releases.study_report.build import build_report
from tests import cast
from tests.releases.study import add_sitting, judged_study

pytestmark = pytest.mark.django_db
CONTRACT = (
    "participant,session,item,condition,sentence_id,trial,task,response,value,rt_ms,position,shown_first"
)


def table(files: dict[str, bytes], name: str) -> pd.DataFrame:
    """A CSV of the release as text."""
    return pd.read_csv(io.BytesIO(files[name]), dtype=str, keep_default_na=False)


def test_every_file_of_the_contract_is_there_with_its_checksum():
    files = build_release(judged_study(), Options()).files
    assert {name for name in files if "/" not in name} == set(FILES) | {"README.md"}
    manifest = json.loads(files["manifest.json"])
    listed = {file["path"]: file["sha256"] for file in manifest["files"]}
    assert listed == {
        name: hashlib.sha256(content).hexdigest()
        for name, content in files.items()
        if name != "manifest.json"
    }
    assert files["judgments.csv"].decode().splitlines()[0].startswith(CONTRACT)


def test_building_twice_gives_the_same_bytes():
    study = judged_study()
    assert build_release(study, Options(rule="4/5")).files == build_release(study, Options(rule="4/5")).files


def test_row_numbers_of_the_database_do_not_show():
    """The same answers under other primary keys give the same files, as on another database."""
    first = build_release(
        judged_study("one", people=4, title="Same", materials=cast.material_set("set-one")), Options()
    )
    second = build_release(
        judged_study("two", people=4, title="Same", materials=cast.material_set("set-two")), Options()
    )
    for name in (
        "judgments.csv",
        "sentences.csv",
        "pairs.jsonl",
        "human.csv",
        "pairs.csv",
        "participants.csv",
    ):
        assert first.files[name] == second.files[name], name


def test_pairs_open_in_pandas_under_blimps_names():
    study = judged_study(people=6)
    pair = study.materials.pairs.first()
    pair.fields = {
        "sentence_good": pair.good.text, "sentence_bad": pair.bad.text, "field": "syntax",
        "UID": "subject_verb", "linguistics_term": "agreement", "pairID": "0", "simple_LM_method": True,
        "one_prefix_method": False, "two_prefix_method": False, "lexically_identical": False, "extra": "é",
    }  # fmt: skip
    pair.save()
    content = build_release(study, Options()).files["pairs.jsonl"]
    frame = pd.read_json(io.BytesIO(content), lines=True)
    assert list(frame.columns[:10]) == list(BLIMP_FIELDS)
    assert frame.loc[0, "extra"] == "é" and bool(frame.loc[0, "simple_LM_method"]) is True
    assert frame["human_k"].tolist() == [5] * 4 and frame["human_n"].tolist() == [6] * 4
    assert frame["human_label"].tolist() == ["expected"] * 4
    assert frame["sentence_good"].tolist() == [f"The keys {n} are here." for n in range(1, 5)]


def test_platform_ids_and_unpublished_answers_stay_out():
    study = judged_study(questionnaire=[{"name": "age", "publish": True}, {"name": "email"}])
    person = study.participants.first()
    PlatformIdentity.objects.create(
        participant=person, experiment=study, recruiter="prolific", external_id="5f3c-VAULT"
    )
    files = build_release(study, Options()).files
    for name, content in files.items():
        assert b"5f3c-VAULT" not in content and b"SUBMISSION-" not in content, name
        assert b"x@example.org" not in content, name
    people = table(files, "participants.csv")
    assert people["background_age"].tolist() == ["30"] * 6
    assert "background_email" not in people.columns


def test_what_people_type_is_no_formula_in_a_spreadsheet():
    study = judged_study(people=4, questionnaire=[{"name": "dialect", "publish": True}])
    typed = ['=HYPERLINK("http://example.org")', "Scots", "-", -3]
    for person, dialect in zip(study.participants.order_by("pk"), typed, strict=True):
        person.background = {"dialect": dialect}
        person.save()
    people = table(build_release(study, Options()).files, "participants.csv")
    dialects = ['"=HYPERLINK(\\"http://example.org\\")"', "Scots", "-", "-3"]
    assert sorted(people["background_dialect"]) == sorted(dialects)


@pytest.mark.parametrize(
    ("n", "statement", "card"),
    [
        (2, "2 participants and 2 simulated participants chose", "**2 of 4 participants were simulated**"),
        (4, "4 simulated participants chose", "Simulated acceptability judgments"),
        (0, "4 participants chose", "Human acceptability judgments"),
    ],
)
def test_texts_state_whose_answers_were_simulated(n, statement, card):
    study = judged_study(people=4)
    some = study.participants.order_by("pk").values_list("pk", flat=True)[:n]
    study.participants.filter(pk__in=list(some)).update(is_simulated=True)
    files = build_release(study, Options()).files
    assert statement in files["methods.md"].decode() and card in files["README.md"].decode()
    assert (n > 0) == ("simulated" in files["README.md"].decode().partition("## Files")[0].lower())


def test_excluded_rows_are_kept_and_marked():
    study = judged_study(people=5)
    add_sitting(study, "careless", agrees=False, catch=False)
    plan = write_plan(study, "careful", steps=[{"name": "catch", "scope": "session", "rule": "catch_failed"}])
    files = build_release(study, Options(exclude="careful")).files
    judgments = table(files, "judgments.csv")
    assert set(judgments.loc[judgments["participant"] == "careless", "excluded_by"]) == {"catch"}
    assert set(judgments.loc[judgments["participant"] != "careless", "excluded_by"]) == {""}
    excluded = table(files, "exclusions.csv")
    assert excluded[["participant", "session", "trial", "step"]].values.tolist() == [
        ["careless", "careless.1", "", "catch"]
    ]
    manifest = json.loads(files["manifest.json"])
    assert manifest["plan"]["sha256"] == plan.sha256
    assert (manifest["counts"]["participants"], manifest["counts"]["participants_kept"]) == (6, 5)
    assert "5 of 6" not in files["methods.md"].decode() and "catch" in files["methods.md"].decode()


@pytest.mark.parametrize("task", ["likert", "yes_no"])
def test_judged_sentences_give_pairs_a_difference(task):
    study = judged_study(task=task, parameters={})
    files = build_release(study, Options()).files
    pairs = pd.read_json(io.BytesIO(files["pairs.jsonl"]), lines=True)
    assert (pairs["human_delta"] > 0).all() and set(pairs["human_label"]) == {"expected"}
    assert set(pairs["human_n"]) == {12}


def test_release_alone_can_be_compared(tmp_path):
    files = build_release(judged_study(), Options()).files
    for name in ("human.csv", "pairs.csv", "sentences.csv"):
        (tmp_path / name).write_bytes(files[name])
    human, pairs = read_human(tmp_path / "human.csv"), read_pairs(tmp_path / "pairs.csv")
    sentences = read_sentences(tmp_path / "sentences.csv")
    assert (
        set(pairs["good_id"]) | set(pairs["bad_id"])
        == set(human["sentence_id"])
        == set(sentences["sentence_id"])
    )


def test_command_writes_once_and_refuses_to_overwrite(tmp_path, capsys):
    study = judged_study()
    to = tmp_path / "gold"
    call_command("export_gold", study.slug, to=to, rule="blimp")
    call_command("export_gold", study.slug, to=to, rule="blimp")
    assert "the same release is already there" in capsys.readouterr().out
    before = {path.name: path.read_bytes() for path in to.rglob("*.*")}
    with pytest.raises(CommandError, match="never overwritten") as refused:
        call_command("export_gold", study.slug, to=to, rule="climp")
    assert refused.value.returncode == 2
    assert {path.name: path.read_bytes() for path in to.rglob("*.*")} == before
    assert sorted(Path(tmp_path).iterdir()) == [to]


def test_command_prints_one_json_document(tmp_path, capsys):
    study = judged_study()
    call_command("export_gold", study.slug, to=tmp_path / "gold", json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["written"] is True and set(document["files"]) == {
        path.relative_to(tmp_path / "gold").as_posix() for path in (tmp_path / "gold").rglob("*.*")
    }


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"rule": "blimpp"}, "blimp"),
        ({"exclude": "catch_faild"}, "catch_failed"),
        ({"ties": "maybe"}, "tie rule"),
    ],
)
def test_unknown_names_are_answered_with_near_ones(tmp_path, value, message):
    with pytest.raises(CommandError, match=message):
        call_command("export_gold", judged_study().slug, to=tmp_path / "gold", **value)
    assert not (tmp_path / "gold").exists()


def test_study_without_answers_still_gives_a_release():
    files = build_release(cast.study(), Options()).files
    assert table(files, "judgments.csv").empty and table(files, "human.csv").empty
    assert len(table(files, "sentences.csv")) == 8


@pytest.mark.usefixtures("drawn_once")
def test_the_methods_of_a_release_are_those_of_the_report():
    study = judged_study("judged", task="likert")
    methods = build_release(study, Options()).files["methods.md"].decode()
    html = unescape(build_report(study, Options(), has_pdf=False).files["report.html"].decode())
    collected, analysed = methods.split("\n\n")[1:3]
    assert "rated sentences on a scale from 1 to 7" in collected and "from 4 items" in collected
    assert "6 judgments of each sentence" in analysed and "standardized within participants" in analysed
    assert f"<p>{collected}</p>" in html and f"<p>{analysed}</p>" in html
