"""Prolific's demographic export: rows of submissions, and their answers joined to an imported file."""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from analysis.errors import BadInput
from analysis.text import plural
from judgments.imports.readers.base import JudgmentFile
from judgments.imports.readers.cells import whole_number

PREFIX = "prolific_"
SUBMISSION_COLUMNS = ("submission id", "session id")
PERSON_COLUMNS = ("participant id", "prolific pid")
#: Columns about the submission, and such that tell who a person is.
LEFT_OUT = {
    *SUBMISSION_COLUMNS,
    *PERSON_COLUMNS,
    *("status", "started at", "completed at", "reviewed at", "archived at", "time taken"),
    *("completion code", "custom study tncs accepted at", "total approvals", "study id"),
}
#: Cells of answers that Prolific withholds: too old, or the participant took the consent back.
EXPIRED, REVOKED = "data_expired", "consent_revoked"
MISSING = {"", EXPIRED, REVOKED}
#: Submissions that ended without an answer; another one of the same person counts.
ENDED_EARLY = {"returned", "timed_out", "screened_out"}
PROLIFIC_ID = re.compile(r"[0-9a-f]{24}")
MAX_BYTES = 2_000_000  # larger uploads are stored in a temporary file by Django
MAX_ROWS, MAX_COLUMNS = 20_000, 60
LONGEST_ANSWER, LONGEST_NAME, LONGEST_STATUS = 200, 60, 20
MAX_LISTED_ROWS = 10


@dataclass(frozen=True)
class ExportRow:
    """One submission: its ids, its state and the answers that are not withheld."""

    row: int
    submission: str
    person: str
    answers: Mapping[str, str]
    status: str = ""
    time_taken_s: int | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    n_expired: int = 0
    n_revoked: int = 0


@dataclass(frozen=True)
class DemographicExport:
    """Rows of an export, with the labels of the columns of answers by their names."""

    file: str
    labels: Mapping[str, str]
    rows: Sequence[ExportRow] = field(default_factory=tuple)


def read_demographic_export(content: bytes, *, file: str = "") -> DemographicExport:
    """Read a demographic export in memory; ids are in no answer, whatever its column is called."""
    header, rows = _table(content, file)
    names = [_lower_label(label) for label in header]
    submission_at = next((names.index(name) for name in SUBMISSION_COLUMNS if name in names), None)
    person_at = next((names.index(name) for name in PERSON_COLUMNS if name in names), None)
    if submission_at is None and person_at is None:
        raise BadInput(
            "the file has neither a column “Submission id” nor “Participant id”.",
            file=file,
            remedy="On Prolific open the study, then More, Export demographic data, and take that file.",
        )
    labels = {
        answer_name(label): label.strip()
        for label in header
        if _lower_label(label) not in LEFT_OUT and label.strip()
    }
    if not labels:
        raise BadInput(
            "the file has no column with answers.", file=file, remedy="Export the demographic data."
        )
    parsed = []
    for number, row in rows:
        submission = row[submission_at].strip() if submission_at is not None else ""
        person = row[person_at].strip() if person_at is not None else ""
        cells = {name: cell.strip() for name, cell in zip(names, row, strict=True)}
        texts = {
            answer_name(label): cell.strip()[:LONGEST_ANSWER]
            for label, cell in zip(header, row, strict=True)
            if answer_name(label) in labels
        }
        ids = {submission, person} - {""}
        parsed.append(
            ExportRow(
                number,
                submission,
                person,
                {
                    name: text
                    for name, text in texts.items()
                    if text.casefold() not in MISSING and not any(identifier in text for identifier in ids)
                },
                status=status_name(cells.get("status", "")),
                time_taken_s=_seconds(cells.get("time taken", ""), row=number, file=file),
                started_at=_time(cells.get("started at", "")),
                completed_at=_time(cells.get("completed at", "")),
                n_expired=sum(text.casefold() == EXPIRED for text in texts.values()),
                n_revoked=sum(text.casefold() == REVOKED for text in texts.values()),
            )
        )
    return DemographicExport(file, labels, tuple(parsed))


def answer_name(label: str) -> str:
    """Return the name of a column in a participant's background.

    Examples
    --------
    >>> answer_name("Country of birth")
    'prolific_country_of_birth'
    """
    return PREFIX + re.sub(r"\W+", "_", label.casefold()).strip("_")[:LONGEST_NAME]


