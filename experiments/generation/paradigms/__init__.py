"""Paradigms of minimal pairs that linguists write as TOML files: language, sampler and linter."""

from experiments.generation.paradigms.document import (
    Paradigm,
    find_paradigm,
    parse_paradigm,
    read_paradigm,
    read_source,
    shipped_paradigms,
)
from experiments.generation.paradigms.linter import Finding, LintReport, lint
from experiments.generation.paradigms.sampling import Sampler, sample_pairs

__all__ = [
    "Finding",
    "LintReport",
    "Paradigm",
    "Sampler",
    "find_paradigm",
    "lint",
    "parse_paradigm",
    "read_paradigm",
    "sample_pairs",
    "shipped_paradigms",
    "read_source",
]
