"""What every task offers: its parameters, the data it records, parsing and simulation of an answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from analysis.errors import BadInput

Shows = Literal["pair", "sentence"]


class BadResponse(BadInput):
    """An answer that the task cannot accept; the message is shown to the participant."""


@dataclass(frozen=True)
class Parameter:
    """One setting a researcher may change."""

    name: str
    default: Any
    meaning: str


@dataclass(frozen=True)
class Datum:
    """One thing the task records with every judgment."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Option:
    """A sentence on the screen, under the opaque id that an answer names."""

    id: str
    text: str
    expected: bool | None = None


@dataclass(frozen=True)
class Answer:
    """A parsed response: the value on the scale and, where a member was chosen, its option id."""

    response: str
    value: float
    option_id: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


class Task:
    """Base of all tasks; a subclass in a module of this package is found by its ``name``."""

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""
    shows: ClassVar[Shows] = "sentence"
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    data: ClassVar[tuple[Datum, ...]] = ()

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Fill the defaults in; refuse unknown or impossible settings with :class:`BadInput`."""
        known = {parameter.name: parameter.default for parameter in self.parameters}
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise BadInput(
                f"{self.label} has no parameter {unknown[0]!r}.", remedy=f"It has: {', '.join(known) or 'none'}."
            )
        return {**known, **given}

    def scale(self, settings: Mapping[str, Any]) -> tuple[float | None, float | None]:
        """Lowest and highest value an answer can take; None where unbounded."""
        raise NotImplementedError

    def parse(self, response: str, settings: Mapping[str, Any], *, options: Sequence[Option]) -> Answer:
        """Turn what a form or a script sent into an :class:`Answer`; raise :class:`BadResponse`."""
        raise NotImplementedError

    def simulate(
        self,
        rng: np.random.Generator,
        settings: Mapping[str, Any],
        *,
        options: Sequence[Option],
        acceptability: float,
        profile: str,
    ) -> str:
        """Give the response a simulated participant would send (``acceptability``: latent z)."""
        raise NotImplementedError
