"""Exports of other tools as long tables: each function returns one row for each judgment, and a mapping."""

import html
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.errors import BadInput, MissingColumns, list_names
from analysis.text import plural
from experiments.materials.readers.json_text import NotJSON, parse_json
from experiments.materials.readers.sheets import object_frame
from experiments.materials.schema import simple_name
from judgments.imports.readers.annotators import answer_columns, answer_rows
from judgments.imports.readers.base import Rows, SourceOptions
from judgments.imports.readers.cells import is_empty, parse_flag, strip_cell

Shaped = tuple[Rows, dict[str, str]]
_CLASH = " (answer)"  # ends the name of a question that data have, too
_TAG = re.compile(r"<[A-Za-z/][^>]*>")


class OpenAnswer(BadInput):
    """Which question holds the judgments is to be said; it is one of the choices."""

    def __init__(self, message: str, *, file: str, remedy: str, choices: Sequence[str]) -> None:
        listed = f" There are: {list_names(choices)}." if choices else ""
        super().__init__(message, file=file, remedy=remedy + listed)
        self.choices = list(choices)


def without(rows: Rows, is_left_out: "pd.Series[bool]", reason: str) -> Rows:
    """Leave rows out and say how many; nothing is said where there are none."""
    number = int(is_left_out.sum())
    if not number:
        return rows
    note = f"{plural(number, 'row')} left out: {reason}"
    return replace(rows, frame=rows.frame[~is_left_out], notes=(*rows.notes, note))


def with_note(rows: Rows, note: str) -> Rows:
    """Add a remark on how the file was read."""
    return replace(rows, notes=(*rows.notes, note))


def as_text(cell: Any) -> str:
    """Return a cell of JSON as text.

    Examples
    --------
    >>> as_text(4.0), as_text(None), as_text(["a"])
    ('4', '', '["a"]')
    """
    if cell is None or cell != cell:  # NaN differs from itself
        return ""
    if isinstance(cell, dict | list):
        return json.dumps(cell, ensure_ascii=False)
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def plain(text: str) -> str:
    """Return a text without markup.

    Examples
    --------
    >>> plain("<p>She &amp; he left.</p>")
    'She & he left.'
    """
    return html.unescape(_TAG.sub("", text)).strip()


_TIMINGS = ("_First Click", "_Last Click", "_Page Submit", "_Click Count")
_LOOP = re.compile(r"(\d+)_(.+)")
_ITEM_OF_MATRIX = re.compile(r"(.+)_(\d+)")
_NO_RESPONDENTS = {
    "Survey Preview": "previews",
    "1": "previews",
    "Survey Test": "generated test responses",
    "2": "generated test responses",
    "9": "previews marked as spam",
    "17": "previews made offline",
}
_PLATFORM_IDS = ("PROLIFIC_PID", "prolific_pid", "PROLIFIC_ID", "workerId", "participant")
_QUALTRICS_FIELDS = frozenset(
    {
        "StartDate",
        "EndDate",
        "Status",
        "Progress",
        "Finished",
        "RecordedDate",
        "ResponseId",
        "ExternalReference",
        "DistributionChannel",
        "UserLanguage",
    }
)


