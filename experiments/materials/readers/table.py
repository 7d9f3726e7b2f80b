"""Tables of sentences or pairs: CSV, TSV, JSON lines or Parquet, with or without a mapping of columns."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import BadInput, MissingColumns
from analysis.table_forms import media_columns
from experiments.materials.collection import Materials, pair_frame, require_unique, sentence_frame
from experiments.materials.encoding import Encoding
from experiments.materials.factors import (
    CELL,
    Levels,
    factor_columns,
    factor_name,
    half_mapped,
    is_filler,
    list_levels,
)
from experiments.materials.findings import Finding
from experiments.materials.items import (
    LIST_COLUMNS,
    blank_items,
    distinguish_ids,
    repeats_note,
    repeats_of_lists,
    with_item_keys,
)
from experiments.materials.markup import markup_attribute
from experiments.materials.pairing import pair_conditions
from experiments.materials.readers.layout import Split, arrange, sentence_columns
from experiments.materials.readers.sheets import Sheet, read_sheet
from experiments.materials.readers.spreadsheets import name_other_sheets
from experiments.materials.schema import (
    ACCEPTABLE,
    COLUMN_USES,
    CONTEXT,
    JOINT,
    PAIR_FIELDS,
    SENTENCE_FIELDS,
    UNACCEPTABLE,
    WIDE_FIELDS,
    are_levels,
    context_attribute,
    expected_status,
    mapped_columns,
    near_columns,
    recognize_columns,
    simple_name,
)

_DISCARDED = {"x", "1", "true", "yes", "discard"}


def read_tables(
    paths: Sequence[Path],
    *,
    mapping: Mapping[str, str] | None = None,
    levels: Levels | None = None,
    encoding: Encoding = "",
    sheet_name: str = "",
    sheets: Sequence[Sheet] = (),
    split_paradigms: bool = False,
    header_row: int = 0,
    split: Split | None = None,
) -> Materials:
    """Read tables of sentences, of pairs by sentence ids, and of pairs with both sentences.

    Notes
    -----
    Without a table of pairs, all acceptable × unacceptable pairs of every item are formed. Other columns
    are kept: with the sentence in ``attributes``, with the pair in ``fields``. Columns that the mapping joins
    as the condition are the factors of the design; columns that it joins as the sentence hold one condition
    each. ``split`` divides the conditions into factors.
    """
    sheets = sheets or [
        read_sheet(path, encoding=encoding, sheet=sheet_name, header_row=header_row) for path in paths
    ]
    _require_mapped(sheets, mapping or {})
    sheets, mapping = arrange(sheets, mapping, split)
    sentences, pairs, findings = [], [], []
    recognized: dict[str, str] = {}
    factors: dict[str, tuple[str, ...]] = {}
    for sheet in sheets:
        if sheet.kind and not mapping:
            kind, columns = sheet.kind, dict(sheet.columns)
        else:
            kind, columns = recognize_kind(sheet, mapping)
        recognized |= columns
        if kind == "pairs":
            pairs.append(_pairs(sheet, columns))
        elif kind == "wide":
            members, sheet_pairs = _wide(sheet, columns)
            sentences.append(members)
            pairs.append(sheet_pairs)
        else:
            rows, notes, sheet_factors = _sentences(sheet, columns, mapping or {}, levels or {})
            sentences.append(rows)
            findings += notes
            # a level that only a later file has comes after those of the files before
            for name, names in sheet_factors.items():
                factors[name] = tuple(dict.fromkeys([*factors.get(name, ()), *names]))
    if not sentences:
        raise BadInput(
            "a table of pairs needs its table of sentences.",
            file=sheets[0].file,
            remedy="Give both files in one import.",
        )
    recognized |= {use: column for use, column in (mapping or {}).items() if use in COLUMN_USES and column}
    if split_paradigms:
        sentences, pairs = _split_paradigms(sentences, pairs)
    read = _materials(sheets, sentences, pairs, recognized, findings)
    return replace(read, factors=factors)


def _materials(
    sheets: Sequence[Sheet],
    sentence_frames: list[pd.DataFrame],
    pair_frames: list[pd.DataFrame],
    mapping: dict[str, str],
    findings: list[Finding],
) -> Materials:
    rows = pd.concat(sentence_frames, ignore_index=True)
    is_again = rows["is_filler"].astype(bool) & rows.duplicated(["text", "item", "condition", "is_filler"])
    if is_again.any():
        first = rows[is_again].iloc[0]
        findings = [*findings, repeats_note(int(is_again.sum()), file=first["file"], row=int(first["row"]))]
    made = {finding.file for finding in findings if finding.code == "ids_made"}
    rows = distinguish_ids(rows[~is_again].reset_index(drop=True), made)
    sentences, about_items = with_item_keys(rows)
    findings = [*findings, *about_items]
    require_unique(sentences, "sentence_id")
    if not pair_frames:
        condition, attributes = (
            mapped_columns(mapping.get(name, ""), []) for name in ("condition", "attribute")
        )
        half = half_mapped(
            sentences,
            condition=condition,
            expected=mapping.get("expected", ""),
            attributes=attributes,
            has_items="item" in mapping,
        )
        findings = [*findings, *half]
    pairs = pd.concat(pair_frames, ignore_index=True) if pair_frames else pair_conditions(sentences)
    pairs = _with_groups(pairs, sentences)
    require_unique(pairs, "pair_id")
    sources = tuple(sheet.source for sheet in sheets)
    return Materials("table", sentences, pairs, sources, mapping, tuple(findings))


def _require_mapped(sheets: Sequence[Sheet], mapping: Mapping[str, str]) -> None:
    """Refuse a mapping to a column that no file has."""
    columns = list(dict.fromkeys(str(name) for sheet in sheets for name in sheet.frame.columns))
    absent = [
        part for column in mapping.values() for part in mapped_columns(column, columns) if part not in columns
    ]
    if absent:
        raise MissingColumns(absent, existing=columns, file=", ".join(sheet.file for sheet in sheets))


def recognize_kind(sheet: Sheet, mapping: Mapping[str, str] | None) -> tuple[str, dict[str, str]]:
    """Return the kind of the sheet's rows (sentences, pairs by ids, or both sentences) and its columns."""
    names = [str(column) for column in sheet.frame.columns]
    for kind, fields, needed in (
        ("pairs", PAIR_FIELDS, ("good_id", "bad_id")),
        ("wide", WIDE_FIELDS, ("good", "bad")),
        ("sentences", SENTENCE_FIELDS, ("sentence",)),
    ):
        applicable = {
            name: column for name, column in (mapping or {}).items() if not column or column in names
        }
        joined = _condition_columns(mapping, names) if "condition" in fields else ()
        unused = {part for use in COLUMN_USES for part in mapped_columns((mapping or {}).get(use, ""), names)}
        free = [name for name in names if name not in {*joined, *unused}]
        if joined:
            applicable["condition"] = ""  # no alias of it; the joined columns follow below
        stated = applicable.get("expected", "")
        if stated in joined:  # a factor may be the expected status as well
            applicable["expected"] = ""
        columns = recognize_columns(free, fields, mapping=applicable, file=sheet.file)
        _drop_ambiguous(sheet, columns, mapping or {})
        if joined:
            columns["condition"] = JOINT.join(joined)
            columns |= (
                {"expected": stated} if stated in joined else _status_among(sheet, joined, columns, mapping)
            )
        if all(name in columns for name in needed):
            return kind, columns
    if texts := sentence_columns(sheet):
        raise BadInput(
            f"there is no column sentence, and several columns hold sentences: {', '.join(texts)}.",
            file=sheet.file,
            remedy=f"Where each is a condition: --map sentence={JOINT.join(texts)}, "
            "or choose Sentence for all of them on the page.",
        )
    error = MissingColumns(
        ["sentence (or good and bad, or good_id and bad_id)"], existing=names, file=sheet.file
    )
    proposal = name_other_sheets(sheet.source.description)
    if near := near_columns(names, {"sentence": SENTENCE_FIELDS["sentence"]}).get("sentence"):
        nearest = f"{' or '.join(near[:3])} may be the sentence: --map sentence={near[0]}."
        proposal = f"{nearest} {proposal}".strip()
    if proposal:
        raise BadInput(error.message, file=sheet.file, remedy=f"{proposal} {error.remedy}")
    raise error


