"""Study templates: exported, looked at, imported; bad files name their line and store nothing."""

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from analysis.errors import BadInput
from experiments.models import Design, Experiment, MaterialSet, Membership
from experiments.studies.lifecycle import open_study
from releases.gold.plans import current_plan_row, set_current_plan, write_plan
from releases.models import ExclusionPlan
from releases.study_templates.create import built_in_file, built_in_names, create_from_template, read_template
from releases.study_templates.document import MAX_BYTES, parse_document, write_document
from releases.study_templates.export import DESIGN_FIELDS, LEFT_OUT_FIELDS, STUDY_FIELDS, build_template
from tests import cast

pytestmark = pytest.mark.django_db
SECRETS = {
    "contact": "ada@secret.example",
    "completion_code": "SECRET-1",
    "completion_url": "https://secret.example/{code}",
    "screen_out_code": "SECRET-2",
    "partial_code": "SECRET-3",
    "reward_minor": 987654,
}
START = "obelus_template: 1\nstudy:\n  title: A\n  task: likert\n"


def planned_study(**fields):
    """A study with texts, trials, quotas, a design and a current exclusion plan."""
    catch = [{"text": "The “dog” ran: yes\nor no # really?", "correct": [5, 7]}]
    question = {"name": "age", "label": "Age?", "type": "number"}
    quotas = [{"question": "age", "answer": "18-29", "limit": 3}]
    study = cast.draft(
        task="likert", parameters={"points": 5}, language="de", catch_trials=[], questionnaire=[question],
        quotas=quotas, public_title="Umfrage", **{**SECRETS, **fields},
    )  # fmt: skip
    study.parameters, study.catch_trials = {"points": 7}, catch
    study.save()
    Design.objects.create(experiment=study, kind="latin_square", n_lists=2, trials_per_block=7, seed=11)
    steps = [
        {"name": "catch", "scope": "participant", "rule": "catch_failed", "parameters": {"max_errors": 1}}
    ]
    write_plan(study, "careful", steps=steps, user=cast.ada())
    set_current_plan(study, "careful", user=cast.ada())
    study.refresh_from_db()  # PostgreSQL stores the keys of JSON in an order of its own
    return study


def refusal(text, **options) -> str:
    with pytest.raises(BadInput) as caught:
        read_template(text, file="a.obelus.yaml", user=cast.ada(), **options)
    return str(caught.value)


def test_every_setting_of_a_study_is_carried_or_left_out_on_purpose():
    names = {field.name for field in Experiment._meta.concrete_fields}
    assert names == {*STUDY_FIELDS, *LEFT_OUT_FIELDS}
    assert not {*STUDY_FIELDS} & {*LEFT_OUT_FIELDS}
    names = {field.name for field in Design._meta.concrete_fields}
    assert names - {*DESIGN_FIELDS} == {"id", "experiment", "left_out", "filler_materials"}


def test_a_study_survives_export_and_import():
    study = planned_study()
    text = build_template(study)
    template = read_template(text, file="x", user=cast.cleo())
    copy = create_from_template(template, cast.cleo())
    for name in STUDY_FIELDS:
        assert getattr(copy, name) == getattr(study, name), name
    for name in DESIGN_FIELDS:
        assert getattr(copy.design, name) == getattr(study.design, name), name
    assert current_plan_row(copy).steps == current_plan_row(study).steps
    assert copy.owner == cast.cleo()
    assert copy.memberships.get().role == Membership.Role.OWNER
    assert copy.materials != study.materials  # of a stranger to the first set
    assert copy.materials.owner == cast.cleo()
    members = "key", "condition", "text", "expected", "item__key", "item__paradigm__phenomenon__name"
    assert list(copy.materials.sentences.values_list(*members)) == list(
        study.materials.sentences.values_list(*members)
    )
    pairs = "key", "good__key", "bad__key", "paradigm__name"
    assert list(copy.materials.pairs.values_list(*pairs)) == list(study.materials.pairs.values_list(*pairs))
    again = build_template(copy)
    assert parse_document(again, file="x").section("study") == parse_document(text, file="x").section("study")
    assert not template.left_out