def qualtrics_rows(rows: Rows, options: SourceOptions) -> Shaped:
    """Read a Qualtrics export: a row for each respondent under three header rows."""
    frame = rows.frame
    if len(frame) < 2 or "ImportId" not in str(frame.iloc[1, 0]):
        raise BadInput(
            "the second and third header row of a Qualtrics export are missing.",
            file=rows.file,
            row=int(frame.index[min(1, len(frame) - 1)]),
            column=str(frame.columns[0]),
            remedy="Export the responses as CSV again and keep all three header rows.",
        )
    ids = {str(name): _import_id(frame, str(name), rows.file) for name in frame.columns}
    questions = {str(name): plain(text) for name, text in frame.iloc[0].items()}
    rows = replace(rows, frame=frame.iloc[2:])
    for status, reason in _NO_RESPONDENTS.items():
        rows = without(rows, rows.frame["Status"] == status, reason)
    names = answer_columns(rows, options.answers) or _rated_columns(rows, ids)
    texts = differing_parts([questions[name] for name in names])
    loops = [_LOOP.fullmatch(name) for name in names]
    are_loops = all(loops) and len({match[2] for match in loops if match}) == 1
    items = [match[1] if match and are_loops else name for match, name in zip(loops, names, strict=True)]
    rows = answer_rows(rows, names, items=items, sentences=texts)
    frame = rows.frame
    finished = frame["Finished"].map(parse_flag) if "Finished" in frame.columns else None
    if finished is not None:
        states = finished.map(lambda flag: "abandoned" if flag is False else "complete")
        rows = replace(rows, frame=frame.assign(session_status=states))
    person = next(
        (name for name in _PLATFORM_IDS if name in frame.columns and not is_empty(frame[name]).any()),
        "ResponseId",
    )
    mapping = {"participant": person, "session": "ResponseId"}
    embedded = [name for name, origin in ids.items() if origin == name and name not in _QUALTRICS_FIELDS]
    asked = [name for name, origin in ids.items() if "QID" in origin and not name.endswith(_TIMINGS)]
    typed = [name for name in asked if name in frame.columns and not _is_numeric(frame[name])]
    own = [name for name in (*embedded, *typed) if name != person and name not in names]
    about = {name: _background_name(name, questions[name]) for name in own}
    mapping |= {f"background.{question}": name for name, question in about.items()}
    note = f"participants are named by {person}; the answers are in {', '.join(names)}"
    return with_note(rows, note), mapping


def _background_name(name: str, question: str) -> str:
    """Return the name under which an answer is kept: the column, with the question where that is another."""
    return name if not question or question == name else f"{name} {question}"[:200]


def _import_id(frame: pd.DataFrame, name: str, file: str) -> str:
    row = int(frame.index[1])
    try:
        origin = parse_json(frame.iloc[1][name], file=file, row=row)
    except NotJSON:
        origin = None
    if not isinstance(origin, dict) or "ImportId" not in origin:
        raise BadInput(
            "the third header row has no ImportId here.",
            file=file,
            row=row,
            column=name,
            remedy="Export the responses again, and change nothing in the header rows.",
        )
    return str(origin["ImportId"])


def _rated_columns(rows: Rows, ids: Mapping[str, str]) -> list[str]:
    """Return the columns of the only loop, else of the only matrix, that has nothing but numbers."""
    candidates = [name for name, origin in ids.items() if "QID" in origin and not name.endswith(_TIMINGS)]
    numeric = [name for name in candidates if _is_numeric(rows.frame[name])]
    for pattern, group in ((_LOOP, 2), (_ITEM_OF_MATRIX, 1)):
        families: dict[str, list[str]] = {}
        for name in numeric:
            if match := pattern.fullmatch(name):
                families.setdefault(match[group], []).append(name)
        families = {stem: names for stem, names in families.items() if len(names) > 1}
        if len(families) == 1:
            return next(iter(families.values()))
        if families:
            break
    raise BadInput(
        "which columns hold the judgments cannot be told.",
        file=rows.file,
        remedy="Export numeric values, not choice texts, and name the columns of one sentence each "
        f"(as in *_{candidates[0] if candidates else 'Q1'}); "
        f"questions are {list_names(candidates) or 'not in the file'}.",
    )


def _is_numeric(cells: pd.Series) -> bool:
    answers = cells[~is_empty(cells)]
    return len(answers) > 0 and bool(pd.to_numeric(answers, errors="coerce").notna().all())


def differing_parts(questions: Sequence[str]) -> list[str]:
    """Return what tells questions apart, of the parts that ``-`` separates; nothing where they are alike.

    Examples
    --------
    >>> differing_parts(["How good? - She left.", "How good? - He leave."])
    ['She left.', 'He leave.']
    >>> differing_parts(["How good?", "How good?"])
    []
    """
    split = [question.split(" - ") for question in questions]
    shared = set.intersection(*(set(parts) for parts in split)) if split else set()
    texts = [" - ".join(part for part in parts if part not in shared).strip() for parts in split]
    is_piped = any("${" in text for text in texts)
    return [] if is_piped or "" in texts or len(set(texts)) < len(texts) else texts


