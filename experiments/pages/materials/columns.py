"""Columns of uploaded tables on the preview: what each is, the order of levels, and one item as stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from django import forms
from django.http import QueryDict

from analysis.errors import BadInput
from experiments.materials.collection import Materials
from experiments.materials.factors import is_filler
from experiments.materials.readers.sheets import Sheet
from experiments.materials.schema import (
    COLUMN_USES,
    JOINT,
    PAIR_FIELDS,
    SENTENCE_FIELDS,
    WIDE_FIELDS,
    Field,
    expected_status,
    mapped_columns,
    simple_name,
)

FACTOR = "factor"
FACTOR_AND_STATUS = "factor_status"
FACTORS = {FACTOR, FACTOR_AND_STATUS}
STATUS_TITLE = "Factor, and the expected status"
KEPT = ""
"""A column that is kept with each sentence, as long as it tells no sentences of an item apart."""
SAMPLED_ROWS, SHOWN_VALUES, SHOWN_CHARACTERS = 5_000, 4, 60
MOST_SHOWN_LEVELS = 12


@dataclass(frozen=True)
class TableColumn:
    """A column of the uploaded files with the values of its first rows."""

    name: str
    values: Sequence[str]

    @property
    def distinct(self) -> list[str]:
        """Values, each once, in their order."""
        return list(dict.fromkeys(self.values))

    @property
    def sample(self) -> str:
        """The first values for a cell of the page."""
        samples = [value[:SHOWN_CHARACTERS] or "(empty)" for value in self.distinct[:SHOWN_VALUES]]
        return ", ".join(samples) + (", …" if len(self.distinct) > SHOWN_VALUES else "")


def table_columns(sheets: Sequence[Sheet]) -> list[TableColumn]:
    """Return the columns of all files, each name once."""
    columns: dict[str, list[str]] = {}
    for sheet in sheets:
        for name in sheet.frame.columns:
            cells = sheet.frame[name].head(SAMPLED_ROWS).tolist()
            columns.setdefault(str(name), []).extend("" if cell is None else str(cell) for cell in cells)
    return [TableColumn(name, values) for name, values in columns.items()]


def meant_fields(recognized: Mapping[str, str]) -> dict[str, Field]:
    """Return the fields that the files' kind of table can have."""
    if recognized.get("good"):
        return WIDE_FIELDS
    if recognized.get("good_id"):
        return {**SENTENCE_FIELDS, **PAIR_FIELDS}
    if recognized.get("sentence"):
        return SENTENCE_FIELDS
    return {**WIDE_FIELDS, **SENTENCE_FIELDS}


def column_uses(columns: Sequence[str], mapping: Mapping[str, str]) -> dict[str, str]:
    """Return by column what a mapping makes of it: a field, ``factor``, or a use."""
    uses = dict.fromkeys(columns, KEPT)
    for field, column in mapping.items():
        parts = [part for part in mapped_columns(column, columns) if part in uses]
        for part in parts:
            uses[part] = FACTOR if field == "condition" and len(parts) > 1 else field
    status = mapping.get("expected", "")
    if status in mapped_columns(mapping.get("condition", ""), columns) and status in uses:
        uses[status] = FACTOR_AND_STATUS
    return uses


