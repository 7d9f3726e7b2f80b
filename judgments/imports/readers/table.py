"""Reader of long tables: one judgment per row, with our column names, their aliases or a mapping."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import BadInput, MissingColumns, list_names
from analysis.table_forms import media_columns
from experiments.materials.delimited import TOP_ROWS, UNNAMED, first_lines, line_below_title, table_from
from experiments.materials.encoding import Encoding, read_text
from experiments.materials.readers.dataset_folders import is_dataset
from experiments.materials.readers.sheets import check_parquet, is_json, json_sheet, read_sheet
from experiments.materials.readers.spreadsheets import is_spreadsheet, name_other_sheets, read_spreadsheet
from experiments.materials.readers.tool_files import (
    ToolFile,
    find_tool,
    find_tool_by_columns,
    has_columns,
    matching_columns,
    refuse_unreadable,
)
from experiments.materials.schema import (
    CONTEXT,
    NEAR_NAMES,
    Field,
    are_levels,
    expected_status,
    mapped_columns,
    near_columns,
    recognize_columns,
    simple_name,
)
from judgments.imports.readers.annotators import (
    PLACE,
    SET,
    answer_columns,
    answer_rows,
    count_rows,
    likely_counts,
    long_rows,
    people_columns,
    set_rows,
)
from judgments.imports.readers.answers import (
    BEST_WORST,
    LONGEST_LIKERT,
    Answers,
    Clues,
    Pairs,
    point_decimals,
    read_answers,
    read_marks,
    select_rows,
    stated_task,
)
from judgments.imports.readers.base import (
    ATTRIBUTE,
    BACKGROUND,
    JudgmentFile,
    Rows,
    SourceOptions,
    check_within_scale,
    participant_frame,
    refuse_empty,
    session_frame,
    trial_frame,
)
from judgments.imports.readers.cells import (
    agreed_answer,
    is_empty,
    parse_flag,
    parse_kinds,
    parse_numbers,
    share_texts,
    strip_cell,
    without_headers,
)
from judgments.imports.readers.shapes import OpenAnswer, as_text, differing_parts, without

# Two scales in one column: so many answers of each, so long, told apart by a column of so few levels.
MIN_OF_SCALE, LEAST_OF_LONG_SCALE, MOST_SCALES = 5, 50, 4
_FIELDS = (
    Field(
        "participant",
        "Pseudonym or platform id of the participant.",
        (
            "participant_id",
            "participantid",
            "subject",
            "subject_id",
            "worker",
            "workerid",
            "worker_id",
            "anoncode",
            "rater",
        ),
    ),
    Field(
        "session",
        "One participation; by default, the participant with the list.",
        ("session_id", "submission"),
    ),
    Field("list", "Presentation list.", ("survey", "list_id")),
    Field(
        "position",
        "Position of the trial in its session; by default, the order of the rows.",
        (
            "order",
            "presentationorder",
            "presentation_order",
            "trial_order",
            "trial_sequence_total",
            "trial_index",
        ),
    ),
    Field("kind", "target, filler, catch, practice or anchor.", ("item_type", "trial_kind")),
    Field("task", "Name of the task; one per file."),
    Field("item", "One lexicalization.", ("item_id", "itemid", "item_number")),
    Field("condition", "Cell of the design.", ("cond",)),
    Field(
        "sentence_id",
        "Name of the sentence; in forced choice, of the chosen one.",
        ("sent_id", "stimulus_id"),
    ),
    Field("sentence", "Text of the sentence.", ("text", "sentence_text", "stimulus")),
    Field(
        CONTEXT,
        "Text or dialogue above the sentence, or above both sentences.",
        ("preceding_context", "dialogue", "dialog", "context_text", "context_sentence"),
    ),
    Field(
        "expected",
        "The author's intended status.",
        ("acceptability", "acceptable", "grammatical", "grammaticality"),
    ),
    Field("paradigm", "Group of items of one contrast.", ("uid",)),
    Field("phenomenon", "Group of paradigms.", ("linguistics_term",)),
    Field("pair_id", "The minimal pair (forced choice).", ("pairid",)),
    Field("good", "Text of the acceptable member (forced choice).", ("sentence_good", "good_sentence")),
    Field("bad", "Text of the unacceptable member (forced choice).", ("sentence_bad", "bad_sentence")),
    Field("good_id", "sentence_id of the acceptable member (forced choice)."),
    Field("bad_id", "sentence_id of the unacceptable member (forced choice)."),
    Field(
        "first",
        "Text of the member shown first, with expected_first (forced choice).",
        ("first_sentence", "left_sentence"),
    ),
    Field("second", "Text of the member shown second.", ("second_sentence", "right_sentence")),
    Field("shown_first", "sentence_id of the member shown first (forced choice)."),
    Field("expected_first", "Whether the acceptable member was shown first (forced choice)."),
    Field(
        "value",
        "The answer on the scale; forced choice: 1 good member, 0 the other.",
        ("judgment", "judgement", "rating", "raw_judgment"),
    ),
    Field(
        "best",
        "Best–worst scaling: the best sentence of the set of the row.",
        ("best_item", "bestitem", "best_sentence"),
    ),
    Field("worst", "The worst sentence of the set.", ("worst_item", "worstitem", "worst_sentence")),
    Field("options", "Columns of the sentences of the set, joined by +."),
    Field("set", "The set, where each row is one of its sentences (best–worst scaling).", ("set_id",)),
    Field(
        "n_yes", "Counts: number of answers with yes (with the expected member), or 12 of 20.", ("yes_count",)
    ),
    Field("n_no", "Counts: number of answers with no.", ("no_count",)),
    Field("n_answers", "Counts: number of all answers.", ("n_judgments", "n_responses")),
    Field("response", "The answer as recorded; used as the value where there is no value column."),
    Field("correct", "Whether a catch or practice trial was answered as intended."),
    Field("rt_ms", "From onset to answer, in ms.", ("rt", "reaction_time", "reaction_time_ms")),
    Field("modulus", "Number given to the reference sentence (magnitude estimation)."),
    Field(
        "native",
        "Whether the participant is a native speaker.",
        ("nativeenglish", "native_english", "is_native", "native_speaker"),
    ),
    Field("submission_status", "Decision of the platform: approved, rejected, ….", ("assignmentstatus",)),
    Field("session_status", "State of the session: complete, abandoned, …."),
    Field(ATTRIBUTE, "Columns that vary within items and are no factors, joined by +."),
    Field(BACKGROUND, "Columns about the participant, such as age, joined by +."),
)
TABLE_FIELDS: dict[str, Field] = {field.name: field for field in _FIELDS}
STATED = (ATTRIBUTE, BACKGROUND)  # fields of columns that are named by the user, never by their own names
OWN_FIELDS = {name: field for name, field in TABLE_FIELDS.items() if name not in STATED}


Columns = Mapping[str, str]
LONGEST_NAME = 100
_STATES = frozenset({"complete", "refused", "screened_out", "abandoned", "withdrawn"})


def session_names(frame: pd.DataFrame, columns: Columns) -> "pd.Series[str]":
    """Return the session of each row: the session column, else participant and list."""
    if "session" in columns:
        return frame[columns["session"]]
    people = frame[columns["participant"]]
    return share_texts(people + "/" + frame[columns["list"]]) if "list" in columns else people


def build_sessions(frame: pd.DataFrame, columns: Columns, *, file: str) -> pd.DataFrame:
    """Return the frame of sessions."""
    names = session_names(frame, columns)
    people = frame[columns["participant"]]
    _refuse_unclear(names, people, column=columns["participant"], file=file)
    first = ~names.duplicated()
    head = frame[first]
    stated = _cells(head, columns, "session_status")
    native = [parse_flag(cell) for cell in _cells(head, columns, "native")]
    return session_frame(
        {
            "session": names[first].array,
            "participant": people[first].array,
            "list": _cells(head, columns, "list"),
            "status": [_state(state) for state in stated],
            "submission_status": [state.lower() for state in _cells(head, columns, "submission_status")],
            "attributes": [{} if flag is None else {"native": flag} for flag in native],
        }
    )


def _refuse_unclear(names: pd.Series, people: pd.Series, *, column: str, file: str) -> None:
    unnamed = people.index[people.str.strip() == ""]
    if len(unnamed):
        raise BadInput(
            "the participant is empty.",
            file=file,
            row=int(unnamed[0]),
            column=column,
            remedy="Name the participant in every row.",
        )
    long = people.index[people.str.len() > LONGEST_NAME]
    if len(long):
        raise BadInput(
            f"the participant has more than {LONGEST_NAME} characters.",
            file=file,
            row=int(long[0]),
            column=column,
            remedy="Give a shorter name.",
        )
    sessions = pd.DataFrame({"session": names, "person": people}).drop_duplicates()
    shared = sessions[sessions["session"].duplicated()]
    if len(shared):
        raise BadInput(
            f"session {shared['session'].iloc[0]!r} belongs to two participants.",
            file=file,
            row=int(shared.index[0]),
            column=column,
            remedy="Give every session one participant; if participants number their own, --map "
            f"session={column}+COLUMN joins both.",
        )


def _state(stated: str) -> str:
    """Return the status of a session; active ones become abandoned, unknown ones complete."""
    if stated in _STATES:
        return stated
    return "abandoned" if stated == "active" else "complete"


def _cells(rows: pd.DataFrame, columns: Columns, name: str) -> list[str]:
    return [strip_cell(cell) for cell in rows[columns[name]]] if name in columns else [""] * len(rows)


def build_participants(
    frame: pd.DataFrame, columns: Columns, background: Mapping[str, str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the frame of participants, and warnings."""
    people = frame[columns["participant"]]
    native, differ = _native(frame, columns)
    is_first = ~people.duplicated()
    firsts = frame[is_first]
    backgrounds: list[dict[str, str]] = [{} for _ in range(len(firsts))]
    for question, column in background.items():
        for answers, cell in zip(backgrounds, firsts[column], strict=True):
            if strip_cell(cell):
                answers[question] = strip_cell(cell)
    table = participant_frame(
        {
            "participant": people[is_first].array,
            "is_native": pd.array([native.get(name) for name in people[is_first]], dtype=object),
            "background": backgrounds,
        }
    )
    if not differ:
        return table, ()
    return table, (
        f"{differ} participants answered both yes and no to being native; the column is left empty for them.",
    )


