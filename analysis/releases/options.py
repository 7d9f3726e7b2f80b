"""What a release depends on beside the data."""

from dataclasses import asdict, dataclass
from typing import Any

from analysis.agreement.inclusion import parse_rule
from analysis.agreement.majority import N_MIN, TIES
from analysis.errors import BadInput, UnknownName


@dataclass(frozen=True)
class Options:
    """What a release depends on beside the data."""

    exclude: str = ""
    rule: str = ""
    ties: str = "strict"
    seed: int = 0
    n_min: int = N_MIN
    round_number: int | None = None
    """Only this round, as if it were a study of its own."""

    def __post_init__(self) -> None:
        """Refuse unknown rules before any work."""
        if self.rule:
            parse_rule(self.rule)
        if self.ties not in TIES:
            raise UnknownName("tie rule", self.ties, TIES)
        if self.n_min < 1:
            raise BadInput("n_min must be at least 1.", column="n_min", remedy="Give a whole number from 1.")

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as stored; what covers all rounds says nothing of them."""
        return {name: value for name, value in asdict(self).items() if name != "round_number" or value}