def gorilla_rows(rows: Rows, options: SourceOptions) -> Shaped:
    """Read the events of a Gorilla task: of the rows, those with a response are judgments."""
    prefix = "Spreadsheet: "
    plain_names = {name: name.removeprefix(prefix) for name in rows.frame.columns if name.startswith(prefix)}
    clash = [name for name, short in plain_names.items() if short in rows.frame.columns]
    renamed = {name: short for name, short in plain_names.items() if name not in clash}
    rows = replace(rows, frame=rows.frame.rename(columns=renamed))
    if "Response" not in rows.frame.columns:
        raise MissingColumns(["Response"], existing=list(rows.frame.columns), file=rows.file)
    rows = without(rows, rows.frame["Event Index"] == "END OF FILE", "the end of the file")
    kind = next((name for name in ("Response Type", "Zone Type") if name in rows.frame.columns), "")
    if not kind:
        raise MissingColumns(
            ["Zone Type or Response Type"], existing=list(rows.frame.columns), file=rows.file
        )
    is_response = rows.frame[kind].str.strip().str.lower().str.startswith("response")
    rows = without(rows, ~is_response, f"events whose {kind} is no response")
    frame = rows.frame
    timed_out = (
        frame["Timed Out"].map(parse_flag).eq(True) if "Timed Out" in frame.columns else is_response & False
    )
    rows = without(rows, is_empty(frame["Response"]) & ~timed_out, "responses without an answer")
    rows = _one_zone(rows, options)
    zone = options.mapping.get("value", "")
    if zone in ("", "Response") or zone.removesuffix(_CLASH) not in _zones(rows)[1]:
        return rows, {}
    answer = zone if zone not in rows.frame.columns else zone + _CLASH
    return replace(rows, frame=rows.frame.rename(columns={"Response": answer})), {"value": answer}


def _one_zone(rows: Rows, options: SourceOptions) -> Rows:
    """Keep the answers of the zone that the mapping of ``value`` names; ask where trials have several."""
    zone, zones = _zones(rows)
    trial = [name for name in ("Participant Private ID", "Trial Number") if name in rows.frame.columns]
    chosen = options.mapping.get("value", "").removesuffix(_CLASH)
    if chosen in zones:
        return without(rows, rows.frame[zone] != chosen, f"answers of another {zone}")
    if len(zones) > 1 and len(trial) == 2 and rows.frame.groupby(trial)[zone].nunique().max() > 1:
        raise OpenAnswer(
            "trials have several answers.",
            file=rows.file,
            remedy=f"Map value to the one ({zone}) that is the judgment.",
            choices=zones,
        )
    return rows


def _zones(rows: Rows) -> tuple[str, list[str]]:
    """Return the column that names zones, and the zones."""
    names = ("Zone Name", "Object Name", "Response Type", "Zone Type")
    zone = next(name for name in names if name in rows.frame.columns)
    return zone, list(dict.fromkeys(rows.frame[zone]))


_OTREE = re.compile(r"(?P<app>.+)\.(?P<round>\d+)\.(?P<level>player|group|subsession)\.(?P<field>.+)")
_ANSWERS = ("value", "rating", "judgment", "judgement", "response")
_BUILT_IN = frozenset({"id_in_group", "role", "payoff"})


_JUDGED_FIELDS = frozenset({"item", "item_id", "sentence", "sentence_id", "text", "stimulus", "pair_id"})


