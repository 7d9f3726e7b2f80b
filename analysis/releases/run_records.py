"""How stored runs were scored: a record of each, as it stands beside a file of scores."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from analysis.releases.models import ScoringRun
from analysis.scoring.base import Spec
from analysis.scoring.conventions import conventions_text, scoring_conventions

SPEC = frozenset(one.name for one in fields(Spec))


def run_records(runs: Sequence[ScoringRun], names: Iterable[str]) -> list[dict[str, Any]]:
    """The record of every run under its name in a table, with its conventions in words."""
    return [_record(run, name) for run, name in zip(runs, names, strict=True)]


def _record(run: ScoringRun, name: str) -> dict[str, Any]:
    said = run.spec
    spec = {key: said[key] for key in said if key in SPEC} | {"uri": run.model, "revision": run.revision}
    record = {
        "run": run.pk,
        "model": name,
        "columns": [f"{name}:{run.method}"],
        "spec_id": said.get("spec_id"),
        "spec": spec if "method" in spec else None,  # runs of older versions hold none
        "tokens": said.get("n_tokens"),
        "unknown_tokens": said.get("n_unknown"),
        "flags": said.get("flags"),
    }
    told = scoring_conventions(record)
    return record | {"conventions": told, "text": conventions_text(told)}
