"""Exports of other tools: by command and by page, with what is left out said and bad input named."""

import gzip
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from experiments.models import Experiment, Job
from experiments.operation import job_runner
from judgments.imports import jobs
from judgments.imports.readers import SourceOptions, presets
from judgments.models import Judgment, Participant, Trial

pytestmark = pytest.mark.django_db
EXPORTS = Path(__file__).parent / "exports"
FILES = {
    "qualtrics": "qualtrics.csv",
    "gorilla": "gorilla.csv",
    "otree": "otree.csv",
    "label-studio": "label-studio.json",
    "potato": "potato.tsv",
}
LEFT, LEAVE = "The boy left.", "The boy leave."
VALUES = {
    "qualtrics": {LEFT: [5, 6, 7], LEAVE: [1, 2]},
    "gorilla": {LEFT: [6, 7], LEAVE: [1, 2]},
    "otree": {LEFT: [5, 6, 7], LEAVE: [1, 2]},
    "label-studio": {LEFT: [4, 5], LEAVE: [1]},
    "potato": {LEFT: [4, 5], LEAVE: [1, 2]},
}
SAID = {
    "qualtrics": ("1 row left out: previews", "1 empty cells are no judgments"),
    "gorilla": (
        "1 row left out: the end of the file",
        "3 rows left out: events whose Zone Type is no response",
    ),
    "otree": ("1 row left out: bots", "1 row left out: rounds without an answer"),
    "label-studio": (
        "1 annotation left out: skipped (was_cancelled)",
        "1 annotation left out: without a rating, number or choice",
    ),
    "potato": ("1 row left out: no answer",),
}


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


def imported(path, format, **options):
    out = StringIO()
    options = {"json": True, **options}
    call_command("import_judgments", path, experiment="ratings", format=format, stdout=out, **options)
    return json.loads(out.getvalue())


def stored():
    values = {}
    for judgment in Judgment.objects.select_related("trial"):
        values.setdefault(judgment.trial.shown["text"], []).append(judgment.value)
    return {text: sorted(numbers) for text, numbers in values.items()}


def send(client, path, **chosen):
    chosen = {"experiment": "ratings", "format": "auto", **chosen}
    return client.post(
        "/judgments/import/", {"file": SimpleUploadedFile(path.name, path.read_bytes()), **chosen}
    ).url


@pytest.mark.parametrize("format", FILES)
def test_an_export_is_imported_by_command_with_what_is_left_out(format):
    report = imported(EXPORTS / FILES[format], format)
    assert stored() == VALUES[format]
    for note in SAID[format]:
        assert note in report["notes"]
    assert Experiment.objects.get().task == "likert"


@pytest.mark.parametrize("format", FILES)
def test_the_page_recognizes_an_export_and_imports_it_once_that_is_confirmed(ada, format):
    address = send(ada, EXPORTS / FILES[format])
    page = ada.get(address)
    assert page.context["form"]["format"].value() == format
    assert "This file looks like" in page.content.decode()
    posted = {"experiment": "ratings", "format": format, "action": "import"}
    mapped = {f"map-{name}": field.initial for name, field in page.context["mapping"].fields.items()}
    answer = ada.post(address, {**posted, **mapped}, follow=True)
    assert "Say whether the file is an export of this tool" in answer.content.decode()
    assert not Job.objects.exists()
    ada.post(address, {**posted, **mapped, "guess_is_right": "yes"})
    job_runner.run(Job.objects.get().pk)
    assert stored() == VALUES[format]


def test_a_guess_that_is_wrong_is_replaced_by_another_format(ada):
    address = send(ada, EXPORTS / "potato.tsv")
    page = ada.post(
        address,
        {"experiment": "ratings", "format": "table", "map-value": "naturalness", "action": "again"},
        follow=True,
    )
    assert page.context["guess"] is None
    assert "missing columns" in page.context["error"]


