"""Exclusion plans: named, ordered lists of steps that can be stored, compared and cited.

The hash of a plan depends on its steps only, so that plans with the same effect have the same hash.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from ..errors import BadInput, UnknownName
from .criteria import CRITERIA, SIGNAL_PREFIX, Scope

OnMissing = Literal["keep", "drop"]
SCOPES = ("participant", "session", "judgment")
ON_MISSING = ("keep", "drop")


@dataclass(frozen=True)
class Step:
    """One criterion with its parameters, applied to whole participants, sessions or single judgments.

    Parameters
    ----------
    name : str
        Label in the flow table; unique in a plan.
    scope : {"participant", "session", "judgment"}
        Unit that is excluded when the criterion is met.
    rule : str
        Name of a criterion in :data:`obelus.exclusions.criteria.CRITERIA`.
    parameters : mapping
        Settings of the criterion by name; those left out take their defaults.
    on_missing : {"keep", "drop"}
        Whether a unit without data for the criterion is kept (default) or excluded.

    Raises
    ------
    UnknownName
        If the rule, the scope, a parameter or ``on_missing`` is unknown.
    BadInput
        If the step would depend on the answers to analysed items.

    Examples
    --------
    >>> Step("catch trials", "participant", "catch_failed", {"max_errors": 1}).parameters["max_errors"]
    1
    """

    name: str
    scope: Scope
    rule: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    on_missing: OnMissing = "keep"

    def __post_init__(self) -> None:
        """Check the names and refuse circular steps."""
        if self.rule not in CRITERIA:
            raise UnknownName("exclusion step", self.rule, sorted(CRITERIA))
        if self.scope not in SCOPES:
            raise UnknownName("scope of an exclusion step", self.scope, SCOPES)
        if self.on_missing not in ON_MISSING:
            raise UnknownName("choice for missing evidence", self.on_missing, ON_MISSING)
        criterion = CRITERIA[self.rule]
        if self.scope not in criterion.scopes:
            raise BadInput(
                f"step {self.name!r} cannot work on a single {self.scope}.",
                remedy=f"Its scope is {' or '.join(criterion.scopes)}.",
            )
        for parameter in self.parameters:
            if parameter not in criterion.defaults:
                raise UnknownName(f"parameter of {self.rule}", parameter, sorted(criterion.defaults))
        settings = MappingProxyType({**criterion.defaults, **self.parameters})
        object.__setattr__(self, "parameters", settings)
        criterion.check(settings)

    def as_dict(self) -> dict[str, Any]:
        """Return the step as plain values."""
        return {
            "name": self.name,
            "scope": self.scope,
            "rule": self.rule,
            "parameters": dict(self.parameters),
            "on_missing": self.on_missing,
        }


@dataclass(frozen=True)
class Plan:
    """An ordered list of exclusion steps with a name.

    Parameters
    ----------
    name : str
        Name of the plan, unique in a study; shown on every page, figure and export that uses the plan.
    steps : sequence of Step
        Steps in the order of the flow table. By default none: nothing is excluded.
    version : int
        Version number among the plans of that name, from 1.
    author : str
        User name of the author; empty for plans made in a script.
    created_at : str
        Time of creation in ISO 8601, UTC; empty for plans made in a script.
    locked_before_first_response : bool
        Whether the plan was fixed before the first judgment was collected (preregistered).

    Raises
    ------
    BadInput
        If two steps have the same name.

    Examples
    --------
    >>> plan = Plan("careful", [Step("catch trials", "participant", "catch_failed")])
    >>> plan.sha256 == Plan("another name", plan.steps).sha256
    True
    """

    name: str
    steps: Sequence[Step] = ()
    version: int = 1
    author: str = ""
    created_at: str = ""
    locked_before_first_response: bool = False

    def __post_init__(self) -> None:
        """Freeze the steps and refuse repeated names."""
        object.__setattr__(self, "steps", tuple(self.steps))
        names = [step.name for step in self.steps]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise BadInput(
                f"the plan names {', '.join(repeated)} more than once.", remedy="Give each step its own name."
            )

    @property
    def has_signals(self) -> bool:
        """Whether a step uses a quality signal, which needs the measurements recorded with the answers."""
        return any(step.rule.startswith(SIGNAL_PREFIX) for step in self.steps)

    def canonical_json(self) -> str:
        """Return the steps as JSON with sorted keys and no spaces, the input of the hash."""
        steps = [step.as_dict() for step in self.steps]
        return json.dumps(
            {"format": 1, "steps": steps}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )

    @property
    def sha256(self) -> str:
        """SHA-256 of the steps, independent of the plan's name."""
        return hashlib.sha256(self.canonical_json().encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, with its hash."""
        return {
            "name": self.name,
            "version": self.version,
            "author": self.author,
            "created_at": self.created_at,
            "locked_before_first_response": self.locked_before_first_response,
            "steps": [step.as_dict() for step in self.steps],
            "sha256": self.sha256,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Plan":
        """Restore a plan from :meth:`as_dict`; raises BadInput if the hash does not match."""
        try:
            steps = [Step(**step) for step in stored["steps"]]
            metadata = {key: value for key, value in stored.items() if key not in ("steps", "sha256")}
            plan = cls(steps=steps, **metadata)
        except (KeyError, TypeError) as error:
            raise BadInput(f"this is no exclusion plan: {error}.", remedy="Write it with as_dict.") from error
        if stored.get("sha256", plan.sha256) != plan.sha256:
            raise BadInput(
                f"plan {plan.name!r} was changed after it was hashed.", remedy="Make a new version."
            )
        return plan


def parse_plan(text: str) -> Plan:
    """Parse a comma-separated list of built-in steps.

    Parameters
    ----------
    text : str
        For example ``rejected,catch_failed,signal:side_bias``; empty or ``none`` excludes nothing.

    Returns
    -------
    Plan
        Its name is the list itself; each step has its default scope and parameters.

    Raises
    ------
    UnknownName
        If a step is unknown; near names are suggested.

    Examples
    --------
    >>> [step.rule for step in parse_plan("rejected, catch_failed").steps]
    ['rejected', 'catch_failed']
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    if words in ([], ["none"]):
        return Plan("none")
    unknown = [word for word in words if word not in CRITERIA]
    if unknown:
        raise UnknownName("exclusion step", unknown[0], sorted(CRITERIA))
    steps = [Step(word, CRITERIA[word].scopes[0], word) for word in dict.fromkeys(words)]
    return Plan(",".join(step.name for step in steps), steps)