def _drop_ambiguous(sheet: Sheet, columns: dict[str, str], mapping: Mapping[str, str]) -> None:
    """Forget columns recognized by an alias with two meanings whose values do not have this one.

    A ``uid`` is a paradigm only if it groups rows; ``acceptability`` and the like are the expected status
    only if all values are; a ``context`` holds texts unless its values look like levels of a factor.
    """
    for name, has_meaning in (("paradigm", _are_groups), ("expected", _are_statuses)):
        column = columns.get(name)
        is_alias = column and not mapping.get(name) and simple_name(column) != name
        if is_alias and not has_meaning(_texts(sheet, columns, name)):
            del columns[name]
    if CONTEXT in columns and not mapping.get(CONTEXT) and are_levels(_texts(sheet, columns, CONTEXT)):
        del columns[CONTEXT]


def _are_groups(values: Sequence[str]) -> bool:
    return len(values) < 2 or len(set(values)) < len(values)


def _are_statuses(values: Sequence[str]) -> bool:
    return all(expected_status(value) is not None for value in values)


def _status_among(
    sheet: Sheet, factors: Sequence[str], columns: Mapping[str, str], mapping: Mapping[str, str] | None
) -> dict[str, str]:
    """Return the factor that is the expected status by its name and values, unless a column was stated."""
    if "expected" in columns or "expected" in (mapping or {}):
        return {}
    found = recognize_columns(list(factors), {"expected": SENTENCE_FIELDS["expected"]}, file=sheet.file)
    return found if found and _are_statuses(_texts(sheet, found, "expected")) else {}


