"""Readers of judgment files: one module per format, each returns a :class:`JudgmentFile`."""

from judgments.imports.readers.base import FORMATS, JudgmentFile, SourceOptions
from judgments.imports.readers.registry import read_judgments

__all__ = ["FORMATS", "JudgmentFile", "SourceOptions", "read_judgments"]