def _native(frame: pd.DataFrame, columns: Columns) -> tuple[dict[Any, bool | None], int]:
    """Return the native status of each participant, and the number who answered both yes and no."""
    if "native" not in columns:
        return {}, 0
    pairs = frame[[columns["participant"], columns["native"]]].drop_duplicates()
    flags: dict[Any, list[bool | None]] = {}
    for person, cell in pairs.itertuples(index=False, name=None):
        flags.setdefault(person, []).append(parse_flag(cell))
    differ = sum({True, False} <= set(answers) for answers in flags.values())
    return {
        person: agreed_answer(pd.Series(answers, dtype=object)) for person, answers in flags.items()
    }, differ


_JOINT = ":"
_TOP_CHARACTERS = 64 * 1024  # among which the first rows are
_JUDGED = {"item", "sentence_id", "sentence", "pair_id", "good"}
OPTIONS = "options"  # field of several columns, which patterns may name
SEVERAL = (OPTIONS, *STATED)  # fields of several columns, which stay columns of their own
#: Columns that identify a person; they are never stored.
NEVER_KEPT = frozenset({"ip", "ip_address", "ipaddress", "email", "e_mail", "phone"})


def read_judgment_table(path: Path, options: SourceOptions, *, rows: Rows | None = None) -> JudgmentFile:
    """Read a long table of judgments; ``rows`` is the result of :func:`table_rows`, if known."""
    if rows is None:
        rows = table_rows(path, encoding=options.encoding, sheet=options.sheet)
    tool_file = find_tool(path) or find_tool_by_columns(list(map(str, rows.frame.columns)))
    _refuse_unstated(rows, options, tool_file)
    for written, meant in tool_file.tool.replaces if tool_file else ():
        rows = _with_character(rows, written, meant)
    rows = _with_named_answers(_without_repeated_answers(rows, options), options)
    if options.people and options.answers:
        raise BadInput(
            "columns of one person each and of one sentence each exclude each other.",
            file=rows.file,
            remedy="Name either those of people or those of sentences.",
        )
    if options.people:
        rows = long_rows(rows, options.people)
    if options.answers:
        names = answer_columns(rows, options.answers)
        texts = _find_sentences(names) if "sentence" not in rows.frame.columns else []
        rows = answer_rows(rows, names, items=texts, sentences=texts)
    return judgments_from_rows(rows, options, format="table")