def _condition_columns(mapping: Mapping[str, str] | None, names: Sequence[str]) -> list[str]:
    """Return the columns of this sheet that the mapping joins as the condition; none unless several."""
    parts = mapped_columns((mapping or {}).get("condition", ""), names)
    return parts if len(parts) > 1 and set(parts) <= set(names) else []


def _texts(sheet: Sheet, columns: Mapping[str, str], name: str) -> list[str]:
    if name not in columns:
        return [""] * len(sheet.frame)
    return [_as_text(value) for value in sheet.frame[columns[name]].tolist()]


def _as_text(value: Any) -> str:
    """Format a cell as text; a whole number from JSON or Parquet has no decimals, a list is JSON."""
    if value is None or (isinstance(value, float) and value != value):  # NaN differs from itself
        return ""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _extras(sheet: Sheet, columns: Mapping[str, str], left_out: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the unrecognized columns, as one dict per row without empty cells."""
    columns_read = {*columns.values(), *left_out}
    names = [name for name in sheet.frame.columns if name not in columns_read]
    columns_values = [sheet.frame[name].tolist() for name in names]
    rows: list[dict[str, Any]] = [{} for _ in range(len(sheet.frame))]
    for name, values in zip(names, columns_values, strict=True):
        for row, value in zip(rows, values, strict=True):
            if _as_text(value) != "":
                row[str(name)] = value
    return rows


def _refuse_empty(sheet: Sheet, columns: Mapping[str, str], name: str, *, message: str) -> None:
    for row, text in zip(sheet.frame.index, _texts(sheet, columns, name), strict=True):
        if not text.strip():
            raise BadInput(message, file=sheet.file, row=int(row), column=columns[name])


def _sentences(
    sheet: Sheet, columns: dict[str, str], mapping: Mapping[str, str], levels: Levels
) -> tuple[pd.DataFrame, list[Finding], dict[str, tuple[str, ...]]]:
    """Return the sentences of a sheet, one from each row, and the factors with their levels."""
    _refuse_empty(sheet, columns, "sentence", message="the sentence is empty.")
    fillers = _fillers(sheet, columns, is_mapped="filler" in mapping)
    sheet, fillers, findings = _without_repeats(sheet, columns, fillers, mapping)
    parts = _condition_columns(mapping, [str(name) for name in sheet.frame.columns])
    ignored = mapped_columns(mapping.get("ignore", ""), [str(name) for name in sheet.frame.columns])
    plain = {name: column for name, column in columns.items() if name != "condition" or not parts}
    fields = _with_paradigms({name: _texts(sheet, plain, name) for name in SENTENCE_FIELDS})
    cells, factors = _cells(sheet, parts, fillers, levels)
    if parts:
        fields["condition"] = [CELL.join(cell.values()) for cell in cells]
    expected, mark = _statuses(sheet, columns, fields)
    frame = sentence_frame(
        sentence_id=_sentence_ids(sheet, fields, fillers),
        text=fields["sentence"],
        expected=expected,
        mark=mark,
        language=fields["sentence_language"],
        attributes=[
            extras | context_attribute(context)
            for extras, context in zip(
                _extras(sheet, columns, [*parts, *ignored]), fields[CONTEXT], strict=True
            )
        ],
        factors=cells,
        is_filler=fillers,
        file=[sheet.file] * len(sheet.frame),
        row=sheet.frame.index.tolist(),
        **{name: fields[name] for name in ("item", "condition", "paradigm", "phenomenon", "critical_region")},
    )
    if "item" in columns:
        findings += blank_items(sheet.frame.index, fields["item"], fillers, file=sheet.file)
    findings += _columns_to_check(sheet, columns, mapping)
    if "sentence_id" not in columns:
        message = "there is no column sentence_id; ids are made from item and condition, or from the line."
        findings.append(Finding("note", "ids_made", message, file=sheet.file))
    return frame, findings, factors


def _columns_to_check(
    sheet: Sheet, columns: Mapping[str, str], mapping: Mapping[str, str]
) -> Iterator[Finding]:
    """Columns whose names resemble a field's, and columns that no participant sees."""
    uses = {*columns.values(), *(part for use in COLUMN_USES for part in mapping.get(use, "").split(JOINT))}
    joined = columns.get("condition", "").split(JOINT)
    free = [str(name) for name in sheet.frame.columns if name not in {*uses, *joined}]
    for name in media_columns(sheet.frame[free]):
        message = f"column {name} names files; sentences are shown as text, without sound or picture."
        yield Finding("warning", "media_not_shown", message, file=sheet.file)
    # the page states a field without a column as empty, answered or not
    missing = {
        name: field
        for name, field in SENTENCE_FIELDS.items()
        if name not in columns and not mapping.get(name)
    }
    proposed: set[str] = set()
    for name, near in near_columns(free, missing).items():
        for column in [column for column in near if column not in proposed][:1]:
            proposed.add(column)
            yield Finding("warning", "near_name", _about_near(sheet, name, column), file=sheet.file)


def _about_near(sheet: Sheet, field: str, column: str) -> str:
    """Say what a column with a name like a field's may be, and why it was not taken for it."""
    if simple_name(column) not in SENTENCE_FIELDS[field].aliases:
        return (
            f"column {column} may be the {field.replace('_', ' ')}: --map {field}={column}, "
            f"or --map attribute={column} if it is not."
        )
    if field == "expected":
        other = next(value for value in _texts(sheet, {field: column}, field) if not expected_status(value))
        return (
            f"column {column} is kept with the sentences and is not the expected status: {other!r} is none."
        )
    return (
        f"column {column} differs in every row, so it is no {field}: --map sentence_id={column} "
        f"if it names the sentences, or --map attribute={column}."
    )


def _without_repeats(
    sheet: Sheet, columns: Mapping[str, str], fillers: list[bool], mapping: Mapping[str, str]
) -> tuple[Sheet, list[bool], list[Finding]]:
    """Leave out rows that repeat a stimulus for another list."""
    names = [str(name) for name in sheet.frame.columns]
    names_of_stimulus = [
        columns[name] for name in ("sentence", "item", "condition", CONTEXT) if name in columns
    ]
    stimulus = [part for column in names_of_stimulus for part in mapped_columns(column, names)]
    showing = [name for name in names if simple_name(name) not in LIST_COLUMNS]
    is_again = repeats_of_lists(sheet.frame, fillers=fillers, stimulus=stimulus, showing=showing)
    if not is_again.any():
        return sheet, fillers, []
    note = repeats_note(int(is_again.sum()), file=sheet.file, row=int(sheet.frame.index[is_again][0]))
    kept = [filler for filler, again in zip(fillers, is_again, strict=True) if not again]
    return replace(sheet, frame=sheet.frame[~is_again]), kept, [note]


def _fillers(sheet: Sheet, columns: dict[str, str], *, is_mapped: bool) -> list[bool]:
    """Return which rows are fillers; a column known by its name only must have no other values."""
    if "filler" not in columns:
        return [False] * len(sheet.frame)
    flags = []
    for row, cell in zip(sheet.frame.index, _texts(sheet, columns, "filler"), strict=True):
        flag = is_filler(cell)
        if flag is None and not is_mapped:
            del columns["filler"]
            return [False] * len(sheet.frame)
        if flag is None:
            raise BadInput(
                f"{cell!r} does not say whether the row is a filler.",
                file=sheet.file,
                row=int(row),
                column=columns["filler"],
                remedy="Write true or false, or filler and target.",
            )
        flags.append(flag)
    return flags


def _cells(
    sheet: Sheet, parts: Sequence[str], fillers: Sequence[bool], levels: Levels
) -> tuple[list[dict[str, str]], dict[str, tuple[str, ...]]]:
    """Return the level of every factor by row, empty for fillers, and the factors with their levels."""
    if not parts and levels:
        raise BadInput(
            "levels are given without factors.", remedy="Map condition to their columns, joined by +."
        )
    texts = {part: [_as_text(value).strip() for value in sheet.frame[part].tolist()] for part in parts}
    cells = pd.DataFrame(texts, index=sheet.frame.index)
    is_target = ~pd.Series(list(fillers), index=sheet.frame.index, dtype=bool)
    if not parts or not is_target.any():
        return [{} for _ in fillers], {}
    names = list_levels(cells[is_target], levels, file=sheet.file)
    rows = [
        {factor_name(part): names[part][value] for part, value in zip(parts, row, strict=True)}
        if target
        else {}
        for row, target in zip(cells.to_numpy().tolist(), is_target, strict=True)
    ]
    return rows, {factor_name(part): tuple(names[part].values()) for part in parts}


def recognize_sheets(sheets: Sequence[Sheet]) -> tuple[Sheet, ...]:
    """Return the sheets with their kinds and columns, as far as these are recognized without a mapping."""
    recognized = []
    for sheet in sheets:
        try:
            kind, columns = recognize_kind(sheet, None)
        except BadInput:  # the reader raises it again, with a mapping perhaps not
            recognized.append(sheet)
        else:
            recognized.append(replace(sheet, kind=kind, columns=columns))
    return tuple(recognized)


def proposed_mapping(sheets: Sequence[Sheet]) -> dict[str, str]:
    """Return a mapping that makes factors of the columns which tell the sentences of an item apart.

    The sheets are those of :func:`recognize_sheets`. Empty where a column is the condition, where there are
    no items, or where no columns do.
    """
    for sheet in sheets:
        columns = dict(sheet.columns)
        if sheet.kind != "sentences" or "item" not in columns or "condition" in columns:
            continue
        fillers = _fillers(sheet, columns, is_mapped=False)
        others = set(columns.values()) - {columns.get("expected")}
        extras = [str(name) for name in sheet.frame.columns if name not in others]
        texts = {name: [_as_text(value).strip() for value in sheet.frame[name].tolist()] for name in extras}
        is_target = ~pd.Series(fillers, index=sheet.frame.index, dtype=bool)
        items = pd.Series(_texts(sheet, columns, "item"), index=sheet.frame.index)
        cells = pd.DataFrame(texts, index=sheet.frame.index)
        names = factor_columns(cells[is_target], items[is_target])
        if len(names) > 1:
            return {**columns, "condition": JOINT.join(names)}
    return {}


def _statuses(
    sheet: Sheet, columns: Mapping[str, str], fields: Mapping[str, list[str]]
) -> tuple[list[str], list[str]]:
    """Parse the column ``expected``; a mark in it, such as ``??``, is stored as the mark."""
    expected, marks = [], []
    for row, value, mark in zip(sheet.frame.index, fields["expected"], fields["mark"], strict=True):
        status = expected_status(value)
        if status is None:
            raise BadInput(
                f"{value!r} is not a status.",
                file=sheet.file,
                row=int(row),
                column=columns["expected"],
                remedy="Write acceptable or unacceptable (or 1 and 0), or map the column to another field.",
            )
        expected.append(status)
        marks.append(mark or (value.strip() if set(value.strip()) <= set("*?#%") else ""))
    return expected, marks


def _sentence_ids(sheet: Sheet, fields: Mapping[str, list[str]], fillers: Sequence[bool]) -> list[str]:
    if any(fields["sentence_id"]):
        for row, name in zip(sheet.frame.index, fields["sentence_id"], strict=True):
            if not name.strip():
                raise BadInput("the sentence has no id.", file=sheet.file, row=int(row), column="sentence_id")
        return fields["sentence_id"]
    parts = zip(fields["paradigm"], fields["item"], fields["condition"], strict=True)
    cells = [":".join(part for part in cell if part) for cell in parts]
    sentence_ids = [
        f"filler:{item or row}" if filler else cell
        for cell, item, filler, row in zip(cells, fields["item"], fillers, sheet.frame.index, strict=True)
    ]
    has_items = all(item or filler for item, filler in zip(fields["item"], fillers, strict=True))
    if has_items and len(set(sentence_ids)) == len(sentence_ids):
        return sentence_ids
    stem = sheet.file.split(".")[0]
    return [f"{stem}:{row}" for row in sheet.frame.index]


def _wide(sheet: Sheet, columns: Mapping[str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two sentences and a pair from each row."""
    for name in ("good", "bad"):
        _refuse_empty(sheet, columns, name, message="the pair has only one sentence.")
    fields = _with_paradigms({name: _texts(sheet, columns, name) for name in WIDE_FIELDS})
    markup = [markup_attribute(extras) for extras in _extras(sheet, columns)]
    stem = sheet.file.split(".")[0]
    pair_ids = [
        pair_id or f"{stem}:{row}" for pair_id, row in zip(fields["pair_id"], sheet.frame.index, strict=True)
    ]
    items = [item or pair_id for item, pair_id in zip(fields["item"], pair_ids, strict=True)]
    if len(set(items)) < len(items):  # an item has one sentence in each condition
        items = pair_ids
    shared = {"paradigm": fields["paradigm"], "phenomenon": fields["phenomenon"], "item": items}
    shared |= {"file": [sheet.file] * len(items), "row": sheet.frame.index.tolist()}
    pairs = pair_frame(
        pair_id=pair_ids,
        good_id=[f"{pair_id}:good" for pair_id in pair_ids],
        bad_id=[f"{pair_id}:bad" for pair_id in pair_ids],
        fields=sheet.frame.to_dict("records"),
        **shared,
    )
    members = [
        sentence_frame(
            sentence_id=[f"{pair_id}:{name}" for pair_id in pair_ids],
            condition=[name] * len(items),
            text=fields[name],
            expected=[status] * len(items),
            attributes=[
                attributes | context_attribute(row_context, shared_context)
                for attributes, row_context, shared_context in zip(
                    markup, fields[f"{CONTEXT}_{name}"], fields[CONTEXT], strict=True
                )
            ],
            **shared,
        )
        for name, status in (("good", ACCEPTABLE), ("bad", UNACCEPTABLE))
    ]
    return pd.concat(members).sort_index(kind="stable"), pairs


def _pairs(sheet: Sheet, columns: Mapping[str, str]) -> pd.DataFrame:
    """Return the pairs of a sheet that names sentences by their ids."""
    for name in ("good_id", "bad_id"):
        _refuse_empty(sheet, columns, name, message="the pair has only one sentence.")
    fields = {name: _texts(sheet, columns, name) for name in PAIR_FIELDS}
    ids = zip(fields["pair_id"], fields["good_id"], fields["bad_id"], strict=True)
    discard = [mark.strip().lower() in _DISCARDED for mark in fields["discard"]]
    return pair_frame(
        pair_id=[pair_id or f"{good}|{bad}" for pair_id, good, bad in ids],
        good_id=fields["good_id"],
        bad_id=fields["bad_id"],
        paradigm=fields["paradigm"],
        phenomenon=fields["phenomenon"],
        fields=sheet.frame.to_dict("records"),
        discard=discard,
        discard_reason=["marked in its file" if marked else "" for marked in discard],
        file=[sheet.file] * len(discard),
        row=sheet.frame.index.tolist(),
    )


def _with_paradigms(fields: dict[str, list[str]]) -> dict[str, list[str]]:
    """Make a phenomenon without paradigms a paradigm of the same name, so that results report it."""
    groups = zip(fields["paradigm"], fields["phenomenon"], strict=True)
    return {**fields, "paradigm": [paradigm or phenomenon for paradigm, phenomenon in groups]}


def _split_paradigms(
    sentence_frames: list[pd.DataFrame], pair_frames: list[pd.DataFrame]
) -> tuple[list[pd.DataFrame], list[pd.DataFrame]]:
    """Name paradigms that several phenomena number alike by phenomenon and paradigm."""
    frames = [*sentence_frames, *pair_frames]
    groups = pd.concat([frame[["paradigm", "phenomenon"]] for frame in frames]).drop_duplicates()
    stated = groups[(groups["phenomenon"] != "") & (groups["paradigm"] != "")]
    several = set(stated["paradigm"][stated["paradigm"].duplicated()])
    renamed = []
    for frame in frames:
        is_shared = frame["paradigm"].isin(several) & (frame["phenomenon"] != "")
        names = (frame["phenomenon"] + ":" + frame["paradigm"]).where(is_shared, frame["paradigm"])
        renamed.append(frame.assign(paradigm=names))
    return renamed[: len(sentence_frames)], renamed[len(sentence_frames) :]


def _with_groups(pairs: pd.DataFrame, sentences: pd.DataFrame) -> pd.DataFrame:
    """Fill a pair's item, paradigm and phenomenon from its good sentence; refuse unknown sentences."""
    by_id = sentences.set_index("sentence_id")
    for name in ("good_id", "bad_id"):
        absent = ~pairs[name].isin(by_id.index)
        if absent.any():
            first = pairs[absent].iloc[0]
            raise BadInput(
                f"there is no sentence {first[name]!r}.",
                file=first["file"],
                row=int(first["row"]),
                column=name,
            )
    filled = {}
    for name in ("item", "paradigm", "phenomenon"):
        of_good = pairs["good_id"].map(by_id[name])
        filled[name] = pairs[name].where(pairs[name] != "", of_good) if name != "item" else of_good
    filled["paradigm"] = filled["paradigm"].where(filled["paradigm"] != "", filled["phenomenon"])
    return pairs.assign(**filled)