def test_an_exported_file_has_no_people_money_codes_or_addresses():
    study = cast.study(task="likert", parameters={"points": 7}, **SECRETS)
    cast.sit(study, "pia")
    text = build_template(study)
    assert "secret" not in text.lower()
    for word in ("987654", "pia", "ada", study.public_slug or "¬", "reward", "currency"):
        assert word not in text


def test_materials_of_the_same_content_are_used_again():
    template = read_template(built_in_file("likert-island"), file="x", user=cast.ada())
    first = create_from_template(template, cast.ada())
    template = read_template(built_in_file("likert-island"), file="x", user=cast.ada())
    assert "has the same content" in " ".join(template.summary()["makes"])
    assert create_from_template(template, cast.ada()).materials == first.materials
    of_cleo = read_template(built_in_file("likert-island"), file="x", user=cast.cleo())
    materials = create_from_template(of_cleo, cast.cleo()).materials
    assert (materials.name, materials.checksum) == (f"{first.materials.name} (2)", first.materials.checksum)


def test_materials_that_are_not_in_the_file_are_those_of_the_user_or_left_out():
    text = build_template(planned_study(), with_materials=False)
    assert "sentences:" not in text
    assert read_template(text, file="x", user=cast.ada()).materials.existing is not None
    template = read_template(text, file="x", user=cast.cleo())
    assert template.materials is None
    assert template.left_out == [
        "The materials “agreement” are not in the file: choose a set in the settings."
    ]
    assert create_from_template(template, cast.cleo()).materials is None


@pytest.mark.parametrize("name", built_in_names())
def test_a_built_in_template_makes_a_study_that_opens(name):
    template = read_template(built_in_file(name), file=name, user=cast.ada())
    study = create_from_template(template, cast.ada(), title="Mine")
    assert (study.title, template.left_out) == ("Mine", [])
    study.contact = "ada@example.org"
    study.save()
    open_study(study, cast.ada())
    assert study.lists.count() == study.design.n_lists
    assert study.consent
    assert study.practice
    assert study.catch_trials
    assert current_plan_row(study).version == 1


@pytest.mark.parametrize(
    "text, place, remedy",
    [
        ("title: A", "is no study template", "obelus_template: 1"),
        ("obelus_template: 2\nstudy: {}", "row 1: has the format 2", "Update"),
        (START + "  consent: [", "row 6: is no YAML", "Correct the line"),
        (START + "  title: B\n", "row 5: 'title' is there twice", "Remove it"),
        (START + "  consent: &a Hello\n", "row 5: anchors", "Write it out"),
        (START + "  consent: !!python/object/apply:os.system [ls]\n", "row 5: the type", "Remove the tag"),
        (START + "  consent: " + "[" * 50 + "]" * 50, "row 5: is nested", "Export"),
        (START + "  practice:\n    - {text: A, correct: 9}\n", "row 5, column 'study.practice'", "scale"),
        (START + "  lease_minutes: 0\n", "row 5, column 'study.lease_minutes'", "Correct"),
        (START.replace("likert", "nothing"), "row 4, column 'study.task'", "Correct"),
        (START + "  quotas:\n    - {question: a}\n", "row 6, column 'study.quotas.1'", "limit"),
        (START + "design:\n  n_lists: 0\n", "row 6, column 'design.n_lists'", "Correct"),
        (START + "design:\n  rounds: [3]\n", "row 6, column 'design.rounds'", "Write"),
        (START + "design:\n  constraints: {no_adjacent: 4}\n", "column 'design.constraints'", "Export"),
        (START + "exclusion_plan: {steps: []}\n", "row 5, column 'exclusion_plan'", "remove"),
        (START + "exclusion_plan: {steps: [{rule: x}]}\n", "row 5, column 'exclusion_plan'", ""),
        (START + "materials:\n  sentences:\n    - {text: A}\n", "row 7, column 'materials", "Write a text"),
        (START + "? [a, b]\n: c\n", "row 5: a list or mapping is no name", "Remove it"),
        (START + "  lease_minutes: !!float ''\n", "row 5, column 'study.lease_minutes'", "Correct"),
        (START + "  lease_minutes: !!float '.'\n", "row 5, column 'study.lease_minutes'", "Correct"),
        (START + "materials: 7\n", "row 5, column 'materials': is no mapping", "Write"),
        (START + "  consent: \"\\0\"\n", "NUL", "Remove"),
        (b"obelus_template: 1\n\xff", "row 2: is not UTF-8", "UTF-8"),
        ("#" * (MAX_BYTES + 1), "has 1.0 MB", "without materials"),
    ],
)  # fmt: skip
def test_a_bad_file_names_its_line_and_a_remedy_and_stores_nothing(text, place, remedy):
    message = refusal(text)
    assert message.startswith("a.obelus.yaml")
    assert place in message
    assert remedy in message
    assert "\n" not in message
    assert not Experiment.objects.exists()


