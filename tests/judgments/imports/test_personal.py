"""Personal ids and answers in imported files: the vault, what is left out, and releases made before."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from experiments.models import Experiment
from judgments.imports.personal import id_platform, personal_kind
from judgments.models import Participant, PlatformIdentity, Trial
from releases.gold import storage
from releases.models import Release

pytestmark = pytest.mark.django_db
QUALTRICS = (
    "StartDate,Status,ResponseId,Q1_1,Q4,Q2,Q3\n"
    "Start Date,Response Type,Response ID,Please fill out - First name,Which dialect?,"
    "The cat sleeps. - ok?,The cat sleep. - ok?\n"
    + ",".join(
        f'"{{""ImportId"":""{name}""}}"'
        for name in ("startDate", "status", "_recordId", "QID1", "QID4", "QID2", "QID3")
    )
    + "\n2024-01-01,0,R_1aaaaaaaaaaaaaa,Wilhelmine,northern,7,2\n2024-01-01,17,R_2aaaaaaaaaaaaaa,Test,x,1,1\n"
)


@pytest.fixture
def imported(tmp_path):
    def call(text, *options):
        path = tmp_path / "data.csv"
        path.write_text(text)
        out = StringIO()
        call_command("import_judgments", str(path), "--experiment", "s", *options, stdout=out)
        return out.getvalue()

    return call


def table(people, **extra):
    head = "participant,item,condition,sentence,rating" + "".join(f",{name}" for name in extra)
    rows = [
        f'"{person}",{n},{condition},Sentence {n} {condition}.,{value}'
        + "".join(f",{cell}" for cell in extra.values())
        for person in people
        for n in range(2)
        for condition, value in (("a", 6), ("b", 2))
    ]
    return "\n".join([head, *rows])


def test_ids_that_identify_go_to_the_vault_and_are_named(imported):
    people = [
        "203.0.113.7",
        "2001:db8::17",
        "Anna Muster",
        "Wilhelmine",
        "R_1aaaaaaaaaaaaaa",
        "a@b.example",
        "p01",
    ]
    assert "go to the vault" in imported(table(people), "--format", "table")
    assert set(PlatformIdentity.objects.values_list("recruiter", flat=True)) == {
        "ip",
        "name",
        "qualtrics",
        "email",
    }
    assert set(Participant.objects.values_list("pseudonym", flat=True)) & set(people) == {"p01"}


def test_columns_that_identify_are_left_out_and_named(imported):
    said = imported(
        table(["p1"], addr="203.0.113.7", contact="x@y.example", first_name="Eva", verb="sleep"),
        "--format",
        "table",
    )
    assert all(
        name in said
        for name in ("addr (ip)", "contact (email)", "first_name", "stored with each trial: verb")
    )
    assert set(Trial.objects.first().attributes) == {"verb"}


def test_typed_answers_to_questions_of_qualtrics_belong_to_the_participant_or_are_left_out(imported):
    said = imported(QUALTRICS, "--format", "qualtrics", "--answers", "Q2", "Q3")
    assert "not stored, because they identify participants" in said and "First name" in said
    person = Participant.objects.get()
    assert list(person.background.values()) == ["northern"]
    assert set(Trial.objects.first().attributes) <= {"Status"}


def test_releases_made_before_are_checked(imported):
    imported(table(["p1"]), "--format", "table")
    tables = {
        "participants.csv": b"participant,age\n203.0.113.7,30\np2,31\n",
        "judgments.csv": b"participant,from\np2,x@y.example\n",
        "manifest.json": b"{}",
    }
    storage.store("s/1", tables)
    study = Experiment.objects.get()
    Release.objects.create(
        experiment=study,
        number=1,
        state="ready",
        sha256="0" * 64,
        storage_key="s/1",
        manifest={"files": list(tables)},
    )
    out = StringIO()
    with pytest.raises(CommandError, match="2 columns of releases identify participants"):
        call_command("check_releases", stdout=out)
    assert "participants.csv, column 'participant': ip" in out.getvalue()
    assert "judgments.csv, column 'from': email" in out.getvalue()


def test_addresses_with_ports_phones_and_names_without_capitals_are_personal():
    kinds = {
        "192.0.2.1:443": "ip",
        "[2001:db8::1]:80": "ip",
        "+49 170 1234567": "phone",
        "王小明": "name",
        "j.muster": "name",
        "0000-0002-1825-0097": "orcid",
        "https://social.example/ada": "address",
        "203.0.113.7, 10.0.0.1": "ip",
        "Anna <a@b.example>": "email",
        "(555) 123-4567": "phone",
        "김철수": "name",
        "anna muster 2": "name",
        "Group A 3": "",
        "s2063": "",
        "1234567890": "",
    }
    assert {name: id_platform(name) for name in kinds} == kinds


@pytest.mark.parametrize(
    ("people", "names"),
    [
        (["maria", "jonas"], {"maria", "jonas"}),
        (["anna-lena", "jean.luc", "maria_k", "ben1990"], {"anna-lena", "jean.luc", "maria_k", "ben1990"}),
        (["MARIA", "p02", "мария"], {"MARIA", "мария"}),
        (["p01", "anon3", "d41d8cd98f00b204", "pilot", "participant_a", "subjB"], set()),
        (["anna", "lena", "otto"], {"anna", "lena", "otto"}),
        (["lab12", "lab13", "lab114", "lab9"], set()),
    ],
)
def test_words_without_capitals_may_be_names_and_codes_are_not(imported, people, names):
    said = imported(table(people), "--format", "table")
    assert ("words that may be names" in said) is bool(names)
    assert (
        set(PlatformIdentity.objects.filter(recruiter="name").values_list("external_id", flat=True)) == names
    )
    assert set(Participant.objects.values_list("pseudonym", flat=True)) >= set(people) - names


def test_questions_about_the_person_are_recognized_in_other_languages(imported):
    text = QUALTRICS.replace("Please fill out - First name", "¿Cuál es su nombre?")
    assert "not stored, because they identify participants" in imported(
        text, "--format", "qualtrics", "--answers", "Q2", "Q3"
    )
    assert list(Participant.objects.get().background.values()) == ["northern"]


def test_numbers_that_a_lab_or_university_gives_are_left_out(imported):
    said = imported(table(["p1"], Matrikelnummer="12-345", sona_id="4711"), "--format", "table")
    assert "Matrikelnummer" in said.split("not stored")[1] and "sona_id" in said.split("not stored")[1]


def test_columns_of_details_are_known_by_their_question_in_several_languages():
    for column in ("DOB", "Wie heißt du?", "LocationLatitude", "Handynummer", "user name", "Signature"):
        assert personal_kind(column, ["x"]), column
    assert personal_kind("comment", ["write to a@b.example please", "none"]) == "email"
    for column in ("native language", "Name des Verbs", "condition name", "filename", "userAgent"):
        assert not personal_kind(column, ["Chrome/120.0.0.0", "sleep"]), column


def test_words_that_are_codes_are_kept_on_request_and_stored_decisions_stand(imported):
    said = imported(table(["kebu", "Rasi"]), "--format", "table", "--keep-names")
    assert "2 participants named by words that may be names: kept" in said
    assert set(Participant.objects.values_list("pseudonym", flat=True)) == {"kebu", "Rasi"}
    imported(table(["kebu", "mopo"]), "--format", "table")
    imported(table(["kebu", "mopo"]), "--format", "table", "--keep-names")
    assert Participant.objects.count() == 3
    assert PlatformIdentity.objects.get().external_id == "mopo"


def test_columns_about_the_person_are_kept_with_the_participant(imported):
    head = "participant,item,condition,sentence,rating,Age,nativeLanguage,noun_gender,L1,subject_age"
    rows = [
        f"p{person},{n},{condition},S {n} {condition}.,{value},{20 + person},Dutch,{condition},"
        f"{'nl' if person or n else 'en'},{n}"
        for person in range(3)
        for n in range(2)
        for condition, value in (("a", 6), ("b", 2))
    ]
    said = imported("\n".join([head, *rows]), "--format", "table")
    assert "note: Age, nativeLanguage: one value for each participant, kept with participants" in said
    assert "stored with participants: Age, nativeLanguage" in said
    assert "warning: L1: named like questions about the person, but with several answers" in said
    assert Participant.objects.get(pseudonym="p1").background == {"Age": "21", "nativeLanguage": "Dutch"}
    assert set(Trial.objects.first().attributes) == {"noun_gender", "L1", "subject_age"}


def test_a_factor_between_participants_stays_with_the_trials(imported):
    text = table(["p1", "p2"]).replace("rating\n", "rating,country\n")
    lines = [line + (",x" if line.startswith('"p1') else ",y") for line in text.splitlines()[1:]]
    text = "\n".join([text.splitlines()[0], *lines])
    said = imported(text, "--format", "table", "--map", "condition=condition+country")
    assert "stored with each trial: condition, country" in said


def test_addresses_and_telephone_numbers_typed_in_answers_are_personal():
    for text in (
        "12 Main Street, Springfield",
        "221B Baker Street, London NW1 6XE",
        "Hauptstraße 5, 10115 Berlin",
        "5 rue de la Paix, 75002 Paris",
        "Calle Mayor 3, Madrid",
        "123 Elm St, Ithaca, NY 14850",
        "Keizersgracht 1, 1015 AB Amsterdam",
        "PO Box 123, Ithaca",
    ):
        assert personal_kind("comments", ["no", text]) == "postal address", text
    for text in (
        "my number is 555-123-4567",
        "call me at 0171 2345678",
        "Tel.: 089/123456",
        "+49 (0)89 1234 5678",
    ):
        assert personal_kind("comments", ["no", text]) == "phone", text
    for text in (
        "5 dogs ran down the street",
        "I lived in Berlin 5 years",
        "2024-01-01 10:00:00",
        "1200 Words Read",
        "Mozilla/5.0 (X11; Linux x86_64)",
        "I have 10 cats, 1990 Dogs",
        "0.12345678",
    ):
        assert personal_kind("comments", [text]) == "", text