def otree_rows(rows: Rows, options: SourceOptions) -> Shaped:
    """Read oTree's wide export: a row for each participant, a column for each field of each round."""
    fields = [
        (name, match["app"], int(match["round"]), match["field"])
        for name in map(str, rows.frame.columns)
        if (match := _OTREE.fullmatch(name)) and match["level"] == "player"
    ]
    wanted = [
        options.mapping[name] for name in ("value", "response") if options.mapping.get(name)
    ] or _ANSWERS
    by_app = {app: next((name for name in wanted if (app, name) in own), "") for app, own in _apps(fields)}
    answers = {app: name for app, name in by_app.items() if name}
    if not answers:
        names = dict.fromkeys(field for _, _, _, field in fields if field not in _BUILT_IN)
        raise OpenAnswer(
            f"no app has a player field {' or '.join(wanted)}.",
            file=rows.file,
            remedy="Map value to the field of the answers.",
            choices=list(names),
        )
    if "participant._is_bot" in rows.frame.columns:
        rows = without(rows, rows.frame["participant._is_bot"].isin(("1", "True")), "bots")
    frame = rows.frame
    people = [name for name in frame.columns if str(name).startswith(("participant.", "session.code"))]
    parts = []
    rounds = dict.fromkeys((app, number) for _, app, number, _ in fields if app in answers)
    for position, (app, number) in enumerate(rounds, start=1):
        own = {
            name: field
            for name, of, turn, field in fields
            if (of, turn) == (app, number) and field not in _BUILT_IN
        }
        part = frame[[*people, *own]].rename(columns=own)
        parts.append(part.assign(**{"app": app, "round": str(number), "position": str(position)}))
    long = pd.concat(parts).fillna("")
    answer = next(iter(answers.values()))
    for app, name in answers.items():  # apps may call their answers differently
        if name != answer:
            is_own = long["app"] == app
            long.loc[is_own, answer] = long.loc[is_own, name]
    others = {field: name for name, app, number, field in fields if app not in answers and number == 1}
    background = {field: name for field, name in others.items() if field not in _BUILT_IN}
    for name in background.values():
        long[name] = frame.loc[long.index, name].to_numpy() if frame.index.is_unique else ""
    note = f"{plural(len(rounds), 'round')} of {', '.join(answers)}, with the answers in {answer!r}"
    long = long.sort_index(kind="stable")
    if {"participant._index_in_pages", "participant._max_page_index"} <= set(frame.columns):
        at, last = (
            pd.to_numeric(long[f"participant.{name}"], errors="coerce")
            for name in ("_index_in_pages", "_max_page_index")
        )
        long["session_status"] = (at < last).map({True: "abandoned", False: "complete"})
    rows = with_note(replace(rows, frame=long), note)
    if long[answer].eq("0").any():
        rows = with_note(rows, "oTree stores 0 (no) where the time of a page ran out, as for an answer 0")
    rows = without(rows, _is_not_reached(long, answer), "rounds without an answer")
    labels = frame["participant.label"] if "participant.label" in frame.columns else pd.Series([""])
    is_labelled = not is_empty(labels).any() and labels.is_unique
    mapping = {"participant": "participant.label" if is_labelled else "participant.code", "value": answer}
    return rows, mapping | {f"background.{field}": name for field, name in background.items()}


def _is_not_reached(rounds: pd.DataFrame, answer: str) -> "pd.Series[bool]":
    """Return which rounds were not shown: without an answer, and empty or behind the last one of a drop-out.

    An unanswered round before an answered one, or of a participant who reached the last page, is missing.
    """
    is_silent = is_empty(rounds[answer])
    people = rounds["participant.code"]
    last = pd.to_numeric(rounds["position"]).where(~is_silent).groupby(people).transform("max")
    is_behind = ~(pd.to_numeric(rounds["position"]) < last)
    if "session_status" in rounds.columns:
        is_behind &= rounds["session_status"] == "abandoned"
    own = [name for name in rounds.columns if simple_name(str(name)) in _JUDGED_FIELDS]
    is_blank = rounds[own].map(lambda cell: not str(cell).strip()).all(axis=1) if own else True
    return is_silent & (is_behind | is_blank)


def _apps(fields: Sequence[tuple[str, str, int, str]]) -> list[tuple[str, set[tuple[str, str]]]]:
    own: dict[str, set[tuple[str, str]]] = {}
    for _, app, _, field in fields:
        own.setdefault(app, set()).add((app, field))
    return list(own.items())