def _with_named_answers(rows: Rows, options: SourceOptions) -> Rows:
    """Replace a column of answers whose cells are JSON objects by a column for each of their names."""
    fields = [TABLE_FIELDS[name] for name in ("value", "response")]
    aliases = {alias for field in fields for alias in (field.name, *field.aliases)}
    chosen = options.mapping.get("value", "")
    for name in map(str, rows.frame.columns):
        cells = rows.frame[name]
        filled = cells[~is_empty(cells)]
        if name != chosen and simple_name(name) not in aliases or not filled.str.startswith("{").all():
            continue
        objects = {cell: _object(cell) for cell in filled.unique()}
        names = list(dict.fromkeys(key for answers in objects.values() for key in answers or ()))
        if not names or None in objects.values():
            continue
        if chosen not in names and len(names) > 1:
            raise OpenAnswer(
                "an answer has several parts.",
                file=rows.file,
                remedy="Map value to the one that is the judgment.",
                choices=names,
            )
        parsed = cells.map({**objects, **{cell: {} for cell in cells.unique() if cell not in objects}})
        parts = {key: [as_text(answers.get(key, "")) for answers in parsed] for key in names}
        order = [column for column in rows.frame.columns if column not in {name, *names}]
        note = f"the parts of {name!r} are columns: {list_names(names)}"
        frame = rows.frame[order].assign(**parts)
        if len(names) == 1 and chosen != names[0]:
            frame = frame.rename(columns={names[0]: name})
        return replace(rows, frame=frame, notes=(*rows.notes, note))
    return rows


def _object(cell: str) -> dict[str, Any] | None:
    try:
        answers = json.loads(cell)
    except ValueError:
        return None
    return answers if isinstance(answers, dict) else None


def _refuse_unstated(rows: Rows, options: SourceOptions, tool_file: ToolFile | None) -> None:
    """Refuse a table of a tool in which only the user can say where the judgments are, until it is said."""
    if tool_file is None or options.where:
        return
    names = list(map(str, rows.frame.columns))
    if not tool_file.tool.has_other_rows:
        is_stated = options.answers or options.people or {"value", "response"} & set(options.mapping)
        columns = set(recognize_columns(names, OWN_FIELDS, mapping={}, file=rows.file))
        if is_stated or {"participant", "value"} <= columns and _JUDGED & columns:
            return
    raise BadInput(f"this is {tool_file.tool.label}.", file=rows.file, remedy=tool_file.remedy)


def _with_character(rows: Rows, written: str, meant: str) -> Rows:
    """Return the rows with a character in place of the one that the tool wrote for it."""
    frame = rows.frame.map(lambda cell: cell.replace(written, meant) if isinstance(cell, str) else cell)
    n_cells = int((frame != rows.frame).to_numpy().sum())
    if not n_cells:
        return rows
    note = f"{meant!r} is read for {written!r}, which the tool writes in its place ({n_cells} cells)"
    return replace(rows, frame=frame, notes=(*rows.notes, note))


def _without_repeated_answers(rows: Rows, options: SourceOptions) -> Rows:
    """Leave out the rows of OpenSesame's logs that repeat the last answer, as their trial has no question.

    The last answer to an item NAME is logged as ``response_NAME``, and how often it ran as ``count_NAME``.
    """
    columns = {ours: options.mapping.get(ours, "") for ours in ("participant", "value")}
    count = columns["value"].replace("response_", "count_", 1)
    if count == columns["value"] or not {count, columns["participant"]} <= set(rows.frame.columns):
        return rows
    counts = rows.frame[count]
    before = counts.groupby(rows.frame[columns["participant"]], sort=False).shift()
    return without(
        rows, (counts == before) | is_empty(counts), f"{count} shows that the question was not asked"
    )


def _find_sentences(names: Sequence[str]) -> list[str]:
    """Return the sentences that column names of surveys are or contain, in brackets or beside the question.

    Examples
    --------
    >>> _find_sentences(["How good? [She left.]", "How good? [He leave.]"])
    ['She left.', 'He leave.']
    >>> _find_sentences(["R[SQ1]", "R[SQ2]"]), _find_sentences(["She left.", "Did he leave?"])
    ([], ['She left.', 'Did he leave?'])
    """
    brackets = [re.fullmatch(r".*\[(.+)\]", name, re.DOTALL) for name in names]
    texts = [match[1].strip() for match in brackets if match]
    if len(texts) == len(names) == len(set(texts)) and all(" " in text for text in texts):
        return texts
    if len(names) > 1 and all(" - " in name for name in names):
        return differing_parts(names)
    ends = r"\S+\s+\S.*[.?!…。？！]['\"’”]?"
    are_sentences = all(re.fullmatch(ends, name.strip(), re.DOTALL) for name in names)
    return [name.strip() for name in names] if are_sentences else []


