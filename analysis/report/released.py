"""Read the files of a gold release into data frames, without a database."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..columns import JUDGMENT_COLUMNS, require_columns
from ..errors import BadInput
from ..gold.writers import csv_bytes

REMOVED = "removed.csv"
REMOVED_COLUMNS = ("trial", "step")
STUDY = "study.json"
SCORES, ROSTER, COUNTS = "scores.csv", "models.csv", "counts.csv"
"""Scores of models beside people, their metadata, and what their scores count; absent without models."""
HUMAN, PAIRS, SENTENCES = "human.csv", "pairs.jsonl", "sentences.csv"
DEVIATIONS = "deviations.csv"
REQUIRED_FILES = ("judgments.csv", "participants.csv", "manifest.json", REMOVED, STUDY)
OPTIONAL_FILES = (SCORES, ROSTER, COUNTS, HUMAN, PAIRS, SENTENCES, DEVIATIONS)


@dataclass(frozen=True)
class Released:
    """Data of a release from which a report is computed.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        All rows, excluded ones included, with the names of the release.
    participants : DataFrame
        Pseudonyms and the publishable answers to the questionnaire.
    removed : DataFrame
        ``trial`` and ``step``: the rows that each step removes, independently of the other steps.
    manifest : dict
        Plan, options, conventions and checksums of the release.
    study : dict
        Metadata of the study: design, versions, participant flow.
    """

    judgments: pd.DataFrame
    participants: pd.DataFrame
    removed: pd.DataFrame
    manifest: dict[str, Any]
    study: dict[str, Any]
    scores: pd.DataFrame | None = None
    """``sentence_id`` and one column per model; None without models."""
    sentences: pd.DataFrame | None = None
    roster: pd.DataFrame | None = None
    """Metadata of the models, as for :func:`obelus.comparison.in_depth.models.roster`."""
    counts: pd.DataFrame | None = None
    """Of each ``model`` and ``sentence_id``: ``logprob``, ``n_tokens`` and ``unigram_logprob``."""
    human: pd.DataFrame | None = None
    """``sentence_id``, ``score``, ``n`` and ``sd``."""
    pairs: pd.DataFrame | None = None
    """Minimal pairs with the fields of their source."""
    deviations: Sequence[Mapping[str, str]] = ()
    """Rows of ``deviations.csv``; none in releases from before it."""

    @property
    def frozen_plan(self) -> dict[str, Any] | None:
        """The frozen version that deviations are from, and the later ones; None without one."""
        plan: dict[str, Any] | None = self.manifest.get("frozen_plan")
        return plan

    @property
    def factors(self) -> dict[str, list[str]]:
        """Levels of each factor of the design, both in order."""
        # a list, because the keys of the manifest are sorted
        return {factor["name"]: list(factor["levels"]) for factor in self.manifest.get("factors", [])}

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps of the plan, in order."""
        return list(self.manifest["plan"]["steps"])

    @property
    def options(self) -> dict[str, Any]:
        """Inclusion rule, treatment of ties, seed and minimum number of judgments."""
        return dict(self.manifest["options"])

    @property
    def background(self) -> pd.DataFrame:
        """Published questionnaire answers, one row per participant."""
        columns = [name for name in self.participants.columns if name.startswith("background_")]
        table = self.participants[["participant", *columns]]
        return table.rename(columns={name: name.removeprefix("background_") for name in columns})


def read_released(files: Mapping[str, bytes]) -> Released:
    """Read the files of a release and the rows that its exclusion steps remove."""
    for name in REQUIRED_FILES:
        if name not in files:
            raise BadInput("the file is missing.", file=name, remedy="Unpack the whole package again.")
    judgments = _table(files["judgments.csv"])
    require_columns(judgments, "participant", "session", "trial", "item", "value", "task")
    participants = _table(files["participants.csv"])
    removed = _table(files[REMOVED])
    require_columns(removed, *REMOVED_COLUMNS)
    native = participants.drop_duplicates("participant").set_index("participant")["native"]
    judgments = _convert_types(judgments).assign(native=judgments["participant"].map(native))
    manifest, study = (json.loads(files[name]) for name in ("manifest.json", STUDY))
    return Released(
        judgments,
        participants,
        removed,
        manifest,
        study,
        scores=_numbers(files, SCORES),
        sentences=_table(files[SENTENCES]) if SENTENCES in files else None,
        roster=_numbers(files, ROSTER),
        counts=_numbers(files, COUNTS),
        human=_numbers(files, HUMAN),
        pairs=_records(files, PAIRS),
        deviations=_deviations(files),
    )


def _numbers(files: Mapping[str, bytes], name: str) -> pd.DataFrame | None:
    """Read a table whose columns are numbers, apart from names; None where it is absent."""
    if name not in files:
        return None
    names = dict.fromkeys(("sentence_id", "model", "name", "method", "family", "seed", "corpus"), str)
    return pd.read_csv(io.BytesIO(files[name]), dtype=names, keep_default_na=False, na_values=[""])


def _records(files: Mapping[str, bytes], name: str) -> pd.DataFrame | None:
    """Read a table of JSON lines; None where it is absent or empty."""
    lines = files.get(name, b"").decode().split("\n")
    records = [json.loads(line) for line in lines if line]
    return pd.DataFrame(records) if records else None


def _deviations(files: Mapping[str, bytes]) -> list[dict[str, str]]:
    if DEVIATIONS not in files:
        return []
    return [
        {str(name): str(value) for name, value in row.items()}
        for row in _table(files[DEVIATIONS]).to_dict("records")
    ]


def removed_bytes(removed: pd.DataFrame) -> bytes:
    """Write the table of rows removed by each step as CSV."""
    return csv_bytes(removed, REMOVED_COLUMNS)


def _table(content: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False).astype(object)


def _convert_types(table: pd.DataFrame) -> pd.DataFrame:
    """Convert numbers and flags to their types and repeated texts to categories."""
    typed = table.copy()
    for name in typed.columns:
        column = JUDGMENT_COLUMNS.get(name)
        kind = column.kind if column else "text"
        if kind in ("number", "integer"):
            typed[name] = pd.to_numeric(typed[name].replace("", None)).astype("float64")
        elif kind == "flag":
            words = typed[name].map({"true": True, "false": False})
            typed[name] = pd.array([None if pd.isna(word) else bool(word) for word in words], dtype="boolean")
        # Trial identifiers are unique: as categories they would only cost memory.
        elif name != "trial":
            typed[name] = typed[name].astype("category")
    return typed