def label_studio_rows(rows: Rows, options: SourceOptions) -> Shaped:
    """Read tasks of Label Studio (JSON, or JSON-MIN, CSV and TSV): one judgment for each annotation."""
    notes = {"skipped (was_cancelled)": 0, "without a rating, number or choice": 0}
    records: list[dict[str, Any]] = []
    lines: list[int] = []
    wanted = options.mapping.get("value", "").removesuffix(_CLASH)
    for line, task in _records(rows):
        annotations = [_flat_annotation(task)] if "annotator" in task else []
        annotations = annotations or _annotations(task, line, rows.file, notes, wanted)
        records += annotations
        lines += [int(line)] * len(annotations)
    frame = _label_frame(records, lines, rows.file).rename_axis("task")
    answers = _label_studio_answers(frame)
    is_rating = frame.map(lambda cell: _is_result(cell) and "rating" in cell[0])
    frame = frame.map(_only_label)
    rows = replace(rows, frame=frame.where(frame.notna(), "").map(as_text))
    for reason, number in notes.items():
        if number:
            rows = with_note(rows, f"{plural(number, 'annotation')} left out: {reason}")
    shaped, mapping = _one_answer(rows, options, answers)
    question = mapping["value"].removesuffix(_CLASH)
    if any(is_rating[name].any() for name in (f"answer:{question}", question) if name in is_rating):
        shaped = replace(shaped, frame=shaped.frame.assign(response_type="rating"))
    return shaped, mapping


def _flat_annotation(record: dict[str, Any]) -> dict[str, Any]:
    """Return an annotation of JSON-MIN, CSV or TSV with its answers parsed and its time in milliseconds."""
    cells = {name: _parse_label(cell) for name, cell in record.items()}
    seconds = pd.to_numeric(cells.pop("lead_time", None), errors="coerce")
    return cells if seconds is None or pd.isna(seconds) else {**cells, "rt_ms": float(seconds) * 1000}


def _parse_label(cell: Any) -> Any:
    """Return the list or object that a cell of CSV holds as JSON."""
    if isinstance(cell, str) and cell[:2] in ("[{", '{"'):
        with suppress(NotJSON):
            return parse_json(cell, file="")
    return cell


_RESULTS = ("rating", "number", "selected", "choices")


def _only_label(cell: Any) -> Any:
    """Return the answer of a list with one result, such as ``[{"rating": 4}]``; other cells as they are."""
    if _is_result(cell):
        answer = next(cell[0][name] for name in _RESULTS if name in cell[0])
        return answer[0] if isinstance(answer, list) and len(answer) == 1 else answer
    return cell


def _is_result(cell: Any) -> bool:
    is_single = isinstance(cell, list) and len(cell) == 1 and isinstance(cell[0], dict)
    return is_single and bool(set(_RESULTS) & set(cell[0]))


def _records(rows: Rows) -> list[tuple[int, dict[str, Any]]]:
    """Return the rows as objects, with their lines."""
    objects = rows.frame.to_dict("records")
    return [
        (int(line), {str(name): cell for name, cell in record.items()})
        for line, record in zip(rows.frame.index, objects, strict=True)
    ]


_LABEL_TYPES = ("rating", "number", "choices", "pairwise")


def _annotations(
    task: Mapping[str, Any], line: int, file: str, notes: dict[str, int], wanted: str
) -> list[dict[str, Any]]:
    data, annotations = task.get("data"), task.get("annotations")
    if not isinstance(data, dict) or not isinstance(annotations, list):
        raise BadInput(
            "a task needs data and annotations.",
            file=file,
            row=line,
            column="annotations" if isinstance(data, dict) else "data",
            remedy="Export as JSON; without annotations there is nothing to import.",
        )
    judgments = []
    for annotation in annotations:
        results = annotation.get("result") if isinstance(annotation, dict) else None
        if not isinstance(results, list):
            raise BadInput(
                "an annotation has no list of results.",
                file=file,
                row=line,
                column="result",
                remedy="Export as JSON and change nothing in it.",
            )
        if annotation.get("was_cancelled"):
            notes["skipped (was_cancelled)"] += 1
            continue
        answers = {
            f"answer:{result.get('from_name')}": _result_value(result, line, file)
            for result in results
            if isinstance(result, dict)
            and result.get("type") in _LABEL_TYPES
            and wanted in ("", str(result.get("from_name")))
        }
        if not answers:
            notes["without a rating, number or choice"] += 1
            continue
        person = annotation.get("completed_by")
        seconds = annotation.get("lead_time")
        judgments.append(
            {
                "task_id": task.get("id", line),
                **data,
                "annotator": person.get("id") if isinstance(person, dict) else person,
                "rt_ms": seconds * 1000 if isinstance(seconds, int | float) else "",
                **answers,
            }
        )
    return judgments


