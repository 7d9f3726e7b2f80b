"""Random order under constraints; an error names the constraint that cannot be met."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.errors import BadInput
from experiments.design.trials import PlannedTrial

ATTEMPTS = 200  # random orders tried before giving up
TARGET = "target"


@dataclass(frozen=True)
class OrderRules:
    """Constraints on the order of a list.

    Parameters
    ----------
    apart : mapping of str to int
        Attribute of a trial (``paradigm``, ``condition``, ``item``, ``kind``) → smallest distance between two
        trials with the same value; 2 means never in a row. Empty values are free. The attribute ``target``
        is shared by all targets and by nothing else: 3 puts two fillers between any two targets.
    longest_run : mapping of str to int
        Attribute → largest number of trials in a row with the same value.
    """

    apart: Mapping[str, int] = field(default_factory=dict)
    longest_run: Mapping[str, int] = field(default_factory=dict)


def _value(trial: PlannedTrial, name: str) -> str:
    """Return the value that a rule compares; the attribute ``target`` is the same for all targets."""
    if name == TARGET:
        return TARGET if trial.kind == TARGET else ""
    return str(getattr(trial, name))


@dataclass
class _Progress:
    """The state of an order in progress: last positions, current runs and remaining values."""

    rules: OrderRules
    left: dict[str, Counter[str]]
    n_left: int
    last: dict[tuple[str, str], int] = field(default_factory=dict)
    run: dict[str, tuple[str, int]] = field(default_factory=dict)
    position: int = 0

    def violated_rule(self, trial: PlannedTrial) -> str | None:
        """Return the rule that this trial would break at the current position, or None."""
        for name, distance in self.rules.apart.items():
            value = _value(trial, name)
            last_position = self.last.get((name, value))
            if value and last_position is not None and self.position - last_position < distance:
                return _distance_text(name, distance)
        for name, longest in self.rules.longest_run.items():
            value, length = self.run.get(name, ("", 0))
            if value and value == _value(trial, name) and length >= longest:
                return f"at most {longest} of one {name} in a row"
        return None

    def slack(self, trial: PlannedTrial) -> float:
        """Return how many positions other trials may take before this trial's value no longer fits."""
        slack = float("inf")
        for name, distance in self.rules.apart.items():
            if _value(trial, name):
                count = self.left[name][_value(trial, name)]
                slack = min(slack, self.n_left - ((count - 1) * distance + 1))
        for name, longest in self.rules.longest_run.items():
            if _value(trial, name):
                count = self.left[name][_value(trial, name)]
                slack = min(slack, (self.n_left - count + 1) * longest - count)
        return slack

    def place(self, trial: PlannedTrial) -> None:
        """Record the trial at the current position."""
        for name in {*self.rules.apart, *self.rules.longest_run}:
            value = _value(trial, name)
            self.left[name][value] -= 1
            self.last[name, value] = self.position
            before, length = self.run.get(name, ("", 0))
            self.run[name] = (value, length + 1 if value == before else 1)
        self.position += 1
        self.n_left -= 1


def _progress(trials: Sequence[PlannedTrial], rules: OrderRules) -> _Progress:
    names = {*rules.apart, *rules.longest_run}
    return _Progress(
        rules, {name: Counter(_value(trial, name) for trial in trials) for name in names}, len(trials)
    )


def _distance_text(name: str, distance: int) -> str:
    """Describe a distance rule."""
    if name == TARGET:
        return f"at least {distance - 1} fillers between two targets"
    return f"{name} at least {distance} apart"


def unsatisfiable_rule(trials: Sequence[PlannedTrial], rules: OrderRules) -> str | None:
    """Describe the first rule that no order of these trials satisfies; None if there is none.

    Notes
    -----
    *N* trials whose most frequent value occurs *m* times, shared by *c* values, can be *d* apart only if
    (*m* − 1) *d* + *c* ≤ *N*; a value occurs at most *L* times in a row only if *m* ≤ (*N* − *m* + 1) *L*.

    Examples
    --------
    >>> trials = [PlannedTrial("a", "1", paradigm="npi"), PlannedTrial("b", "2", paradigm="npi")]
    >>> unsatisfiable_rule(trials, OrderRules(apart={"paradigm": 2}))
    "2 of 2 trials have paradigm 'npi': they cannot be at least 2 apart."
    """
    total = len(trials)
    for name, distance in rules.apart.items():
        counts = Counter(_value(trial, name) for trial in trials if _value(trial, name))
        for value, most in counts.most_common(1):
            tied = sum(count == most for count in counts.values())
            if (most - 1) * distance + min(tied, distance) > total:
                if name == TARGET:
                    need = (most - 1) * (distance - 1)
                    between = f"{distance - 1} between any two of {most} targets"
                    return f"{total - most} fillers are too few to put {between}: {need} are needed."
                shares = f"{most} of {total} trials have {name} {value!r}"
                return f"{shares}: they cannot be at least {distance} apart."
    for name, longest in rules.longest_run.items():
        counts = Counter(_value(trial, name) for trial in trials if _value(trial, name))
        for value, most in counts.most_common(1):
            if most > (total - most + 1) * longest:
                return f"{most} of {total} trials have {name} {value!r}: {longest} in a row cannot be kept."
    return None


