"""A release read back: the frames its numbers are computed from, without a database."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.columns import JUDGMENT_COLUMNS, require_columns
from analysis.errors import BadInput
from analysis.gold.writers import csv_bytes

REMOVED = "removed.csv"
REMOVED_COLUMNS = ("trial", "step")
STUDY = "study.json"
NEEDED = ("judgments.csv", "participants.csv", "manifest.json", REMOVED, STUDY)


@dataclass(frozen=True)
class Released:
    """What a report is computed from.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        All rows, kept or not, as the release names them.
    participants : DataFrame
        Pseudonyms and the background that may be published.
    removed : DataFrame
        ``trial`` and ``step``: which step removes which row, whatever the other steps do.
    manifest : dict
        Of the release: plan, options, conventions, checksums.
    study : dict
        What is known of the study beside its judgments: design, versions, who came and left.
    """

    judgments: pd.DataFrame
    participants: pd.DataFrame
    removed: pd.DataFrame
    manifest: dict[str, Any]
    study: dict[str, Any]

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps of the plan, in order."""
        return list(self.manifest["plan"]["steps"])

    @property
    def options(self) -> dict[str, Any]:
        """Rule, ties, seed and least number of judgments."""
        return dict(self.manifest["options"])

    @property
    def background(self) -> pd.DataFrame:
        """What participants said of themselves and the study publishes."""
        said = [name for name in self.participants.columns if name.startswith("background_")]
        table = self.participants[["participant", *said]]
        return table.rename(columns={name: name.removeprefix("background_") for name in said})


def read_released(files: Mapping[str, bytes]) -> Released:
    """Read the files of a release, and the rows its steps remove.

    Parameters
    ----------
    files : mapping of str to bytes
        :data:`NEEDED` by name.

    Returns
    -------
    Released

    Raises
    ------
    BadInput
        If a file is absent.
    MissingColumns
        If a column is absent.
    """
    for name in NEEDED:
        if name not in files:
            raise BadInput("is not there.", file=name, remedy="Unpack the whole package again.")
    judgments = _table(files["judgments.csv"])
    require_columns(judgments, "participant", "session", "trial", "item", "value", "task")
    participants = _table(files["participants.csv"])
    removed = _table(files[REMOVED])
    require_columns(removed, *REMOVED_COLUMNS)
    native = participants.drop_duplicates("participant").set_index("participant")["native"]
    judgments = _typed(judgments).assign(native=judgments["participant"].map(native))
    manifest, study = (json.loads(files[name]) for name in ("manifest.json", STUDY))
    return Released(judgments, participants, removed, manifest, study)


def removed_bytes(removed: pd.DataFrame) -> bytes:
    """Write which step removes which row.

    Parameters
    ----------
    removed : DataFrame
        ``trial`` and ``step``.

    Returns
    -------
    bytes
        CSV.
    """
    return csv_bytes(removed, REMOVED_COLUMNS)


def _table(content: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False).astype(object)


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    """Give numbers and flags their types; texts that repeat become categories."""
    found = table.copy()
    for name in found.columns:
        column = JUDGMENT_COLUMNS.get(name)
        kind = column.kind if column else "text"
        if kind in ("number", "integer"):
            found[name] = pd.to_numeric(found[name].replace("", None)).astype("float64")
        elif kind == "flag":
            words = found[name].map({"true": True, "false": False})
            found[name] = pd.array([None if pd.isna(word) else bool(word) for word in words], dtype="boolean")
        elif name != "trial":
            found[name] = found[name].astype("category")
    return found