def _result_value(result: Mapping[str, Any], line: int, file: str) -> Any:
    kind = str(result["type"])
    value = result.get("value")
    answer = value.get("selected" if kind == "pairwise" else kind) if isinstance(value, dict) else None
    if isinstance(answer, list):
        if len(answer) != 1:
            raise BadInput(
                f"{len(answer)} choices where a judgment has one.",
                file=file,
                row=line,
                column=str(result.get("from_name")),
                remedy="Correct the annotation in Label Studio, or import another question (map value).",
            )
        answer = answer[0]
    return [{"rating": answer}] if kind == "rating" else answer


def _label_studio_answers(frame: pd.DataFrame) -> list[str]:
    """Return the columns of questions: by their results, by their place in JSON-MIN, else by name."""
    names = [str(name) for name in frame.columns]
    own = [name for name in names if name.startswith("answer:")]
    own = own or [name for name in names if frame[name].map(_is_result).any()]
    if not own and {"id", "annotator"} <= set(names) and names.index("id") < names.index("annotator"):
        own = names[names.index("id") + 1 : names.index("annotator")]  # of JSON-MIN; CSV sorts its columns
    own = own or [name for name in names if simple_name(name) in {*_ANSWERS, "choice"}]
    return own or [name for name in names if name not in _OF_ANNOTATIONS]


_OF_ANNOTATIONS = ("id", "annotation_id", "annotator", "created_at", "updated_at", "rt_ms")


def potato_rows(rows: Rows, options: SourceOptions) -> Shaped:
    """Read Potato's annotations: a row for each user and instance, a column for each label of a schema."""
    frame = rows.frame.rename(columns={"labels": "label_annotations"})  # so called in exports/jsonl
    if "label_annotations" in frame.columns:
        frame = _spread_labels(replace(rows, frame=frame))
    else:
        frame = frame.rename(columns={name: _with_colons(str(name)) for name in frame.columns})
    labels = [str(name) for name in frame.columns if ":::" in str(name)]
    schemas: dict[str, list[str]] = {}
    for name in labels:
        schemas.setdefault(name.split(":::", 1)[0], []).append(name)
    if not schemas:
        raise BadInput(
            "no column is a label of a schema.",
            file=rows.file,
            remedy="Potato writes them as schema.label; give the annotations of its exports (csv, tsv or "
            "jsonl), or user_state.json.",
        )
    texts = frame.where(frame.notna(), "").map(as_text)
    wanted = options.mapping.get("value", "").removesuffix(_CLASH)
    chosen = {
        f"answer:{schema}": _chosen_labels(texts[names], schema, rows.file)
        for schema, names in schemas.items()
        if wanted in (schema, "") or wanted not in schemas
    }
    kept = texts.drop(columns=labels).assign(**chosen)
    shown = schemas.get(wanted) or (next(iter(schemas.values())) if len(schemas) == 1 else [])
    if shown and all(name.endswith(":::slider") for name in shown):
        kept["response_type"] = "slider"
    if "displayed_text" in kept.columns:
        kept["displayed_text"] = kept["displayed_text"].map(plain)
    return _one_answer(replace(rows, frame=kept), options, list(chosen))