def test_sentences_and_pairs_are_checked():
    head = START + "materials:\n  name: M\n  sentences:\n    - {sentence_id: a, item: 1, text: A}\n"
    assert "is already used" in refusal(head + "    - {sentence_id: a, item: 1, text: B}\n")
    assert "unknown column 'colour'" in refusal(
        head + "    - {sentence_id: b, item: 1, text: B, colour: red}\n"
    )
    pair = "  pairs:\n    - {pair_id: p, good_id: a, bad_id: z}\n"
    assert "row 10, column 'materials.pairs.1': is no pair" in refusal(head + pair)
    factors = "  factors: [{name: f, levels: [x, y]}]\n"
    assert "has no level of a factor" in refusal(head + factors)


def test_words_and_dates_stay_text_and_unknown_parts_are_reported():
    text = START + "  consent: 2024-01-01\n  debrief: no\n  secret: 1\nplatform: {token: x}\n"
    template = read_template(text, file="x", user=cast.ada())
    assert (template.study["consent"], template.study["debrief"]) == ("2024-01-01", "no")
    assert template.left_out == ["“platform” is unknown.", "“study.secret” is no part of a template."]
    values = {
        "study": {
            "a": "no",
            "b": "1e5",
            "c": "0x1F",
            "d": "1:30",
            "e": 1e-7,
            "f": "~",
            "g": "a\nb ",
            "h": True,
        }
    }
    assert parse_document(write_document(values), file="x").section("study") == values["study"]


def test_nothing_is_half_written_when_a_late_step_fails():
    text = built_in_file("thermometer").decode().replace("name: ratings", "name: none")
    template = read_template(text, file="x", user=cast.ada())
    with pytest.raises(BadInput):
        create_from_template(template, cast.ada())
    counts = [model.objects.count() for model in (Experiment, MaterialSet, ExclusionPlan)]
    assert counts == [0, 0, 0]


def test_the_pages_lead_from_new_study_to_the_draft(ada):
    assert "/studies/new/template/" in ada.get("/studies/new/").content.decode()
    page = ada.get("/studies/new/template/").content.decode()
    assert "?template=likert-island" in page
    preview = ada.get("/studies/new/template/?template=likert-island").content.decode()
    assert "Seven-point ratings" in preview
    assert not Experiment.objects.exists()
    response = ada.post("/studies/new/template/", {"title": "Mine", "built_in": "likert-island"})
    study = Experiment.objects.get()
    assert response.url == f"/studies/{study.slug}/settings/"
    assert (study.title, study.owner) == ("Mine", cast.ada())


