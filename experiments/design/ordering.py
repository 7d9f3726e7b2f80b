"""Seeded order under constraints; says which constraint cannot be met."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.errors import BadInput
from experiments.design.trials import PlannedTrial

ATTEMPTS = 200
TARGET = "target"


@dataclass(frozen=True)
class OrderRules:
    """What the order of a list must keep.

    Parameters
    ----------
    apart : mapping of str to int
        Attribute of a trial (``paradigm``, ``condition``, ``item``, ``kind``) → least distance between two
        trials with the same value; 2 means never in a row. Empty values are free. The attribute ``target``
        is shared by all targets and by nothing else: 3 puts two fillers between any two targets.
    longest_run : mapping of str to int
        Attribute → most trials in a row with the same value.
    """

    apart: Mapping[str, int] = field(default_factory=dict)
    longest_run: Mapping[str, int] = field(default_factory=dict)


def _value(trial: PlannedTrial, name: str) -> str:
    """What a rule compares; every target is alike where targets are kept apart."""
    if name == TARGET:
        return TARGET if trial.kind == TARGET else ""
    return str(getattr(trial, name))


@dataclass
class _Progress:
    """Where each value stood last, how long the present run is, and what is still to come."""

    rules: OrderRules
    left: dict[str, Counter[str]]
    n_left: int
    last: dict[tuple[str, str], int] = field(default_factory=dict)
    run: dict[str, tuple[str, int]] = field(default_factory=dict)
    position: int = 0

    def broken_by(self, trial: PlannedTrial) -> str | None:
        """The rule this trial would break here, in words."""
        for name, distance in self.rules.apart.items():
            value = _value(trial, name)
            seen = self.last.get((name, value))
            if value and seen is not None and self.position - seen < distance:
                return _apart(name, distance)
        for name, longest in self.rules.longest_run.items():
            value, length = self.run.get(name, ("", 0))
            if value and value == _value(trial, name) and length >= longest:
                return f"at most {longest} of one {name} in a row"
        return None

    def slack(self, trial: PlannedTrial) -> float:
        """How many places may still go to others before this trial's value cannot be fitted in."""
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
        """Take note of the trial at this position."""
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


def _apart(name: str, distance: int) -> str:
    """A distance rule in words."""
    if name == TARGET:
        return f"at least {distance - 1} fillers between two targets"
    return f"{name} at least {distance} apart"


def unmet_rule(trials: Sequence[PlannedTrial], rules: OrderRules) -> str | None:
    """Name the first rule that no order of these trials could keep.

    Parameters
    ----------
    trials : sequence of PlannedTrial
    rules : OrderRules

    Returns
    -------
    str or None
        A sentence; None when each rule, taken alone, can be kept.

    Notes
    -----
    *N* trials whose most frequent value stands *m* times, shared by *c* values, can be kept *d* apart only if
    (*m* − 1) *d* + *c* ≤ *N*; a value may stand at most *L* in a row only if *m* ≤ (*N* − *m* + 1) *L*.

    Examples
    --------
    >>> both = [PlannedTrial("a", "1", paradigm="npi"), PlannedTrial("b", "2", paradigm="npi")]
    >>> unmet_rule(both, OrderRules(apart={"paradigm": 2}))
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
                    wanted = f"{distance - 1} between any two of {most} targets"
                    return f"{total - most} fillers cannot stand {wanted}: {need} are needed."
                shares = f"{most} of {total} trials have {name} {value!r}"
                return f"{shares}: they cannot be at least {distance} apart."
    for name, longest in rules.longest_run.items():
        counts = Counter(_value(trial, name) for trial in trials if _value(trial, name))
        for value, most in counts.most_common(1):
            if most > (total - most + 1) * longest:
                return f"{most} of {total} trials have {name} {value!r}: runs of {longest} cannot hold them."
    return None


def _attempt(
    trials: Sequence[PlannedTrial], rules: OrderRules, rng: np.random.Generator, *, scarcest_first: bool
) -> tuple[list[PlannedTrial], str]:
    """One try: the order reached, and the rule that stopped it (empty when it is whole)."""
    waiting = _alike(trials, rules, rng)
    progress = _progress(trials, rules)
    sequence: list[PlannedTrial] = []
    margin = max([0, *rules.apart.values(), *rules.longest_run.values()])
    while waiting:
        reasons = {kind: progress.broken_by(alike[-1]) for kind, alike in waiting.items()}
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


def _alike(
    trials: Sequence[PlannedTrial], rules: OrderRules, rng: np.random.Generator
) -> dict[tuple[str, ...], list[PlannedTrial]]:
    """Trials that the rules cannot tell apart, together, each group shuffled."""
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
    """A group by chance, so that each trial of the free groups is equally likely."""
    ends = np.cumsum([len(waiting[kind]) for kind in free])
    return free[int(np.searchsorted(ends, rng.integers(ends[-1]), side="right"))]


def ordered(
    trials: Sequence[PlannedTrial],
    rng: np.random.Generator,
    *,
    rules: OrderRules = OrderRules(),  # noqa: B008 (frozen)
    attempts: int = ATTEMPTS,
) -> list[PlannedTrial]:
    """Put trials into a random order that keeps the rules.

    Parameters
    ----------
    trials : sequence of PlannedTrial
    rng : numpy Generator
        The same seed and trials give the same order.
    rules : OrderRules
    attempts : int
        Random tries before giving up; every second one places the scarcest value first, which
        finds an order for a single distance rule whenever there is one.

    Returns
    -------
    list of PlannedTrial
        The same trials. Positions are left as they are;
        :func:`~experiments.design.trials.numbered` sets them.

    Raises
    ------
    BadInput
        Naming the rule that cannot be met.

    Notes
    -----
    The orders are not equally likely among all that keep the rules; with the loose rules of a usual list
    the difference does not matter, and a list's side, condition and item never depend on it.

    Examples
    --------
    >>> trials = [PlannedTrial(f"{p}{i}", f"{p}{i}", paradigm=p) for p in "ab" for i in range(2)]
    >>> rules = OrderRules(apart={"paradigm": 2})
    >>> [trial.paradigm for trial in ordered(trials, np.random.default_rng(1), rules=rules)]
    ['a', 'b', 'a', 'b']
    """
    impossible = unmet_rule(trials, rules)
    if impossible:
        raise BadInput(impossible, remedy="Add fillers or other paradigms, or loosen this rule.")
    blocked: Counter[str] = Counter()
    for attempt in range(attempts):
        sequence, reason = _attempt(trials, rules, rng, scarcest_first=attempt % 2 == 1)
        if not reason:
            return sequence
        blocked[reason] += 1
    worst = blocked.most_common(1)[0][0]
    raise BadInput(
        f"no order of {len(trials)} trials found in {attempts} tries; the rule that stopped most: {worst}.",
        remedy="Loosen this rule, or add fillers.",
    )


def fitting_rules(trials: Sequence[PlannedTrial]) -> OrderRules:
    """The usual rules that these trials can keep, for a study whose author has set none.

    Parameters
    ----------
    trials : sequence of PlannedTrial

    Returns
    -------
    OrderRules
        No two of one paradigm in a row, and at most two of one condition in a row; each where it can be kept.
    """
    apart = {"paradigm": 2} if unmet_rule(trials, OrderRules(apart={"paradigm": 2})) is None else {}
    runs = {"condition": 2} if unmet_rule(trials, OrderRules(longest_run={"condition": 2})) is None else {}
    return OrderRules(apart=apart, longest_run=runs)