_HEADINGS = ("Respondent ID|respondent_id|RespondentID",)  # of SurveyMonkey
_NO_HEADING = ("", "Response", "Open-Ended Response")


def _join_headings(rows: Rows) -> Rows:
    """Join the second row of headings, where SurveyMonkey wrote one, to the names of the columns."""
    names, frame = [str(name) for name in rows.frame.columns], rows.frame
    if frame.empty or not has_columns(names, _HEADINGS):
        return rows
    respondent = matching_columns(names, _HEADINGS[0])[0]
    if str(frame[respondent].iloc[0]).strip():
        return rows
    joined: list[str] = []
    question = ""
    for name, cell in zip(names, frame.iloc[0], strict=True):
        question = question if name.startswith(UNNAMED) else name
        second = str(cell).strip()
        joined.append(name if second in _NO_HEADING else f"{question} - {second}")
    note = "the second row of headings is joined to the first"
    return replace(rows, frame=frame.iloc[1:].set_axis(joined, axis=1), notes=(*rows.notes, note))


def table_rows(path: Path, *, encoding: Encoding = "", sheet: str = "") -> Rows:
    """Read the rows of a table as text; the index is the line of the file."""
    refuse_unreadable(path)
    name = path.name.removesuffix(".gz")
    if is_dataset(path):
        dataset = read_sheet(path, encoding=encoding, sheet=sheet)
        texts = dataset.frame.where(dataset.frame.notna(), "").map(str)
        source = dataset.source
        return Rows(texts, path.name, source.description, source.notes, source.inferred)
    if is_spreadsheet(path):
        table = read_spreadsheet(path, sheet=sheet, may_have_title=True)
        return _join_headings(Rows(table.frame, path.name, table.description, table.notes))
    if name.endswith(".parquet"):
        try:
            check_parquet(path)
            frame = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise BadInput(f"is no Parquet file ({error}).", file=path.name) from None
        texts = frame.astype(object).where(frame.notna(), "").map(str)
        return Rows(texts.set_axis(range(1, len(texts) + 1)), path.name, "Parquet")
    decoded = read_text(path, encoding=encoding)
    if name.endswith((".json", ".jsonl", ".ndjson")) or is_json(decoded.text):
        objects = json_sheet(decoded)
        texts = objects.frame.where(objects.frame.notna(), "").map(as_text)
        return Rows(texts, path.name, objects.source.description, inferred=decoded.check)
    top = decoded.text[:_TOP_CHARACTERS]
    has_long_cells = any(line.count('"') % 2 for line in top.splitlines()[:TOP_ROWS])
    first_rows = [] if has_long_cells else first_lines(top, n_rows=TOP_ROWS)
    delimited = table_from(decoded, header_row=line_below_title(first_rows))
    frame, description = without_headers(delimited.frame), delimited.description
    return _join_headings(Rows(frame, path.name, description, delimited.notes, delimited.source.check))


def judgments_from_rows(
    rows: Rows, options: SourceOptions, *, format: str, clues: Clues | None = None
) -> JudgmentFile:
    """Convert rows to judgments; ``clues`` are what the tool states about the answers."""
    rows = replace(rows, frame=select_rows(rows.frame, options.where, file=rows.file))
    remedy = f"Give one judgment per row. {name_other_sheets(rows.description)}".strip()
    refuse_empty(rows.frame, file=rows.file, remedy=remedy)
    plain = {name: column for name, column in options.mapping.items() if name not in SEVERAL}
    names = list(map(str, rows.frame.columns))
    stated = {name: column for name, column in options.mapping.items() if name in STATED and column}
    parts = {name: mapped_columns(column, names) for name, column in stated.items()}
    if absent := [part for columns in parts.values() for part in columns if part not in names]:
        raise MissingColumns(absent, existing=names, file=rows.file)
    frame, mapping, joined = _join_columns(rows, plain)
    columns, remarks = _recognize(frame, mapping, joined, rows.file)
    if options.mapping.get(OPTIONS):
        columns[OPTIONS] = options.mapping[OPTIONS]
    n_rows, is_counted = len(frame), "n_yes" in columns
    rows, columns = _one_answer_a_row(replace(rows, frame=frame), columns, options)
    frame = rows.frame
    if is_counted:
        remarks.append(
            f"{n_rows} rows of counts are {len(frame)} answers. The file does not say who gave them: each "
            "counts as that of a participant of its own."
        )
    _require(columns, rows)
    if "delimiter" in rows.description and "delimiter comma" not in rows.description:
        numeric = [columns[name] for name in ("value", "response", "rt_ms", "modulus") if name in columns]
        frame = frame.assign(**{name: point_decimals(frame[name]) for name in numeric})
    answer = columns.get("value") or columns["response"]
    rows = replace(rows, frame=frame)
    rows = without(rows, _is_nothing(frame, columns, answer), "without an answer, and nothing was judged")
    frame = rows.frame
    refuse_empty(frame, file=rows.file, remedy="Give one judgment per row.")
    rows = _without_unmoved(rows, answer)
    frame = rows.frame
    remarks += _media_columns(frame)
    sessions = build_sessions(frame, columns, file=rows.file)
    clues = clues or stated_task(frame, columns, answer=answer, file=rows.file)
    if (options.task or clues.task) == BEST_WORST:
        frame = _with_sets(frame, columns)
        read = read_marks(frame[answer], frame[SET], options, column=answer, file=rows.file)
    else:
        read = read_answers(
            frame[answer],
            options,
            column=answer,
            file=rows.file,
            clues=clues,
            pairs=_pairs(frame, columns, options),
        )
    trials, notes = _trials(frame, columns, read.values, rows.file)
    given = trials["response"].where(read.cells.to_numpy() != "", "")
    trials = trials.assign(response=given)
    check_within_scale(trials, read.scale, column=answer, file=rows.file)
    background = {
        field.removeprefix("background."): column for field, column in options.mapping.items() if "." in field
    } | {column: column for column in parts.get(BACKGROUND, ())}
    extra = _extra(frame, columns, {*background.values(), *joined})
    if not options.task and options.scale_low is None and options.scale_high is None:
        _ask_about_two_scales(frame[list(extra)], read, column=answer, file=rows.file)
    participants, warnings = build_participants(frame, columns, background)
    extras = frame[list(extra)].set_axis(trials.index).set_axis([f"extra:{name}" for name in extra], axis=1)
    return JudgmentFile(
        format,
        rows.file,
        read.task,
        pd.concat([trials, extras], axis=1),
        sessions,
        participants,
        scale=read.scale,
        extra=extra,
        description=rows.description,
        mapping=columns | stated,
        notes=(*rows.notes, *read.notes, *notes),
        warnings=(*warnings, *read.warnings, *remarks, *_blank_cells(frame, columns, trials)),
        inferred=rows.inferred,
    )


