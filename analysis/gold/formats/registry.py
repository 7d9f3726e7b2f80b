"""Formats in which a release is written on request, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...errors import UnknownName
from ..facts import Facts
from .ewok_items import ewok_files
from .minicons_stimuli import minicons_files
from .psych_ds import psych_ds_files


@dataclass(frozen=True)
class Contents:
    """Contents of a release: facts, data package, files, and the tables of sentences and pairs."""

    facts: Facts
    package: Mapping[str, Any]
    files: Mapping[str, bytes]
    sentences: pd.DataFrame
    pairs: pd.DataFrame


@dataclass(frozen=True)
class Format:
    """A format: its label, the files that it adds, and the content of each file or folder of it."""

    label: str
    write: Callable[[Contents], dict[str, bytes]]
    contents: Mapping[str, str]


FORMATS: Mapping[str, Format] = {
    "psych-ds": Format(
        "Psych-DS: data/ and dataset_description.json",
        lambda of: psych_ds_files(of.facts, of.package, of.files, pairs=of.pairs),
        {
            "data/": "the tables as CSV under the names of Psych-DS",
            "dataset_description.json": "the dataset and every column in JSON-LD (Psych-DS)",
            ".psychdsignore": "files that are no part of Psych-DS",
        },
    ),
    "ewok": Format(
        "EWoK: pairs with contexts for the BabyLM evaluation pipeline",
        lambda of: ewok_files(of.pairs, of.sentences),
        {"ewok/": "pairs with contexts as items of EWoK; left_out.csv names the other pairs and says why"},
    ),
    "minicons": Format(
        "minicons: sentences and stimuli",
        lambda of: minicons_files(of.sentences),
        {"minicons/": "sentences as minicons reads them, one in a line, and a table with prefixes and ids"},
    ),
}


def format_names(text: str) -> tuple[str, ...]:
    """Return the formats of a list with commas, each once, in the order of :data:`FORMATS`.

    Examples
    --------
    >>> format_names("ewok, psych-ds")
    ('psych-ds', 'ewok')
    """
    names = {name.strip() for name in text.split(",")} - {""}
    if unknown := sorted(names - set(FORMATS)):
        raise UnknownName("format", unknown[0], list(FORMATS))
    return tuple(name for name in FORMATS if name in names)


def format_contents(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the files and folders of formats with their content, for the dataset card."""
    return [row for name in names for row in FORMATS[name].contents.items()]