def test_an_uploaded_file_is_shown_escaped_and_then_created(ada):
    text = START.replace("title: A", "title: </textarea><script>x</script>")
    file = SimpleUploadedFile("a.obelus.yaml", text.encode())
    page = ada.post("/studies/new/template/", {"template": file})
    assert b"<script>x" not in page.content
    assert not Experiment.objects.exists()
    sent = {**page.context["values"], "text": page.context["values"]["text"].replace("\n", "\r\n")}
    ada.post("/studies/new/template/", sent)
    assert Experiment.objects.get().title == "</textarea><script>x</script>"


def test_a_refused_upload_shows_its_line(ada):
    file = SimpleUploadedFile("a.obelus.yaml", b"obelus_template: 1\nstudy: [")
    response = ada.post("/studies/new/template/", {"template": file})
    assert response.status_code == 400
    assert "a.obelus.yaml, row " in response.content.decode()
    assert ada.get("/studies/new/template/?template=nothing").status_code == 400


def test_members_export_and_strangers_and_visitors_do_not(client):
    study = planned_study()
    address = f"/studies/{study.slug}/template.obelus.yaml"
    assert client.get(address).status_code == 302
    assert client.get("/studies/new/template/").status_code == 302
    client.force_login(cast.cleo())
    assert client.get(address).status_code == 404
    client.force_login(cast.ben())
    response = client.get(address)
    assert response["Content-Disposition"] == 'attachment; filename="agreement.obelus.yaml"'
    assert response.content.decode() == build_template(study)
    assert b"sentences:" not in client.get(f"{address}?materials=no").content
    assert address in client.get(f"/studies/{study.slug}/").content.decode()


def api(user, *scopes) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {cast.token(user, scopes=scopes)}")
    return client


def test_the_api_exports_previews_and_creates():
    study = planned_study()
    assert api(cast.cleo(), "read").get(f"/api/v1/studies/{study.slug}/template/").status_code == 404
    text = api(cast.ben(), "read").get(f"/api/v1/studies/{study.slug}/template/").content.decode()
    assert text == build_template(study)
    client = api(cast.cleo(), "read", "write")
    names = [row["name"] for row in client.get("/api/v1/study-templates/").json()]
    assert names == built_in_names()
    body = {"template": text, "title": "New", "dry_run": True}
    preview = client.post("/api/v1/study-templates/", body, format="json")
    assert (preview.status_code, preview.json()["study"]) == (200, None)
    made = client.post("/api/v1/study-templates/", {**body, "dry_run": False}, format="json")
    assert (made.status_code, made.json()["study"]["title"]) == (201, "New")
    bad = client.post("/api/v1/study-templates/", {"template": "x"}, format="json")
    assert bad.status_code == 422
    assert client.post("/api/v1/study-templates/", {}, format="json").status_code == 422
    reading = api(cast.cleo(), "read").post("/api/v1/study-templates/", body, format="json")
    assert reading.status_code == 403
    assert APIClient().get("/api/v1/study-templates/").status_code == 401


def test_the_commands_write_preview_and_create(tmp_path):
    study, path = planned_study(), tmp_path / "a.obelus.yaml"
    call_command("export_template", study.slug, to=str(path), stdout=io.StringIO())
    assert path.read_text() == build_template(study)
    out = io.StringIO()
    call_command("import_template", str(path), owner="ada", dry_run=True, stdout=out)
    assert "Nothing was stored." in out.getvalue()
    assert Experiment.objects.count() == 1
    out = io.StringIO()
    call_command("import_template", "thermometer", owner="ada", title="T", json=True, stdout=out)
    assert Experiment.objects.get(slug=json.loads(out.getvalue())["study"]).title == "T"
    path.write_text("other")
    with pytest.raises(CommandError, match="exists with other content"):
        call_command("export_template", study.slug, to=str(path))
    with pytest.raises(CommandError, match=r"a\.obelus\.yaml: is no study template"):
        call_command("import_template", str(path), owner="ada")