def _without_unmoved(rows: Rows, answer: str) -> Rows:
    """Empty the answers of sliders that stayed where they began, as jsPsych records it."""
    if "slider_start" not in rows.frame.columns or answer == "slider_start":
        return rows
    start, end = (pd.to_numeric(rows.frame[name], errors="coerce") for name in ("slider_start", answer))
    is_unmoved = start == end
    if not is_unmoved.any():
        return rows
    note = f"{int(is_unmoved.sum())} sliders were not moved (slider_start) and count as missing"
    frame = rows.frame.assign(**{answer: rows.frame[answer].where(~is_unmoved, "")})
    return replace(rows, frame=frame, notes=(*rows.notes, note))


def _media_columns(frame: pd.DataFrame) -> list[str]:
    """Return a warning that names the columns of sound, picture and video files."""
    names = media_columns(frame)
    if not names:
        return []
    return [
        f"{', '.join(map(repr, names))} names files; only names are stored, no sound or picture. What models "
        "read and pages show is the text of the sentence: --map sentence=COLUMN."
    ]


def _is_nothing(frame: pd.DataFrame, columns: Columns, answer: str) -> "pd.Series[bool]":
    """Return which rows have neither an answer nor anything that was judged, as rows of instructions."""
    is_left_out = is_empty(frame[answer])
    for name in _JUDGED & set(columns):
        if is_left_out.any():
            is_left_out &= is_empty(frame[columns[name]])
    return is_left_out


def _one_answer_a_row(
    rows: Rows, columns: dict[str, str], options: SourceOptions
) -> tuple[Rows, dict[str, str]]:
    """Return tables of counts, sets or members by their places as rows of one answer, and their columns."""
    if "n_yes" in columns:
        return count_rows(rows, columns)
    if {"best", "worst"} <= set(columns):
        rows, columns = set_rows(rows, columns, missing=options.missing)
        return replace(rows, frame=rows.frame.assign(task=BEST_WORST)), {**columns, "task": "task"}
    if {"first", "second"} <= set(columns) and not {"good", "bad"} & set(columns):
        return _members_by_place(rows, columns)
    return rows, columns


def _members_by_place(rows: Rows, columns: dict[str, str]) -> tuple[Rows, dict[str, str]]:
    """Return the members of pairs as good and bad, by the column that says whether the good one was first."""
    flags = _flags(rows.frame, columns, "expected_first")
    if flags is None or pd.isna(flags).any():
        raise BadInput(
            "the pairs have no expected member.",
            file=rows.file,
            row=None if flags is None else int(rows.frame.index[pd.isna(flags)][0]),
            column=columns.get("expected_first", columns["first"]),
            remedy="Map expected_first to the column that is true where the first member is the expected.",
        )
    is_first = flags.astype(bool)
    first, second = (rows.frame[columns[name]].to_numpy() for name in ("first", "second"))
    members = {"good": np.where(is_first, first, second), "bad": np.where(is_first, second, first)}
    existing = [name for name in members if name in rows.frame.columns]
    if existing:
        raise BadInput(
            "the table has this column beside the members by their places.",
            file=rows.file,
            column=existing[0],
            remedy="Map good and bad, or rename the column.",
        )
    return replace(rows, frame=rows.frame.assign(**members)), {**columns, "good": "good", "bad": "bad"}