def _attempt(
    trials: Sequence[PlannedTrial], rules: OrderRules, rng: np.random.Generator, *, scarcest_first: bool
) -> tuple[list[PlannedTrial], str]:
    """Return the order reached in one attempt, and the rule that stopped it (empty if complete)."""
    waiting = _interchangeable(trials, rules, rng)
    progress = _progress(trials, rules)
    sequence: list[PlannedTrial] = []
    margin = max([0, *rules.apart.values(), *rules.longest_run.values()])
    while waiting:
        reasons = {kind: progress.violated_rule(group[-1]) for kind, group in waiting.items()}
        free = [kind for kind, reason in reasons.items() if reason is None]
        if not free:
            return sequence, Counter(reason for reason in reasons.values() if reason).most_common(1)[0][0]
        slack = [
            (progress.slack(waiting[kind][-1]), chance)
            for kind, chance in zip(free, rng.random(len(free)), strict=True)
        ]
        least = min(slack)
        urgent = scarcest_first or least[0] <= margin
        kind = free[slack.index(least)] if urgent else _by_size(free, waiting, rng)
        trial = waiting[kind].pop()
        if not waiting[kind]:
            del waiting[kind]
        progress.place(trial)
        sequence.append(trial)
    return sequence, ""


def _interchangeable(
    trials: Sequence[PlannedTrial], rules: OrderRules, rng: np.random.Generator
) -> dict[tuple[str, ...], list[PlannedTrial]]:
    """Group the trials that the rules do not distinguish, each group in random order."""
    names = sorted({*rules.apart, *rules.longest_run})
    groups: dict[tuple[str, ...], list[PlannedTrial]] = {}
    for index in rng.permutation(len(trials)):
        trial = trials[index]
        groups.setdefault(tuple(_value(trial, name) for name in names), []).append(trial)
    return groups


def _by_size(
    free: Sequence[tuple[str, ...]],
    waiting: Mapping[tuple[str, ...], list[PlannedTrial]],
    rng: np.random.Generator,
) -> tuple[str, ...]:
    """Choose a group at random, in proportion to its size."""
    ends = np.cumsum([len(waiting[kind]) for kind in free])
    return free[int(np.searchsorted(ends, rng.integers(ends[-1]), side="right"))]


def order_trials(
    trials: Sequence[PlannedTrial],
    rng: np.random.Generator,
    *,
    rules: OrderRules = OrderRules(),  # noqa: B008 (frozen)
    attempts: int = ATTEMPTS,
) -> list[PlannedTrial]:
    """Put trials into a random order that satisfies the rules.

    Notes
    -----
    The orders that satisfy the rules are not all equally likely. With the default rules the difference is
    negligible, and which sentence is shown on which side never depends on it.

    Examples
    --------
    >>> trials = [PlannedTrial(f"{p}{i}", f"{p}{i}", paradigm=p) for p in "ab" for i in range(2)]
    >>> rules = OrderRules(apart={"paradigm": 2})
    >>> [trial.paradigm for trial in order_trials(trials, np.random.default_rng(1), rules=rules)]
    ['a', 'b', 'a', 'b']
    """
    impossible = unsatisfiable_rule(trials, rules)
    if impossible:
        raise BadInput(impossible, remedy="Add fillers or other paradigms, or relax this rule.")
    blocked: Counter[str] = Counter()
    for attempt in range(attempts):
        sequence, reason = _attempt(trials, rules, rng, scarcest_first=attempt % 2 == 1)
        if not reason:
            return sequence
        blocked[reason] += 1
    worst = blocked.most_common(1)[0][0]
    raise BadInput(
        f"no order of {len(trials)} trials found in {attempts} attempts; most failed because of: {worst}.",
        remedy="Relax this rule, or add fillers.",
    )


def default_rules(trials: Sequence[PlannedTrial]) -> OrderRules:
    """Return the default rules that these trials can satisfy, for a study without rules of its own.

    Notes
    -----
    No two trials of a paradigm in a row, and at most two of a condition in a row; each only if satisfiable.
    """
    apart, runs = {"paradigm": 2}, {"condition": 2}
    return OrderRules(
        apart=apart if unsatisfiable_rule(trials, OrderRules(apart=apart)) is None else {},
        longest_run=runs if unsatisfiable_rule(trials, OrderRules(longest_run=runs)) is None else {},
    )