def status_name(text: str) -> str:
    """Return a submission's status as it is stored elsewhere; empty where it is withheld.

    Examples
    --------
    >>> status_name("AWAITING REVIEW"), status_name("TIMED-OUT"), status_name("CONSENT_REVOKED")
    ('awaiting_review', 'timed_out', '')
    """
    name = re.sub(r"[^a-z]+", "_", text.casefold()).strip("_")
    return "" if name in MISSING else name[:LONGEST_STATUS]


def _seconds(text: str, *, row: int, file: str) -> int | None:
    if text.casefold() in MISSING:
        return None
    seconds = whole_number(text.partition(".")[0])
    if seconds is None:
        raise BadInput(
            f"{text!r} is no number of seconds.",
            file=file,
            row=row,
            column="Time taken",
            remedy="Take the file as Prolific exported it.",
        )
    return seconds


def _time(text: str) -> datetime | None:
    """Return a time of the export as UTC; None where there is none or it is withheld."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _table(content: bytes, file: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    if len(content) > MAX_BYTES:
        raise BadInput("the file is larger than 2 MB.", file=file, remedy="Export fewer submissions at once.")
    unchanged = "Take the file as Prolific exported it."
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("the file is not UTF-8.", file=file, remedy=unchanged) from None
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        lines = [(number, row) for number, row in enumerate(reader, start=1) if any(row)]
    except csv.Error:
        raise BadInput("the file is no CSV.", file=file, remedy=unchanged) from None
    if len(lines) < 2:
        raise BadInput("the file has no rows.", file=file, remedy="Export it after people have submitted.")
    (_, header), rows = lines[0], lines[1:]
    if len(rows) > MAX_ROWS or len(header) > MAX_COLUMNS:
        raise BadInput(
            f"the file has more than {MAX_ROWS:,} rows or {MAX_COLUMNS} columns.",
            file=file,
            remedy="Export fewer submissions at once.",
        )
    names = [answer_name(label) for label in header]
    if duplicates := {name for name in names if names.count(name) > 1}:
        label = min(duplicates).removeprefix(PREFIX)
        raise BadInput(f"two columns are called “{label}”.", file=file, remedy=unchanged)
    for number, row in rows:
        if len(row) != len(header):
            raise BadInput(
                f"row {number} has {len(row)} cells, and the header has {len(header)}.",
                file=file,
                row=number,
                remedy=unchanged,
            )
    return header, rows


def _lower_label(label: str) -> str:
    return " ".join(label.split()).casefold().replace("_", " ")


def join_demographics(read: JudgmentFile, export: DemographicExport) -> JudgmentFile:
    """Join an export to the participants and sessions of a file of judgments.

    A row belongs to the session that has its submission id, else to the participant that has its participant
    id. Answers become part of the participant's background; the status, the time taken and the times of the
    submission fill gaps of the session. Messages name rows, never ids.
    """
    people = set(read.participants["participant"])
    owner = dict(zip(read.sessions["session"], read.sessions["participant"], strict=True))
    rows_of: dict[str, list[ExportRow]] = defaultdict(list)
    elsewhere, contradictory = [], []
    for row in export.rows:
        by_session = owner.get(row.submission, "")
        if by_session and row.person and row.person != by_session and PROLIFIC_ID.fullmatch(by_session):
            contradictory.append(row.row)
        elif by_session or row.person in people:
            rows_of[by_session or row.person].append(row)
        else:
            elsewhere.append(row.row)
    if not rows_of:
        raise BadInput(
            f"no row of {export.file} is of a participant of {read.file}.",
            file=export.file,
            column="Participant id",
            remedy="Map participant to the column of the file that has Prolific's participant ids.",
        )
    answers, differing = _merge_answers(rows_of, export.labels)
    sessions, unclear, contradicted = _with_submissions(read, rows_of)
    background = [
        {**(stored or {}), **answers.get(person, {})}
        for person, stored in zip(
            read.participants["participant"], read.participants["background"], strict=True
        )
    ]
    firsts = read.judgments.groupby("session")["row"].min()
    absent = [
        int(firsts[session])
        for session, person in zip(read.sessions["session"], read.sessions["participant"], strict=True)
        if person not in rows_of and session in firsts.index
    ]
    n_absent = len(people - set(rows_of))
    n_expired, n_revoked = (
        sum(getattr(row, name) for rows in rows_of.values() for row in rows)
        for name in ("n_expired", "n_revoked")
    )
    source, other = export.file, read.file
    questions = f"{plural(len(export.labels), 'question')} ({', '.join(export.labels.values())})"
    notes = [
        f"{source}: answers to {questions} joined to {len(rows_of)} of {plural(len(people), 'participant')}",
        *([f"expired at Prolific, left empty: {plural(n_expired, 'answer')}"] if n_expired else []),
        *([f"consent taken back, left empty: {plural(n_revoked, 'answer')}"] if n_revoked else []),
    ]
    warnings = [
        *_list_rows(f"without a match in {other}, not joined", elsewhere, source),
        *_list_rows(f"naming two participants of {other}, not joined", contradictory, source),
        *_list_rows(f"not in {source}, {plural(n_absent, 'participant')}", absent, other),
        *_list_rows("different answers of one participant, left empty", differing, source),
        *_list_rows(
            "several submissions or sessions of one participant, status and times not taken", unclear, source
        ),
        *_list_rows(f"another status than in {other}, which is kept", contradicted, source),
    ]
    return replace(
        read,
        participants=read.participants.assign(background=pd.Series(background, dtype=object).array),
        sessions=sessions,
        notes=(*read.notes, *notes),
        warnings=(*read.warnings, *warnings),
        demographics={
            "file": export.file,
            "columns": list(export.labels),
            "rows": len(export.rows),
            "participants": len(rows_of),
            "rows_not_joined": [*elsewhere, *contradictory],
            "expired": n_expired,
            "consent_revoked": n_revoked,
        },
    )


def _list_rows(what: str, rows: Iterable[int], file: str) -> list[str]:
    """Return a message that names the first rows; none without rows."""
    numbers = sorted(rows)
    if not numbers:
        return []
    listed = ", ".join(map(str, numbers[:MAX_LISTED_ROWS])) + (" …" if len(numbers) > MAX_LISTED_ROWS else "")
    return [f"{what}: {plural(len(numbers), 'row')} of {file} ({listed})"]


def _merge_answers(
    rows_of: Mapping[str, Sequence[ExportRow]], labels: Mapping[str, str]
) -> tuple[dict[str, dict[str, str]], list[int]]:
    """Return the answers of each participant, and the rows whose answers differ."""
    answers: dict[str, dict[str, str]] = {}
    differing: set[int] = set()
    for person, rows in rows_of.items():
        answers[person] = {}
        for name in labels:
            texts = {row.answers[name] for row in rows if name in row.answers}
            if len(texts) == 1:
                answers[person][name] = texts.pop()
            elif texts:
                differing |= {row.row for row in rows if name in row.answers}
    return answers, sorted(differing)


def _with_submissions(
    read: JudgmentFile, rows_of: Mapping[str, Sequence[ExportRow]]
) -> tuple[pd.DataFrame, list[int], list[int]]:
    """Return the sessions with what the export tells of them, and rows that are unclear or contradict."""
    records = read.sessions.astype(object).to_dict("records")
    n_sessions = read.sessions["participant"].value_counts().to_dict()
    unclear: set[int] = set()
    contradicted: list[int] = []
    for record in records:
        rows = rows_of.get(record["participant"], ())
        of_session = [row for row in rows if row.submission == record["session"]]
        of_person = [row for row in rows if row.status not in ENDED_EARLY] if len(rows) > 1 else list(rows)
        if len(of_session) != 1 and (len(of_person) != 1 or n_sessions[record["participant"]] > 1):
            unclear |= {row.row for row in rows}
            continue
        (row,) = of_session or of_person
        if record["submission_status"] and row.status and record["submission_status"] != row.status:
            contradicted.append(row.row)
        record["submission_status"] = record["submission_status"] or row.status
        for name, value in (
            ("work_time_s", row.time_taken_s),
            ("started_at", row.started_at),
            ("completed_at", row.completed_at),
        ):
            if value is not None and _is_gap(record[name]):
                record[name] = value
    sessions = read.sessions.copy()
    for name in ("submission_status", "work_time_s", "started_at", "completed_at"):
        cells = [record[name] for record in records]
        sessions[name] = pd.Series(cells, index=sessions.index, dtype=object)
    return sessions, sorted(unclear), contradicted


def _is_gap(value: Any) -> bool:
    return value is None or value != value  # NaN and NaT are not equal to themselves
