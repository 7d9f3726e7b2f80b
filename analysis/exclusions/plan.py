"""An exclusion plan: a named, ordered list of steps that can be stored, compared and cited.

A plan is written down before it is applied; its hash depends on the steps alone, so two plans that
do the same have the same hash.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from analysis.errors import BadInput, UnknownName
from analysis.exclusions.criteria import CRITERIA, SIGNAL_PREFIX

Scope = Literal["participant", "session", "judgment"]
OnMissing = Literal["keep", "drop"]
SCOPES = ("participant", "session", "judgment")
ON_MISSING = ("keep", "drop")


@dataclass(frozen=True)
class Step:
    """One criterion with its parameters, applied to whole participants, sessions or single judgments.

    Parameters
    ----------
    name : str
        Shown in the flow table; unique in a plan.
    scope : {"participant", "session", "judgment"}
        What leaves when the criterion is met.
    rule : str
        Name of a criterion in :data:`analysis.exclusions.criteria.CRITERIA`.
    parameters : mapping
        The criterion's settings; those not given take their defaults.
    on_missing : {"keep", "drop"}
        What happens where there is no evidence either way.

    Raises
    ------
    UnknownName
        If the rule, the scope, a parameter or ``on_missing`` is unknown.
    BadInput
        If the step would score analysed items.

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
        """Give the step as plain values."""
        return {
            "name": self.name,
            "scope": self.scope,
            "rule": self.rule,
            "parameters": dict(self.parameters),
            "on_missing": self.on_missing,
        }


@dataclass(frozen=True)
class Plan:
    """An ordered list of steps under a name.

    Parameters
    ----------
    name : str
    steps : sequence of Step
    version : int
        Counts the versions of the plan of that name.
    author, created_at : str
        Who wrote it and when (ISO 8601, UTC).
    locked_before_first_response : bool
        Whether it was fixed before any judgment came in (preregistered).

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
        """Whether a step reads a quality signal, which needs what the browser noted beside the answers."""
        return any(step.rule.startswith(SIGNAL_PREFIX) for step in self.steps)

    def canonical_json(self) -> str:
        """Give the steps as JSON with sorted keys and no spaces: the text that is hashed."""
        steps = [step.as_dict() for step in self.steps]
        return json.dumps(
            {"format": 1, "steps": steps}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )

    @property
    def sha256(self) -> str:
        """Hash of what the plan does, whatever it is called."""
        return hashlib.sha256(self.canonical_json().encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Give the plan as plain values, with its hash."""
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
        """Read a plan written by :meth:`as_dict`; a hash that does not fit is refused."""
        try:
            steps = [Step(**step) for step in stored["steps"]]
            others = {key: value for key, value in stored.items() if key not in ("steps", "sha256")}
            plan = cls(steps=steps, **others)
        except (KeyError, TypeError) as error:
            raise BadInput(f"this is no exclusion plan: {error}.", remedy="Write it with as_dict.") from error
        if stored.get("sha256", plan.sha256) != plan.sha256:
            raise BadInput(
                f"plan {plan.name!r} was changed after it was hashed.", remedy="Make a new version."
            )
        return plan


def parse_plan(text: str) -> Plan:
    """Read a comma list of built-in steps.

    Parameters
    ----------
    text : str
        For example ``rejected,catch_failed,signal:side_bias``; empty or ``none`` excludes nothing.

    Returns
    -------
    Plan
        Named by the list itself, each step with its default scope and parameters.

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
