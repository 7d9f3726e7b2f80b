"""Prolific's demographic export is joined to an import by command and page; ids stay in the vault."""

import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, Job, Upload
from experiments.operation import job_runner
from judgments.imports.readers.prolific import read_demographic_export
from judgments.models import Participant, PlatformIdentity, Session

pytestmark = pytest.mark.django_db
ANN, BO, CY, DEE = (f"{letter * 8}0123456789abcdef" for letter in "abcd")
HEADER = "Submission id,Participant id,Status,Started at,Completed at,Time taken,Age,First language"


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


def judgments(folder, *people, name="ratings.csv", extra="", cells=()):
    """A table with two judgments of each participant."""
    rows = [f"participant,item,sentence,value{extra}"]
    for place, person in enumerate(people):
        more = cells[place] if cells else ""
        rows += [f"{person},1,It rains.,{5 + place % 2}{more}", f"{person},2,It rain.,{1 + place % 2}{more}"]
    path = folder / name
    path.write_text("\n".join(rows) + "\n")
    return path


def export(folder, *rows):
    path = folder / "prolific.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


def line(person, *, submission="s1", status="APPROVED", seconds="300", age="30", language="English"):
    times = "2026-01-02T10:00:00.000000Z,2026-01-02T10:05:00.000000Z"
    return f"{submission},{person},{status},{times},{seconds},{age},{language}"


def imported(path, demographics=None, **options):
    out = StringIO()
    options = {"json": True, "demographics": demographics, **options}
    call_command("import_judgments", path, experiment="ratings", format="table", stdout=out, **options)
    return json.loads(out.getvalue())


def person(identifier):
    vault = PlatformIdentity.objects.select_related("participant")
    return next(row.participant for row in vault if row.external_id == identifier)


def test_answers_status_and_time_are_joined_by_the_participants_id(tmp_path):
    rows = line(ANN), line(BO, submission="s2", status="AWAITING REVIEW", seconds="61", age="41")
    report = imported(judgments(tmp_path, ANN, BO), export(tmp_path, *rows))
    assert person(ANN).background == {"prolific_age": "30", "prolific_first_language": "English"}
    assert person(BO).background["prolific_age"] == "41"
    sitting = person(BO).sessions.get()
    assert (sitting.submission_status, sitting.work_time_s) == ("awaiting_review", 61)
    assert sitting.started_at.isoformat() == "2026-01-02T10:00:00+00:00"
    assert (sitting.completed_at - sitting.started_at).seconds == 300
    assert report["demographics"]["participants"] == 2 and report["demographics"]["rows_not_joined"] == []
    assert not [warning for warning in report["warnings"] if "prolific.csv" in warning]


def test_ids_are_in_the_vault_only(tmp_path):
    with_id = line(ANN, language=f"English ({ANN})")
    report = imported(judgments(tmp_path, ANN, BO), export(tmp_path, with_id, line(CY, submission="s9")))
    assert person(ANN).background == {"prolific_age": "30"}
    entry = AuditEntry.objects.get(action="judgments imported")
    stored = json.dumps([report, entry.details, list(Participant.objects.values("pseudonym", "background"))])
    for identifier in (ANN, BO, CY, "s9"):
        assert identifier not in stored
    assert entry.details["demographics"]["participants"] == 1
    assert {row.external_id for row in PlatformIdentity.objects.all()} == {ANN, BO}


def test_rows_and_participants_that_do_not_match_are_counted_and_named(tmp_path):
    rows = line(CY, submission="s7"), line(ANN), line(DEE, submission="s8")
    warnings = imported(judgments(tmp_path, ANN, BO), export(tmp_path, *rows))["warnings"]
    assert "without a match in ratings.csv, not joined: 2 rows of prolific.csv (2, 4)" in warnings
    assert "not in prolific.csv, 1 participant: 1 row of ratings.csv (4)" in warnings


def test_answers_that_prolific_withholds_are_left_empty_and_counted(tmp_path):
    rows = line(ANN, age="CONSENT_REVOKED"), line(BO, submission="s2", age="DATA_EXPIRED", language="")
    report = imported(judgments(tmp_path, ANN, BO), export(tmp_path, *rows))
    assert person(ANN).background == {"prolific_first_language": "English"} and person(BO).background == {}
    assert "expired at Prolific, left empty: 1 answer" in report["notes"]
    assert "consent taken back, left empty: 1 answer" in report["notes"]


def test_a_revoked_status_or_time_is_a_gap(tmp_path):
    row = line(ANN, status="CONSENT_REVOKED", seconds="CONSENT_REVOKED")
    imported(judgments(tmp_path, ANN), export(tmp_path, row))
    sitting = person(ANN).sessions.get()
    assert (sitting.submission_status, sitting.work_time_s) == ("", None)


def test_a_returned_submission_before_the_one_that_counts_is_no_conflict(tmp_path):
    rows = line(ANN, status="RETURNED", seconds="9"), line(ANN, submission="s2", seconds="200")
    report = imported(judgments(tmp_path, ANN), export(tmp_path, *rows))
    assert person(ANN).sessions.get().work_time_s == 200 and not report["warnings"]