class ColumnsForm(forms.Form):
    """Use of each column of the files; one choice for each."""

    def __init__(
        self,
        *,
        columns: Sequence[TableColumn],
        mapping: Mapping[str, str],
        proposed: Sequence[str] = (),
        n_items: int | None = None,
    ) -> None:
        super().__init__(prefix="column")
        self.columns, self.proposed, self.n_items = columns, proposed, n_items
        self.uses = column_uses([column.name for column in columns], mapping)
        fields = meant_fields(mapping)
        self.fields_of_table = fields
        # a column that a mapping names keeps its choice, whatever kind of table the files are
        names = list(dict.fromkeys([*fields, *(use for use in self.uses.values() if use)]))
        titles = {name: name.replace("_", " ").capitalize() for name in names}
        choices = [
            (KEPT, "Keep with the sentence"),
            *([(FACTOR, "Factor"), (FACTOR_AND_STATUS, STATUS_TITLE)] if "sentence" in fields else []),
            *(
                (name, title)
                for name, title in titles.items()
                if name not in {FACTOR, FACTOR_AND_STATUS, *COLUMN_USES}
            ),
            ("attribute", "Keep, it is no factor"),
            ("ignore", "Leave out"),
        ]
        for number, column in enumerate(columns):
            self.fields[str(number)] = forms.ChoiceField(
                choices=choices,
                required=False,
                initial=self.uses[column.name],
                label=f"{column.name} is",
            )

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table of the page: column, its values, the choice, and what follows from it."""
        return [
            {
                "column": column.name,
                "sample": column.sample,
                "field": self[str(number)],
                "found": self._consequence(column, self.uses[column.name]),
                "by": self._recognized_by(column.name),
            }
            for number, column in enumerate(self.columns)
        ]

    def _recognized_by(self, column: str) -> str:
        if column in self.proposed:
            return "by its values"
        field = self.fields_of_table.get(self.uses[column])
        is_named = field is not None and simple_name(column) in (field.name, *field.aliases)
        return "by its name" if is_named else ""

    def _consequence(self, column: TableColumn, use: str) -> str:
        filled = [value for value in column.distinct if value]
        if use in FACTORS:
            empty = "; empty in some rows" if len(filled) < len(column.distinct) else ""
            return f"{len(filled)} levels{empty}"
        if use == "item" and self.n_items is not None:
            return f"{self.n_items} items"
        if use == "filler":
            return f"{sum(is_filler(value) is True for value in column.values)} fillers"
        if use == "expected":
            words = [(value, expected_status(value)) for value in filled[:MOST_SHOWN_LEVELS]]
            return ", ".join(f"{value}: {status or 'unknown'}" for value, status in words)
        return ""


def posted_mapping(data: QueryDict, columns: Sequence[str]) -> dict[str, str]:
    """Return the mapping chosen on the page; empty where no column was sent."""
    uses = {name: data.get(f"column-{number}") for number, name in enumerate(columns)}
    if all(use is None for use in uses.values()):
        return {}
    columns_of: dict[str, list[str]] = {}
    for name, use in uses.items():
        columns_of.setdefault(use or KEPT, []).append(name)
    factors, condition = (
        [name for name, use in uses.items() if use in FACTORS],
        columns_of.get("condition", []),
    )
    statuses = columns_of.pop(FACTOR_AND_STATUS, [])
    columns_of["expected"] = [*columns_of.get("expected", []), *statuses]
    if factors and condition:
        raise BadInput(
            f"{condition[0]!r} is the condition, and {factors[0]!r} is a factor.",
            remedy="Choose factors, or one column as the condition.",
        )
    fields = {**WIDE_FIELDS, **PAIR_FIELDS, **SENTENCE_FIELDS}
    # a field without a column is stated as empty: otherwise an alias would be recognized again
    mapping = dict.fromkeys(fields, "")
    for field in fields:
        names = columns_of.get(field, [])
        if len(names) > 1 and field != "sentence":
            raise BadInput(
                f"{' and '.join(map(repr, names))} are both {field.replace('_', ' ')}.",
                remedy="Choose one of them.",
            )
        mapping[field] = JOINT.join(names)
    mapping["condition"] = JOINT.join(factors) or mapping["condition"]
    return mapping | {use: JOINT.join(columns_of[use]) for use in COLUMN_USES if use in columns_of}


def posted_levels(data: QueryDict, factors: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the levels of each factor, ordered by the position entered; ties keep their order."""
    levels = {}
    for column in factors:
        rows = zip(
            data.getlist(f"position-{column}"),
            data.getlist(f"value-{column}"),
            data.getlist(f"name-{column}"),
            strict=False,
        )
        ordered = sorted(rows, key=lambda row: int(row[0]) if row[0].isdecimal() else len(row[1]) + 1_000)
        if ordered:
            levels[column] = [(value, name.strip() or value) for _, value, name in ordered]
    return levels


def level_rows(
    columns: Sequence[TableColumn], mapping: Mapping[str, str], levels: Mapping[str, Sequence[Sequence[str]]]
) -> list[dict[str, Any]]:
    """Return for each factor its levels as the page lists them: value, name and position."""
    factors = []
    uses = column_uses([column.name for column in columns], mapping)
    for column in columns:
        if uses[column.name] not in FACTORS:
            continue
        values = [value.strip() for value in column.distinct if value.strip()]
        chosen = [(value, name) for value, name in levels.get(column.name, ()) if value in values]
        unlisted = [(value, value) for value in values if value not in {value for value, _ in chosen}]
        factors.append({"column": column.name, "levels": [*chosen, *unlisted][:MOST_SHOWN_LEVELS]})
    return factors


def item_grid(materials: Materials, number: int) -> dict[str, Any] | None:
    """Return one item as a table of the design: the last factor in the columns, the others in the rows."""
    if not materials.factors:
        return None
    targets = materials.sentences[~materials.sentences["is_filler"].astype(bool)]
    items = list(dict.fromkeys(targets["item"]))
    place = min(max(number, 1), len(items))
    rows = targets[targets["item"] == items[place - 1]].to_dict("records")
    sentences = {tuple(row["factors"].values()): row for row in rows}
    *outer, last = materials.factors.values()
    return {
        "item": items[place - 1],
        "place": place,
        "total": len(items),
        "previous": place - 1 if place > 1 else None,
        "next": place + 1 if place < len(items) else None,
        "levels": last,
        "rows": [
            {"name": ", ".join(names), "cells": [sentences.get((*names, level)) for level in last]}
            for names in product(*outer)
        ],
    }