def _with_sets(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Add the set of each row of a long table: the stated one, or the trial's position, in its session."""
    if SET in frame.columns:
        return frame
    names = [columns[name] for name in ("set", "position") if name in columns][:1]
    cells = session_names(frame, columns)
    for name in names:
        cells = cells + "\0" + frame[name]
    return frame.assign(**{SET: cells})


def _recognize(
    frame: pd.DataFrame, mapping: Mapping[str, str], joined: set[str], file: str
) -> tuple[dict[str, str], list[str]]:
    """Return the columns, and warnings on those whose names have a second meaning or are near ours."""
    names = list(frame.columns)
    columns = recognize_columns(names, OWN_FIELDS, mapping=mapping, file=file)
    parts = {part for column in joined for part in column.split("+")}
    columns = {name: column for name, column in columns.items() if name in mapping or column not in parts}
    _ask_which_answer(frame, mapping, file)
    if CONTEXT in columns and CONTEXT not in mapping and are_levels(map(str, frame[columns[CONTEXT]])):
        del columns[CONTEXT]
    warnings = []
    if "paradigm" not in mapping and simple_name(columns.get("paradigm", "")) == "uid":
        stimulus = next((columns[n] for n in ("sentence", "good", "item", "sentence_id") if n in columns), "")
        per_uid = frame.groupby(columns["paradigm"])[stimulus].nunique() if stimulus else pd.Series([2])
        if per_uid.max() <= 1:
            uid = columns.pop("paradigm")
            if "sentence_id" not in columns and "good" not in columns:
                columns["sentence_id"] = uid
            warnings.append(
                f"{uid!r} has one sentence for each value, so that it names sentences; if it is the "
                f"paradigm: --map paradigm={uid}."
            )
    if "position" in columns and "position" not in mapping and simple_name(columns["position"]) == "order":
        stated = pd.to_numeric(frame[columns["position"]], errors="coerce")
        if stated.isna().any() or stated.nunique() < min(len(frame), 3):
            order = columns.pop("position")
            warnings.append(f"{order!r} holds no positions and is kept as it is; --map position={order}.")
    return columns, warnings + near_names(names, columns, mapping)


def _ask_about_two_scales(others: pd.DataFrame, read: Answers, *, column: str, file: str) -> None:
    """Ask where the rows of one level of an unmapped column have a short scale, those of another 0 to 100."""
    if read.task != "slider" or read.values.max() <= LONGEST_LIKERT:
        return
    # A row of a wide table has several answers, so that row numbers repeat.
    rows, others = others.index, others.reset_index(drop=True)
    values = read.values.reset_index(drop=True).dropna()
    is_whole = values % 1 == 0
    for name in others.columns:
        levels = others.loc[values.index, name]
        ends = values.groupby(levels).agg(["min", "max", "size"])
        whole = is_whole.groupby(levels).all()
        short = ends[(ends["max"] <= LONGEST_LIKERT) & whole & (ends["size"] >= MIN_OF_SCALE)]
        long = ends[(ends["max"] >= LEAST_OF_LONG_SCALE) & (ends["size"] >= MIN_OF_SCALE)]
        if len(short) and len(short) + len(long) == len(ends) <= MOST_SCALES:
            ranges = ", ".join(
                f"{row['min']:g} to {row['max']:g} where it is {level!r}" for level, row in ends.iterrows()
            )
            parts = " or ".join(f"--where {name}={level}" for level in ends.index)
            raise BadInput(
                f"there seem to be two scales, told apart by {name!r}: {ranges}.",
                file=file,
                row=int(rows[levels.index[levels == short.index[0]][0]]),
                column=column,
                remedy=f"Import the rows of each scale by themselves: {parts}. If it is one scale, give its "
                "ends: --scale-low 0 --scale-high 100.",
            )


def _ask_which_answer(frame: pd.DataFrame, mapping: Mapping[str, str], file: str) -> None:
    """Ask where several columns are named like answers and differ."""
    if {"value", "response"} & set(mapping):
        return
    field = TABLE_FIELDS["value"]
    names = [str(name) for name in frame.columns if simple_name(str(name)) in (field.name, *field.aliases)]
    if len(names) > 1 and any((frame[names[0]] != frame[name]).any() for name in names[1:]):
        raise OpenAnswer(
            "several columns are named like answers.",
            file=file,
            remedy="Map value to the one that is the judgment.",
            choices=names,
        )


def near_names(names: list[str], columns: Mapping[str, str], mapping: Mapping[str, str]) -> list[str]:
    """Return warnings that propose columns for fields that no column has."""
    taken = {*columns.values(), *mapping.values()}
    answered = {"value"} if {"response", "best", "n_yes"} & set(columns) else set()
    paired = {"sentence"} if {"good", "first"} & set(columns) else set()
    in_sets = {"item", "sentence"} if "best" in columns else set()
    counted = {"participant"} if "n_yes" in columns else set()
    mapped = {name for name, column in mapping.items() if column}  # the page states the others as empty
    stated = {*columns, *mapped, *answered, *paired, *in_sets, *counted}
    missing = {ours: TABLE_FIELDS[ours] for ours in NEAR_NAMES if ours not in stated}
    free = [name for name in names if name not in taken]
    return [
        f"no column is {ours}; {' or '.join(map(repr, near[:3]))} may be: --map {ours}={near[0]}."
        for ours, near in near_columns(free, missing).items()
    ]


def _pairs(frame: pd.DataFrame, columns: Mapping[str, str], options: SourceOptions) -> Pairs | None:
    """Return the members of each row's pair; None where the file has no pairs."""
    has_pairs = bool({"pair_id", "good", "good_id"} & set(columns))
    if not has_pairs and options.task != "forced_choice" or options.task not in ("", "forced_choice"):
        return None
    first = _expected_first(frame, columns)
    members = {
        side: [frame[columns[name]] for name in (side, f"{side}_id") if name in columns]
        for side in ("good", "bad")
    }
    order = pd.Series(first, index=frame.index, dtype=object)
    return Pairs(order, members["good"], members["bad"])


def _blank_cells(frame: pd.DataFrame, columns: Columns, trials: pd.DataFrame) -> list[str]:
    """Return warnings that name the rows without an item, a condition or all else in a file that has them."""
    warnings, is_target = [], (trials["kind"] == "target").to_numpy()
    consequences = {
        "item": "these sentences count as items of their own",
        "condition": "these sentences are in no cell of the design (fillers, practice: map kind)",
    }
    for name, consequence in consequences.items():
        is_blank = is_empty(frame[columns[name]]) & is_target if name in columns else None
        if is_blank is not None and is_blank.any() and not is_blank[is_target].all():
            warnings.append(f"{columns[name]!r} is empty in {_list_rows(frame[is_blank])}; {consequence}.")
    described = [columns[name] for name in ("condition", "sentence") if name in columns]
    if described:
        is_bare = (trials["status"] == "missing").to_numpy()
        for column in described:
            is_bare = is_bare & is_empty(frame[column]).to_numpy()
        if 0 < is_bare.sum() < 0.1 * len(frame):
            warnings.append(
                f"without an answer and without {' and '.join(described)}: {_list_rows(frame[is_bare])}. If "
                "they belong to another table below this one, delete them."
            )
    return warnings


def _list_rows(frame: pd.DataFrame) -> str:
    rows = list(dict.fromkeys(frame.index))
    noun = "row" if len(rows) == 1 else "rows"
    return f"{noun} {', '.join(map(str, rows[:8]))}" + (" …" if len(rows) > 8 else "")


def _join_columns(rows: Rows, mapping: Mapping[str, str]) -> tuple[pd.DataFrame, dict[str, str], set[str]]:
    """Join columns that the mapping combines with ``+``; the parts stay as extra columns."""
    frame, plain = rows.frame, {}
    for field, column in mapping.items():
        parts = column.split("+")
        if len(parts) == 1 or column in frame.columns:
            plain[field] = column
            continue
        absent = [part for part in parts if part not in frame.columns]
        if absent:
            raise MissingColumns(absent, existing=list(frame.columns), file=rows.file)
        cells = frame[parts[0]]
        for part in parts[1:]:
            cells = cells + _JOINT + frame[part]
        blank = cells == _JOINT * (len(parts) - 1)  # no part is filled, as in a filler of a factorial study
        frame, plain[field] = frame.assign(**{column: share_texts(cells.where(~blank, ""))}), column
    return frame, plain, set(mapping.values()) - set(rows.frame.columns)


def _require(columns: Mapping[str, str], rows: Rows) -> None:
    frame, file = rows.frame, rows.file
    absent = [] if "participant" in columns else ["participant"]
    absent += [] if {"value", "response"} & set(columns) else ["value"]
    absent += [] if _JUDGED & set(columns) else ["item"]
    if not absent:
        return
    names = [str(name) for name in frame.columns]
    error = MissingColumns(absent, existing=names, file=file)
    if line := _later_header(frame, n_more=len(columns) + 2):
        remedy = "This row seems to name the columns: delete the rows above it."
        raise BadInput(error.message, file=file, row=line, remedy=remedy)
    people = people_columns(names) if "participant" in absent else ""
    answers = people_columns(names) if {"value", "item"} <= set(absent) else ""
    if people or answers:
        whose, kind = ("person", "people") if people else ("sentence", "sentences")
        raise BadInput(
            f"missing columns {', '.join(absent)}; the columns {people or answers} may be one {whose} each.",
            file=file,
            remedy=f"If they are, name them as columns of {kind} ({people or answers}); the columns are: "
            f"{list_names(names)}.",
        )
    near = [text for text in near_names(names, columns, {}) if text.split()[3].rstrip(";") in absent]
    if {"participant", "value"} <= set(absent) and (counts := likely_counts(names)):
        near.insert(0, f"If the rows are counts of answers: --map {counts}.")
    if "value" in absent and columns.get("expected", "expected") != "expected":
        rated = columns["expected"]
        near.append(f"{rated!r} is taken for the intended status; if it is the answer: --map value={rated}.")
    if other_sheets := name_other_sheets(rows.description):
        near.append(other_sheets)
    if near:
        raise BadInput(error.message, file=file, remedy=f"{' '.join(near)} {error.remedy}")
    raise error


def _later_header(frame: pd.DataFrame, *, n_more: int) -> int:
    """Return the first row that names more than so many of our columns; 0 if none does."""
    for line, cells in frame.head(TOP_ROWS).iterrows():
        names = list(dict.fromkeys(cell for cell in map(str, cells) if cell.strip()))
        if len(recognize_columns(names, OWN_FIELDS)) > n_more:
            return int(str(line))
    return 0


def _extra(frame: pd.DataFrame, columns: Mapping[str, str], other_columns: set[str]) -> tuple[str, ...]:
    """Return the columns that are stored as they are; the expected status may be a factor as well."""
    taken = {*columns.values(), *other_columns, SET, PLACE}
    taken |= {name for name in frame.columns if str(name).startswith(UNNAMED) and is_empty(frame[name]).all()}
    factors = mapped_columns(columns.get("condition", ""), [])
    if len(factors) > 1:
        taken -= {columns.get("expected", "")} & {*factors}
    return tuple(
        name for name in frame.columns if name not in taken and simple_name(str(name)) not in NEVER_KEPT
    )


def _statuses(frame: pd.DataFrame, missing: "np.ndarray[Any, np.dtype[np.bool_]]") -> "np.ndarray[Any, Any]":
    """The status of each row: one without a value timed out where the file says so, else it is missing.

    Our own files have ``timed_out`` in ``status``; Gorilla has a flag ``Timed Out``.
    """
    timed_out = np.zeros(len(frame), dtype=bool)
    if "status" in frame.columns:
        timed_out |= frame["status"].map(strip_cell).eq("timed_out").to_numpy(dtype=bool)
    if "Timed Out" in frame.columns:
        timed_out |= frame["Timed Out"].map(parse_flag).eq(True).to_numpy(dtype=bool)
    without_value = np.where(timed_out, "timed_out", "missing")
    return np.where(missing, without_value, "answered").astype(object)


def _trials(
    frame: pd.DataFrame, columns: Mapping[str, str], values: pd.Series, file: str
) -> tuple[pd.DataFrame, list[str]]:
    def cells(name: str, otherwise: Any = "") -> Any:
        return frame[columns[name]].array if name in columns else otherwise

    kinds: Any = "target"
    if "kind" in columns:
        kinds = parse_kinds(frame[columns["kind"]], column=columns["kind"], file=file).array
    numbers = {
        name: parse_numbers(frame[columns[name]], column=columns[name], file=file).array
        for name in ("rt_ms", "modulus")
        if name in columns
    }
    sessions = session_names(frame, columns).array
    positions, notes = _set_positions(frame, columns, sessions, file)
    if "rt_ms" in numbers and _are_seconds(numbers["rt_ms"], columns["rt_ms"]):
        notes.append(f"the response times {columns['rt_ms']!r} are seconds; they are stored in ms")
        numbers["rt_ms"] = numbers["rt_ms"] * 1000
    missing = values.isna().to_numpy()
    trials = trial_frame(
        {
            "session": sessions,
            "position": positions,
            "kind": kinds,
            **{
                name: cells(name)
                for name in ("phenomenon", "paradigm", "item", "condition", "sentence_id", "pair_id")
            },
            **{name: cells(name) for name in ("good_id", "bad_id")},
            "text": cells("sentence"),
            "context": cells(CONTEXT),
            "good_text": cells("good"),
            "bad_text": cells("bad"),
            "expected": _expected_status(frame, columns, file),
            "expected_first": _expected_first(frame, columns),
            "response": frame[columns.get("response") or columns["value"]].array,
            "value": values.to_numpy(),
            "status": _statuses(frame, missing),
            "is_correct": _flags(frame, columns, "correct"),
            **numbers,
            "row": frame.index.to_numpy(),
        }
    )
    return trials, notes


def _are_seconds(times: Any, column: str) -> bool:
    """Whether response times can be no milliseconds: half of the answers would take less than .1 s."""
    return "ms" not in simple_name(column) and bool(pd.Series(times).median() < 100)


def _set_positions(
    frame: pd.DataFrame, columns: Mapping[str, str], sessions: Any, file: str
) -> tuple[np.ndarray, list[str]]:
    """Return the position of each row's trial; the sentences of a set have one."""
    if SET not in frame.columns:
        return _positions(frame, columns, sessions, file)
    is_first = ~frame[SET].duplicated().to_numpy()
    positions, notes = _positions(frame[is_first], columns, sessions[is_first], file)
    return frame[SET].map(dict(zip(frame[SET][is_first], positions, strict=True))).to_numpy(), notes


def _positions(
    frame: pd.DataFrame, columns: Mapping[str, str], sessions: Any, file: str
) -> tuple[np.ndarray, list[str]]:
    """Return stated positions if they are whole, at least 1 and unique in a session; else renumber."""
    by_session = pd.Series(sessions, index=frame.index, dtype=object)
    in_order = by_session.groupby(by_session, sort=False).cumcount().to_numpy() + 1
    if "position" not in columns:
        return in_order, ["no column with positions; trials are numbered in the order of the rows"]
    stated = parse_numbers(frame[columns["position"]], column=columns["position"], file=file)
    positions = pd.DataFrame({"session": by_session.array, "position": stated.array})
    if (stated >= 0).all() and (stated == 0).any():
        positions["position"] += 1  # counted from 0
    sound = (positions["position"] >= 1) & (positions["position"] % 1 == 0) & (positions["position"] < 2**31)
    if sound.all() and not positions.duplicated().any():
        return positions["position"].to_numpy(dtype=np.int64), []
    ordered = positions.sort_values("position", kind="stable", na_position="last")
    places = ordered.groupby("session", sort=False).cumcount().sort_index().to_numpy() + 1
    return places, [
        f"{columns['position']!r} has repeated or invalid positions; trials are renumbered in its order"
    ]


def _expected_status(frame: pd.DataFrame, columns: Mapping[str, str], file: str) -> Any:
    if "expected" not in columns:
        return ""
    cells = frame[columns["expected"]]
    status_of = {label: expected_status(strip_cell(label)) for label in cells.unique()}
    unknown = [label for label, status in status_of.items() if status is None]
    if unknown:
        raise BadInput(
            f"{unknown[0]!r} is no expected status.",
            file=file,
            row=int(cells.index[cells == unknown[0]][0]),
            column=columns["expected"],
            remedy="Write acceptable or unacceptable, or map another column.",
        )
    return cells.map(status_of).array


def _expected_first(frame: pd.DataFrame, columns: Mapping[str, str]) -> Any:
    """Return whether the good member was shown first, from a flag or from the id or text of the member."""
    if "expected_first" in columns:
        return _flags(frame, columns, "expected_first")
    members = [pair for pair in (("good_id", "bad_id"), ("good", "bad")) if set(pair) <= set(columns)]
    if "shown_first" not in columns or not members:
        return None
    first = frame[columns["shown_first"]].to_numpy()
    places = np.full(len(frame), None, dtype=object)
    for good, bad in members:
        is_good, is_bad = (frame[columns[name]].to_numpy() == first for name in (good, bad))
        places = np.where(is_good ^ is_bad, is_good, places)
    return pd.array(list(places), dtype=object)


def _flags(frame: pd.DataFrame, columns: Mapping[str, str], name: str) -> Any:
    if name not in columns:
        return None
    cells = frame[columns[name]]
    flags = {cell: parse_flag(cell) for cell in cells.unique()}
    return pd.array([flags[cell] for cell in cells], dtype=object)
