"""Files of judgments made elsewhere: one module per format, each giving one :class:`JudgmentFile`."""

from judgments.sources.base import FORMATS, JudgmentFile, SourceOptions
from judgments.sources.read import read_judgments

__all__ = ["FORMATS", "JudgmentFile", "SourceOptions", "read_judgments"]
