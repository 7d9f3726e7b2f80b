"""Findings about a material set, each with its file, row and ids, and the report that collects them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

#: Findings of one code that a report lists; further ones are only counted.
MAX_LISTED = 100
#: Rows of one code that a report lists.
MAX_ROWS = 1000
MAX_SHOWN_ROWS = 60  # of them in a message, so that it stays below ten lines

#: Code of the check → why its items can be left out.
LEFT_OUT_FOR = {
    "identical_members": "both members of a pair are the same sentence",
    "conflicting_status": "a sentence is expected to be acceptable here and unacceptable there",
    "duplicate_pair": "a pair repeats the two sentences of an earlier one",
    "duplicate_cell": "an item has several sentences in one condition",
    "hole": "an item lacks a condition",
}
LEAVE_OUT = "Correct the rows, or leave the items out: import_materials --leave-out {code}."
#: Code of a check → what to do about its warnings.
REMEDIES = {code: LEAVE_OUT.format(code=code) for code in LEFT_OUT_FOR} | {
    "blank_item": "Write the item in each of these rows, unless they are items of one sentence."
}


def list_rows(rows: Iterable[int], *, has_more: bool = False) -> str:
    """List rows of a file in order and each once, the first ones of many.

    Examples
    --------
    >>> list_rows([4, 2, 2]), list_rows([7])
    ('rows 2, 4', 'row 7')
    """
    numbers = sorted(set(map(int, rows)))
    n_hidden = max(len(numbers) - MAX_SHOWN_ROWS, 0)
    more = f" and {n_hidden} more" if n_hidden and not has_more else " …" if has_more else ""
    listed = ", ".join(map(str, numbers[:MAX_SHOWN_ROWS]))
    return f"{'row' if len(numbers) == 1 else 'rows'} {listed}{more}"


@dataclass(frozen=True)
class Finding:
    """One remark on the materials.

    Attributes
    ----------
    severity : {"error", "warning", "note"}
        Sets with errors are not stored.
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
        Findings by code, including those that are not listed.
    findings : list of Finding
        At most :data:`MAX_LISTED` of each code, in the order of the checks.
    rows : dict of str to list of int
        Lines of the files by code, of at most :data:`MAX_ROWS` findings.
    """

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    rows: dict[str, list[int]] = field(default_factory=dict)

    def add(self, findings: Iterable[Finding]) -> None:
        """Count findings and list the first of each code, and all errors."""
        for finding in findings:
            self.counts[finding.code] += 1
            if self.counts[finding.code] <= MAX_LISTED or finding.severity == "error":
                self.findings.append(finding)
            rows = self.rows.setdefault(finding.code, [])
            if finding.row and len(rows) < MAX_ROWS:
                rows.append(int(finding.row))

    @property
    def warnings(self) -> list[str]:
        """Return each kind of warning as one sentence with all its rows and the remedy."""
        codes = dict.fromkeys(finding.code for finding in self.findings if finding.severity == "warning")
        return [self._warning(code) for code in codes]

    def _warning(self, code: str) -> str:
        first = next(finding for finding in self.findings if finding.code == code)
        has_more = self.counts[code] > MAX_ROWS
        listed = f", {list_rows(self.rows[code], has_more=has_more)}" if self.rows[code] else ""
        place = f"{first.file}{listed}".removeprefix(", ")
        remedy = f" {REMEDIES[code]}" if code in REMEDIES else ""
        return f"{code} ({self.counts[code]}){f' in {place}' if place else ''}: {first.message}{remedy}"

    @property
    def errors(self) -> list[Finding]:
        """The findings that prevent storing the set."""
        return [finding for finding in self.findings if finding.severity == "error"]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        ordered = sorted(self.findings, key=lambda finding: SEVERITIES.index(finding.severity))
        return {
            "counts": dict(self.counts),
            "findings": [{**asdict(finding), "ids": list(finding.ids[:20])} for finding in ordered],
        }