def test_submissions_that_contradict_each_other_are_named(tmp_path):
    rows = line(ANN), line(ANN, submission="s2", age="31", seconds="9")
    warnings = imported(judgments(tmp_path, ANN), export(tmp_path, *rows))["warnings"]
    assert person(ANN).background == {"prolific_first_language": "English"}
    assert person(ANN).sessions.get().submission_status == ""
    assert any("different answers" in warning and "(2, 3)" in warning for warning in warnings)
    assert any("several submissions" in warning for warning in warnings)


def test_a_row_is_joined_by_its_submission_where_sessions_are_named_so(tmp_path):
    path = judgments(tmp_path, "P1", "P2", extra=",session", cells=(",s1", ",s2"))
    imported(path, export(tmp_path, line(ANN), line(BO, submission="s2", age="41")))
    ages = {row.pseudonym: row.background["prolific_age"] for row in Participant.objects.all()}
    assert ages == {"P1": "30", "P2": "41"} and not PlatformIdentity.objects.exists()


def test_a_submission_of_one_and_an_id_of_another_participant_are_not_joined(tmp_path):
    path = judgments(tmp_path, ANN, BO, extra=",session", cells=(",s1", ",s2"))
    report = imported(path, export(tmp_path, line(BO, submission="s1"), line(BO, submission="s2")))
    assert person(ANN).background == {}
    assert (
        "naming two participants of ratings.csv, not joined: 1 row of prolific.csv (2)"
        in (report["warnings"])
    )
    assert report["demographics"]["rows_not_joined"] == [2]


def test_a_status_of_the_file_is_kept_and_the_contradiction_named(tmp_path):
    path = judgments(tmp_path, ANN, extra=",submission_status", cells=(",rejected",))
    report = imported(path, export(tmp_path, line(ANN)))
    assert person(ANN).sessions.get().submission_status == "rejected"
    assert any("another status" in warning for warning in report["warnings"])


def test_importing_again_with_the_export_adds_answers_to_stored_participants(tmp_path):
    path = judgments(tmp_path, ANN, BO)
    imported(path)
    report = imported(path, export(tmp_path, line(ANN)))
    assert person(ANN).background["prolific_age"] == "30" and person(BO).background == {}
    assert Session.objects.count() == 2 and report["added"]["sessions"] == 0
    assert "demographics replaced: 1 stored participant" in report["notes"]
    person(BO)
    again = imported(path, export(tmp_path, line(ANN)))
    assert not [note for note in again["notes"] if "replaced" in note]


def test_a_dry_run_stores_nothing(tmp_path):
    imported(judgments(tmp_path, ANN), export(tmp_path, line(ANN)), dry_run=True)
    assert not Participant.objects.exists()


def test_an_export_of_other_people_is_refused_and_nothing_is_stored(tmp_path):
    with pytest.raises(CommandError, match=r"prolific.csv.*Participant id.*no row .* Map participant"):
        imported(judgments(tmp_path, ANN), export(tmp_path, line(BO)))
    assert not Experiment.objects.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n", "neither a column"),
        (b"Participant id,Age\n1\n", "1 cells"),
        (b"Participant id,Time taken,Age\nx,soon,3\n", "'soon' is no number of seconds"),
        (b"Participant id,Age\n", "no rows"),
        (b"Participant id,Age,age\nx,1,2\n", "two columns"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_other_files_are_refused_by_name(content, message):
    with pytest.raises(BadInput, match=message) as error:
        read_demographic_export(content, file="prolific.csv")
    assert "prolific.csv" in str(error.value) and error.value.remedy


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CommandError, match="cannot be read"):
        imported(judgments(tmp_path, ANN), tmp_path / "absent.csv")


def test_the_page_takes_the_export_beside_the_file_and_deletes_both(ada, tmp_path):
    path, demographics = judgments(tmp_path, ANN, BO), export(tmp_path, line(ANN), line(CY, submission="s3"))
    sent = {
        "experiment": "ratings",
        "format": "table",
        "file": SimpleUploadedFile(path.name, path.read_bytes()),
        "demographics": SimpleUploadedFile(demographics.name, demographics.read_bytes()),
    }
    address = ada.post("/judgments/import/", sent).url
    page = ada.get(address).content.decode()
    assert "demographic export prolific.csv" in page
    assert "Without a match in ratings.csv, not joined: 1 row of prolific.csv (3)" in page and CY not in page
    chosen = {"experiment": "ratings", "format": "table", "action": "import"}
    job = Job.objects.get(pk=int(ada.post(address, chosen).url.rstrip("/").split("/")[-1]))
    job_runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error
    assert person(ANN).background["prolific_age"] == "30"
    assert not Upload.objects.exists()


def test_a_bad_export_is_explained_on_the_page(ada, tmp_path):
    path = judgments(tmp_path, ANN)
    sent = {
        "experiment": "ratings",
        "format": "table",
        "file": SimpleUploadedFile(path.name, path.read_bytes()),
        "demographics": SimpleUploadedFile("wrong.csv", b"a,b\n1,2\n"),
    }
    page = ada.get(ada.post("/judgments/import/", sent).url)
    assert page.status_code == 200 and "wrong.csv" in page.content.decode()
    assert "neither a column" in page.content.decode()