def _with_colons(name: str) -> str:
    """Return the name of a label's column as former versions of Potato wrote it.

    Examples
    --------
    >>> _with_colons("rating.5"), _with_colons("rating._spans"), _with_colons("rating:::scale_5")
    ('rating:::5', 'rating._spans', 'rating:::scale_5')
    """
    schema, dot, label = name.partition(".")
    is_label = dot and schema and ":::" not in name and not label.startswith("_")
    return f"{schema}:::{label}" if is_label else name


def _spread_labels(rows: Rows) -> pd.DataFrame:
    records = []
    for line, record in _records(rows):
        own = record.pop("label_annotations")
        if not isinstance(own, dict) or not all(isinstance(labels, dict) for labels in own.values()):
            raise BadInput(
                "the labels are no object of schemas.",
                file=rows.file,
                row=line,
                column="label_annotations",
                remedy="Give the file as Potato wrote it, or export as CSV.",
            )
        labels = {f"{schema}:::{label}": cell for schema, of in own.items() for label, cell in of.items()}
        records.append({**record, **labels})
    return _label_frame(records, range(len(records)), rows.file).set_axis(rows.frame.index)


def _label_frame(records: Sequence[dict[str, Any]], lines: Sequence[int], file: str) -> pd.DataFrame:
    # Every label takes at least 20 bytes of the file.
    return object_frame(records, lines, n_bytes=20 * sum(map(len, records)), file=file)


def _chosen_labels(cells: pd.DataFrame, schema: str, file: str) -> list[str]:
    """Return the label that is filled in each row: its number on a scale, else its name."""
    answers = []
    for line, row in zip(cells.index, cells.to_dict("records"), strict=True):
        filled = [(str(name), cell) for name, cell in row.items() if _is_chosen(str(name), cell)]
        if len(filled) > 1:
            raise BadInput(
                f"{len(filled)} labels are chosen where a judgment has one.",
                file=file,
                row=int(line),
                column=schema,
                remedy="Import another schema (map value), or correct the file.",
            )
        answers.append(_label_value(*filled[0]) if filled else "")
    return answers


def _is_chosen(name: str, cell: str) -> bool:
    """Return whether a label is chosen: its cell is filled, and neither false nor 0 unless that is the label.

    Examples
    --------
    >>> _is_chosen("ok:::yes", "false"), _is_chosen("ok:::no", "no"), _is_chosen("slide:::slider", "0")
    (False, True, True)
    """
    label = name.split(":::", 1)[1]
    is_value = label in _VALUES and not cell.strip().isalpha()
    return bool(strip_cell(cell)) and (is_value or cell.strip() == label or parse_flag(cell) is not False)


_VALUES = ("text_box", "slider", "number")  # labels whose cell is the answer


def _label_value(name: str, cell: str) -> str:
    """Return the answer that a filled label stands for.

    Examples
    --------
    >>> _label_value("rating:::scale_5", "5"), _label_value("ok:::yes", "1")
    ('5', 'yes')
    """
    label = name.split(":::", 1)[1]
    if match := re.fullmatch(r"(?:scale[_ ])?(\d+)", label):
        return match[1]
    return cell if label in _VALUES else label


def _one_answer(rows: Rows, options: SourceOptions, names: Sequence[str]) -> Shaped:
    """Take the only question as the answer; of several, that which the mapping names."""
    wanted = options.mapping.get("value", "").removesuffix(_CLASH)
    if wanted in rows.frame.columns and wanted not in names and f"answer:{wanted}" not in names:
        names = [wanted]
    short = {name.removeprefix("answer:"): name for name in names}
    chosen = short.get(wanted, "") or (names[0] if len(names) == 1 else "")
    if not chosen:
        raise OpenAnswer(
            f"{'several questions were' if names else 'no question was'} answered.",
            file=rows.file,
            remedy="Map value to the question of the judgments." if names else "Choose another format.",
            choices=list(short),
        )
    own = chosen.removeprefix("answer:")
    if own != chosen and own in rows.frame.columns:
        own += _CLASH
    rows = replace(rows, frame=rows.frame.rename(columns={chosen: own}))
    return without(rows, is_empty(rows.frame[own]), "no answer"), {"value": own}
