"""What the checks of a material set found: each finding names its file, row and ids."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

#: Findings of one code that are written out; the rest is counted.
WRITTEN_OUT = 100


@dataclass(frozen=True)
class Finding:
    """One thing to know about the materials.

    Attributes
    ----------
    severity : {"error", "warning", "note"}
        An error keeps the set from being stored.
    code : str
        Short name of the check.
    message : str
        One sentence.
    file : str
    row : int or None
        Line of the file, from 1.
    ids : tuple of str
        Sentences or pairs concerned.
    """

    severity: Severity
    code: str
    message: str
    file: str = ""
    row: int | None = None
    ids: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.file, f"row {self.row}" if self.row else "") if part)
        return f"{self.severity}: {place + ': ' if place else ''}{self.message}"


@dataclass
class Report:
    """Counts by code, and the first findings of each code.

    Attributes
    ----------
    counts : Counter of str
        Findings by code, also those not written out.
    findings : list of Finding
        At most :data:`WRITTEN_OUT` of each code, in the order of the checks.
    """

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, findings: Iterable[Finding]) -> None:
        """Take findings in.

        Parameters
        ----------
        findings : iterable of Finding
        """
        for finding in findings:
            self.counts[finding.code] += 1
            if self.counts[finding.code] <= WRITTEN_OUT or finding.severity == "error":
                self.findings.append(finding)

    @property
    def errors(self) -> list[Finding]:
        """The findings that keep the set from being stored."""
        return [finding for finding in self.findings if finding.severity == "error"]

    def as_dict(self) -> dict[str, Any]:
        """Give the report as plain values, for JSON.

        Returns
        -------
        dict
            ``counts`` by code and ``findings``, gravest first.
        """
        ordered = sorted(self.findings, key=lambda finding: SEVERITIES.index(finding.severity))
        return {
            "counts": dict(self.counts),
            "findings": [{**asdict(finding), "ids": list(finding.ids[:20])} for finding in ordered],
        }