def test_a_table_is_not_taken_for_an_export(ada, tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("participant,item,value\np,i,2\np,j,7\n")
    page = ada.get(send(ada, path))
    assert page.context["guess"] is None
    assert page.context["report"]["judgments"] == 2


@pytest.mark.parametrize("format", FILES)
def test_the_command_names_what_it_recognizes_and_stores_only_what_is_named(format):
    with pytest.raises(CommandError, match=f"If it is, import it with --format {format}"):
        imported(EXPORTS / FILES[format], "auto")
    assert not Experiment.objects.exists()
    report = imported(EXPORTS / FILES[format], "auto", dry_run=True)
    assert report["judgments"] == sum(map(len, VALUES[format].values()))


def test_personal_columns_are_not_kept_and_embedded_data_stand_with_the_participant():
    imported(EXPORTS / "qualtrics.csv", "qualtrics")
    person = Participant.objects.get(pseudonym="p-cy")
    assert person.background == {"dialect": "north"}
    assert person.sessions.get().status == "abandoned"
    kept = json.dumps(list(Trial.objects.values_list("attributes", flat=True)))
    assert "192.0.2" not in kept and "example.org" not in kept


def test_times_and_background_of_other_tools():
    imported(EXPORTS / "label-studio.json", "label-studio")
    assert sorted(Judgment.objects.values_list("rt_ms", flat=True)) == [2500, 3000, 4250]
    assert {person.pseudonym for person in Participant.objects.all()} == {"1", "2"}


def test_apps_of_otree_without_answers_are_background():
    imported(EXPORTS / "otree.csv", "otree")
    ages = dict(Participant.objects.values_list("pseudonym", "background"))
    assert ages["ab12cd34"] == {"age": "31"}


def test_a_table_with_a_column_for_each_sentence(ada):
    report = imported(EXPORTS / "wide.csv", "table", answers=["q*"], map=["background.age=age"])
    assert report["added"]["judgments"] == 5
    assert "1 empty cells are no judgments" in report["notes"]
    page = ada.get(send(ada, EXPORTS / "wide.csv", format="table", experiment="other"))
    assert "the columns q* may be one sentence each" in page.context["error"]


def test_the_page_takes_the_columns_of_sentences(ada):
    address = send(ada, EXPORTS / "wide.csv", format="table")
    ada.post(address, {"experiment": "ratings", "format": "table", "answers": "q*", "action": "import"})
    job_runner.run(Job.objects.get().pk)
    assert sorted(Judgment.objects.values_list("value", flat=True)) == [2, 5, 6, 7, 7]


def test_of_several_questions_one_is_chosen_on_the_page(ada, tmp_path):
    path = tmp_path / "potato.csv"
    path.write_text(
        "user,instance_id,displayed_text,good:::scale_1,good:::scale_2,sure:::scale_1,sure:::scale_2\n"
        "ann,i1,She left.,,2,1,\nann,i2,She leave.,1,,,2\n"
    )
    address = send(ada, path)
    page = ada.get(address)
    assert [value for value, _ in page.context["mapping"].fields["value"].choices] == ["", "good", "sure"]
    posted = {"experiment": "ratings", "format": "potato", "guess_is_right": "yes", "map-value": "sure"}
    page = ada.post(address, {**posted, "action": "again"}, follow=True)
    assert page.context["report"]["columns"]["value"] == "sure"
    mapped = {f"map-{name}": field.initial for name, field in page.context["mapping"].fields.items()}
    ada.post(address, {**posted, **mapped, "action": "import"})
    job_runner.run(Job.objects.get().pk)
    assert stored() == {"She left.": [1], "She leave.": [2]}


def changed(tmp_path, format, old, new):
    source = EXPORTS / FILES[format]
    text = source.read_text()
    assert old in text
    path = tmp_path / source.name
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize(
    ("format", "old", "new", "message"),
    [
        ("qualtrics", '"{""ImportId"":""1_QID2""}"', "Q2", "row 3, column '1_Q2': the third header row"),
        ("qualtrics", ",7,1.2,2,1.5", ",good,1.2,bad,1.5", "which columns hold the judgments cannot be told"),
        (
            "gorilla",
            "1840.25,6,",
            "1840.25,often,",
            "gorilla.csv, row 4, column 'Response': 'often' is not a number",
        ),
        ("gorilla", "Zone Type", "Kind", "missing column Zone Type or Response Type"),
        ("otree", "player.rating", "player.slider", "no app has a player field value or rating"),
        ("otree", "left.,6,1,1", "left.,six,1,1", "otree.csv, row 2, column 'rating': 'six' is not a number"),
        (
            "label-studio",
            '"rating": 4',
            '"rating": "four"',
            "row 1, column 'naturalness': 'four' is not a number",
        ),
        ("label-studio", '"annotations"', '"drafts"', "missing column annotations|annotator"),
        ("potato", "4\t\n", "4\t5\n", "potato.tsv, row 4, column 'naturalness': 2 labels are chosen"),
        ("potato", ":::", "_", "missing column *:::*"),
    ],
)
def test_bad_input_is_named_with_its_place_and_stores_nothing(tmp_path, format, old, new, message):
    path = changed(tmp_path, format, old, new)
    with pytest.raises(CommandError) as error:
        imported(path, format)
    assert message in str(error.value)
    assert not Judgment.objects.exists()


def test_a_qualtrics_file_without_its_header_rows_is_refused(tmp_path):
    lines = (EXPORTS / "qualtrics.csv").read_text().splitlines()
    path = tmp_path / "qualtrics.csv"
    path.write_text("\n".join([lines[0], *lines[4:]]) + "\n")
    with pytest.raises(CommandError, match="keep all three header rows"):
        imported(path, "qualtrics")


def test_lines_of_former_versions_of_potato(tmp_path):
    lines = tmp_path / "annotated_instances.jsonl"
    answers = (("ann", "i1", "3"), ("ann", "i2", "1"))
    rows = [
        {"user_id": user, "id": item, "displayed_text": item, "label_annotations": {"ok": {f"scale_{n}": n}}}
        for user, item, n in answers
    ]
    lines.write_text("\n".join(map(json.dumps, rows)))
    assert imported(lines, "potato", dry_run=True)["judgments"] == 2
    rows[1]["label_annotations"] = "none"
    lines.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(CommandError, match="row 2, column 'label_annotations'"):
        imported(lines, "potato")


def potato_state(tmp_path, labels, **changes):
    state = {
        "user_id": "ann",
        "instance_id_ordering": ["i2", "i9", "i1"],
        "instance_id_to_label_to_value": labels,
    }
    path = tmp_path / "user_state.json"
    path.write_text(json.dumps(state | changes))
    return path


@pytest.mark.parametrize(
    "labels",
    [
        {"i1": {"ok": {"scale_5": "true"}}, "i2": {"ok": {"scale_1": "false", "scale_2": "true"}}},
        {
            "i1": [[{"schema": "ok", "name": "scale_5"}, True]],
            "i2": [[{"schema": "ok", "name": "scale_2"}, "2"]],
        },
    ],
)
def test_the_state_of_an_annotator_of_potato_is_read_in_the_order_of_its_instances(tmp_path, labels):
    report = imported(potato_state(tmp_path, labels), "potato")
    assert report["judgments"] == 2
    judgments = Judgment.objects.order_by("trial__position").values_list("trial__position", "value")
    assert [value for _, value in judgments] == [2, 5]
    assert Participant.objects.get().identity.external_id == "ann"  # a name, hence in the vault


def test_a_state_of_potato_with_other_labels_is_refused_and_a_good_one_is_recognized(tmp_path):
    with pytest.raises(CommandError, match="row 1, column 'instance_id_to_label_to_value'"):
        imported(potato_state(tmp_path, {"i2": "good"}), "potato")
    with pytest.raises(CommandError, match="column 'user_id'"):
        imported(potato_state(tmp_path, {"i2": {"ok": {"1": "true"}}}, user_id=""), "potato")
    with pytest.raises(CommandError, match="If it is, import it with --format potato"):
        imported(potato_state(tmp_path, {"i2": {"ok": {"1": "true"}}}), "auto")


@pytest.mark.parametrize("name", ["potato.tsv", "qualtrics.csv", "potato.tsv.gz", "label-studio.json"])
def test_a_large_file_is_recognized_by_its_beginning(tmp_path, monkeypatch, name):
    monkeypatch.setattr(presets, "HEAD_BYTES", 1500)
    monkeypatch.setattr(jobs, "HEAD_BYTES", 1500)
    source = EXPORTS / name.removesuffix(".gz")
    content = source.read_bytes()
    if source.suffix == ".json":
        content = b"[" + b",".join([content.strip()[1:-1]] * 40) + b"]"
    else:
        content += content.splitlines(keepends=True)[-1] * 400
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    format, reason = presets.recognized_format(path, SourceOptions())
    assert (format, reason[:18]) == (source.stem, "it has the columns")


def test_the_upload_is_recognized_from_its_first_bytes(ada, tmp_path, monkeypatch):
    monkeypatch.setattr(presets, "HEAD_BYTES", 300)
    monkeypatch.setattr(jobs, "HEAD_BYTES", 300)
    path = tmp_path / "potato.tsv"
    path.write_text((EXPORTS / "potato.tsv").read_text() + "cy\ti2\tThe boy leave.\t1\t\t\t\t\n" * 50)
    lengths = []
    recognized = jobs.recognized_format
    monkeypatch.setattr(
        jobs,
        "recognized_format",
        lambda path, options: lengths.append(path.stat().st_size) or recognized(path, options),
    )
    page = ada.get(send(ada, path))
    assert page.context["form"]["format"].value() == "potato"
    assert lengths == [300]


def test_line_ends_within_quotation_marks_and_wide_characters_are_no_place_to_cut():
    assert presets._whole_lines(b'a,b\n1,"x\ny') == b"a,b\n"
    assert presets._whole_lines("a,b\n1,2\n3".encode("utf-16")) == "a,b\n1,2\n".encode("utf-16")


def test_unanswered_rounds_of_otree_are_missing_unless_a_dropout_never_saw_them(tmp_path):
    # oTree 6.0.15, wide: a field that was not answered is empty, as is one of a page that was not reached
    head = "participant.code,participant._index_in_pages,participant._max_page_index"
    head += "".join(f",app.{n}.player.item,app.{n}.player.rating" for n in (1, 2, 3))
    rows = ["a,3,3,1,6,2,,3,2", "b,2,3,1,,2,5,3,", "c,3,3,1,6,2,3,3,"]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([head, *rows]))
    assert imported(path, "otree")["missing"] == 3
    trials = Trial.objects.filter(judgment__status="missing").order_by("session__pk", "position")
    assert [(trial.session.status, trial.position) for trial in trials] == [
        ("complete", 2),
        ("abandoned", 1),
        ("complete", 3),
    ]
    assert Trial.objects.filter(session__status="abandoned").count() == 2
