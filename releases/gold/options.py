"""Options of a release, and of a report on one."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from analysis.agreement.inclusion import parse_rule
from analysis.agreement.majority import N_MIN
from analysis.choices import TIES
from analysis.effects.response_times import parse_outlier_rule
from analysis.errors import BadInput, UnknownName
from analysis.gold.formats.registry import format_names
from analysis.multiple_tests import CORRECTIONS

OMITTED = ("round_number", "formats")  # from the stored options, where they are not chosen


@dataclass(frozen=True)
class Options:
    """Everything that a release depends on, beside the data."""

    exclude: str = ""
    rule: str = ""
    ties: str = "strict"
    seed: int = 0
    n_min: int = N_MIN
    round_number: int | None = None  # one round, as if it were a study of its own
    formats: str = ""  # formats of other tools that are written, too; separated by commas

    def __post_init__(self) -> None:
        """Refuse unknown rules and formats before anything is computed."""
        if self.rule:
            parse_rule(self.rule)
        if self.ties not in TIES:
            raise UnknownName("tie rule", self.ties, TIES)
        format_names(self.formats)
        if self.n_min < 1:
            raise BadInput("n_min must be at least 1.", column="n_min", remedy="Give a whole number from 1.")

    @property
    def format_names(self) -> tuple[str, ...]:
        """Formats of other tools that are written, too."""
        return format_names(self.formats)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as stored; without a round if all are covered, without formats if none are chosen."""
        values = asdict(self) | {"formats": ",".join(self.format_names)}
        return {name: value for name, value in values.items() if name not in OMITTED or value}


@dataclass(frozen=True)
class ReportOptions(Options):
    """The same, and the choices of a report's analyses."""

    correction: str = "holm"
    sesoi: float | None = None  # smallest effect of interest, for tests of equivalence
    outliers: str = ""  # rule for response times
    multiverse: bool = False  # every specification of the effect, in the appendix

    def __post_init__(self) -> None:
        """Refuse unknown choices before anything is computed."""
        super().__post_init__()
        if self.correction not in CORRECTIONS:
            raise UnknownName("correction for several tests", self.correction, list(CORRECTIONS))
        parse_outlier_rule(self.outliers)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as stored; analyses at their default are left out, as in reports from before."""
        of_release = {field.name for field in fields(Options)}
        defaults = {field.name: field.default for field in fields(self) if field.name not in of_release}
        return {
            name: value
            for name, value in super().as_dict().items()
            if name not in defaults or value != defaults[name]
        }
