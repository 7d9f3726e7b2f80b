"""Treatments of the answers "both" and "neither" in forced choice; :mod:`.undecided` applies them."""

from dataclasses import dataclass

ANSWERS = ("both", "neither")


@dataclass(frozen=True)
class Treatment:
    """Treatment of answers without a chosen member."""

    value: float
    words: str


TREATMENTS = {
    "disagreement": Treatment(0.0, "as disagreement with the expected member"),
    "half": Treatment(0.5, "as one half for each member"),
    "leave_out": Treatment(float("nan"), "not at all: left out of shares and majorities"),
}
