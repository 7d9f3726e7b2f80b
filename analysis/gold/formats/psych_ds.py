"""A release by the names and metadata of Psych-DS: ``data/…_data.csv`` and ``dataset_description.json``."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from ..citation import collective_author, recognize_licence
from ..codebook import describe
from ..facts import TASK_WORDS, Facts
from ..writers import csv_bytes, json_bytes

FOLDER = "data"
DESCRIPTION = "dataset_description.json"
IGNORED = ".psychdsignore"
VERSION = "1.5.1"  # of Psych-DS
UNIQUE = "row_id"  # Psych-DS keeps this header for a key


def psych_ds_files(
    facts: Facts, package: Mapping[str, Any], files: Mapping[str, bytes], *, pairs: pd.DataFrame
) -> dict[str, bytes]:
    """Write the files that Psych-DS adds to a release: its tables under their names, and their metadata.

    Notes
    -----
    The rows of ``pairs`` (those of ``pairs.jsonl``) are the table of pairs. Psych-DS ignores the release's
    other files, which ``.psychdsignore`` lists.

    References
    ----------
    Kline Struhl & Leonard, Psych-DS, schema model 1.5.1 and "Rules and Conventions"
    (https://psychds-docs.readthedocs.io).
    """
    fields = {
        resource["path"]: list(resource["schema"]["fields"])
        for resource in package["resources"]
        if resource["path"] != "pairs.csv"
    }
    tables = {path: files[path] for path in fields if path.endswith(".csv")}
    names = [field["name"] for field in fields.get("pairs.jsonl", [])]
    if UNIQUE in names and pairs[UNIQUE].duplicated().any():
        names = [f"source_{UNIQUE}" if name == UNIQUE else name for name in names]
        pairs = pairs.rename(columns={UNIQUE: f"source_{UNIQUE}"})
        fields["pairs.jsonl"] = [_rename_field(field) for field in fields["pairs.jsonl"]]
    if names:
        tables["pairs.jsonl"] = csv_bytes(pairs.map(_plain_cell), names)
    described = [field for path in sorted(tables) for field in fields[path]]
    added = {f"{FOLDER}/{data_name(facts.slug, path)}": tables[path] for path in sorted(tables)}
    others = sorted({name.split("/")[0] + ("/" if "/" in name else "") for name in files} - {"README.md"})
    return {
        **added,
        DESCRIPTION: json_bytes(dataset_description(facts, described)),
        IGNORED: ("\n".join([*others, "manifest.json"]) + "\n").encode(),
    }


def data_name(slug: str, path: str) -> str:
    """Return the name of a table by Psych-DS: keywords of small letters, values of letters and digits.

    Examples
    --------
    >>> data_name("blimp-validation", "judgments.csv")
    'study-blimpValidation_description-judgments_data.csv'
    """
    table = path.rpartition(".")[0]
    return f"study-{_value(slug)}_description-{_value(table)}_data.csv"


def _value(text: str) -> str:
    parts: list[str] = re.findall(r"[A-Za-z0-9]+", text) or ["study"]
    return parts[0] + "".join(part[0].upper() + part[1:] for part in parts[1:])


def dataset_description(facts: Facts, fields: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Describe the dataset and every column of its data files in JSON-LD, by the terms of schema.org."""
    licence = recognize_licence(facts.licence)
    people = [
        {"@type": "Person", "name": f"{given} {family}", "givenName": given, "familyName": family}
        for family, given in facts.authors
    ]
    kind = f"Acceptability judgments by {TASK_WORDS.get(facts.task, facts.task)}"
    simulated = "; all participants were simulated" if facts.is_simulated else ""
    variables: dict[str, dict[str, Any]] = {}
    for field in fields:
        variables.setdefault(field["name"], _variable(field))
    document: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": facts.title,
        "description": facts.description.strip() or f"{kind}{simulated}.",
        "schemaVersion": f"Psych-DS {VERSION}",
        "author": people or [{"@type": "Organization", "name": collective_author(facts)}],
        "citation": "CITATION.cff",
        "keywords": ["acceptability judgments", "minimal pairs", "human judgments"],
        "variableMeasured": list(variables.values()),
    }
    if facts.language != "und":
        document["inLanguage"] = facts.language
    if facts.first_answer:
        document["temporalCoverage"] = f"{facts.first_answer[:10]}/{facts.last_answer[:10]}"
    if licence:
        document["license"] = licence.path or licence.title
    return document


def _variable(field: Mapping[str, Any]) -> dict[str, Any]:
    limits = field.get("constraints", {})
    levels = f" One of: {', '.join(map(str, limits['enum']))}." if limits.get("enum") else ""
    unit = {"unitText": field["unit"]} if field.get("unit") else {}
    ends = {"minimum": "minValue", "maximum": "maxValue"}
    return {
        "@type": "PropertyValue",
        "name": field["name"],
        "description": f"{field['description']}{levels}",
        **unit,
        **{ends[name]: limits[name] for name in ends if name in limits},
    }


def _rename_field(field: Mapping[str, Any]) -> dict[str, Any]:
    if field["name"] != UNIQUE:
        return dict(field)
    return {"name": f"source_{UNIQUE}", "description": describe(UNIQUE).meaning}


def _plain_cell(value: Any) -> Any:
    """A cell of CSV: lists and objects of the source as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
