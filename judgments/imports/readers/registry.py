"""Readers by format."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from analysis.errors import BadInput, UnknownName
from analysis.plugins.registry import Plugin, Registry
from judgments.imports.readers.base import JudgmentFile, SourceOptions
from judgments.imports.readers.ibex import read_ibex
from judgments.imports.readers.jspsych import read_jspsych
from judgments.imports.readers.mturk import read_mturk_batch
from judgments.imports.readers.pcibex import read_pcibex
from judgments.imports.readers.presets import PRESETS, read_preset
from judgments.imports.readers.table import TABLE_FIELDS, read_judgment_table

Reader = Callable[[Path, SourceOptions], JudgmentFile]

BUILT_IN: Mapping[str, Reader] = {
    "mturk-batch": read_mturk_batch,
    "table": read_judgment_table,
    "pcibex": read_pcibex,
    "jspsych": read_jspsych,
    "ibex": read_ibex,
    **{name: partial(read_preset, format=name) for name in PRESETS},
}


def _adopt(plugin: Plugin) -> Reader:
    """The reader of a plugin; whatever it raises becomes bad input, which names its package."""
    if not callable(plugin.component):
        raise TypeError("a reader is a function of a path and SourceOptions")
    reader: Reader = plugin.guard(plugin.component, returns=JudgmentFile)
    return reader


READERS: Registry[Reader] = Registry("readers", BUILT_IN, adopt=_adopt)


def format_labels() -> dict[str, str]:
    """Return the formats of plugins with the names of their packages, for choices of a form."""
    return {
        plugin.name: f"{plugin.name} (plugin {plugin.package})"
        for plugin in READERS.plugins()
        if not plugin.problem
    }


def read_judgments(path: Path, format: str, *, options: SourceOptions | None = None) -> JudgmentFile:
    """Read a file of judgments."""
    return READERS.find(format, noun="format")(path, options or SourceOptions())


def parse_judgment_mapping(pairs: list[str]) -> dict[str, str]:
    """Parse the ``our_column=their_column`` pairs of ``--map``.

    Examples
    --------
    >>> parse_judgment_mapping(["value=rating", "item=verb+frame"])
    {'value': 'rating', 'item': 'verb+frame'}
    """
    mapping: dict[str, str] = {}
    for pair in pairs:
        field, sign, column = (part.strip() for part in pair.partition("="))
        if not sign:
            raise BadInput(f"{pair!r} is not a mapping.", remedy="Write our_column=their_column.")
        if field not in TABLE_FIELDS and not field.startswith("background."):
            raise UnknownName("column", field, list(TABLE_FIELDS))
        mapping[field] = column
    return mapping


def parse_labels(pairs: Sequence[str]) -> dict[str, str]:
    """Parse the ``answer=meaning`` pairs of ``--labels``.

    Examples
    --------
    >>> parse_labels(["0=yes", "1=no"])
    {'0': 'yes', '1': 'no'}
    """
    split = [_split_pair(pair, "Write answer=meaning, such as 0=yes.") for pair in pairs]
    return dict(split)


def parse_conditions(pairs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Parse the ``column=value`` pairs of ``--where``.

    Examples
    --------
    >>> parse_conditions(["block=main", "block=second"])
    {'block': ('main', 'second')}
    """
    where: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        column, value = _split_pair(pair, "Write column=value.")
        where[column] = (*where.get(column, ()), value)
    return where


def _split_pair(pair: str, remedy: str) -> tuple[str, str]:
    left, sign, right = (part.strip() for part in pair.rpartition("="))
    if not sign or not left:
        raise BadInput(f"{pair!r} is no pair of the form A=B.", remedy=remedy)
    return left, right
