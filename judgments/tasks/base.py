"""What every task offers: its parameters, the data it records, parsing and simulation of an answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from analysis.errors import BadInput

Shows = Literal["pair", "sentence", "set"]
PROFILES = ("honest", "careless", "left-biased", "random")


class BadResponse(BadInput):
    """An answer that the task cannot accept; the message is shown to the participant.

    ``words`` may hold ``%(name)s`` for each of ``values``; they are catalogued for translation by
    ``make messages``, and translated at the door by :meth:`said_in`.
    """

    def __init__(self, words: str, **values: object) -> None:
        self.words, self.values = words, values
        super().__init__(words % values if values else words)

    def said_in(self, translate: Callable[[str], str]) -> str:
        """The message in another language.

        Examples
        --------
        >>> BadResponse("From %(low)s on.", low=1).said_in({"From %(low)s on.": "Ab %(low)s."}.__getitem__)
        'Ab 1.'
        """
        words = translate(self.words)
        return words % self.values if self.values else words


@dataclass(frozen=True)
class Parameter:
    """One setting a researcher may change."""

    name: str
    default: Any
    meaning: str
    choices: tuple[tuple[str, str], ...] = ()  # words that may stand here, and what they mean


#: Whether a choice waits for Next, for tasks whose buttons would answer at once.
CONFIRM = Parameter(
    "confirm", False, "Whether a choice counts only once Next is pressed; without JavaScript it always does."
)


@dataclass(frozen=True)
class Datum:
    """One thing the task records with every judgment."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Message:
    """A text of the task's own script, translated at the door; the script finds it under its name."""

    name: str
    words: str


@dataclass(frozen=True)
class Option:
    """A sentence on the screen, under the opaque id that an answer names."""

    id: str
    text: str
    expected: bool | None = None
    acceptability: float | None = None  # latent z, in simulation and where a set is shown only


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
    caution: ClassVar[str] = ""  # what a researcher should know before choosing it
    right_answer: ClassVar[str] = "a number"  # how a researcher writes the right answer of a catch trial
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    data: ClassVar[tuple[Datum, ...]] = ()
    messages: ClassVar[tuple[Message, ...]] = ()

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Fill the defaults in; refuse unknown or impossible settings with :class:`BadInput`."""
        known = {parameter.name: parameter.default for parameter in self.parameters}
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise BadInput(
                f"{self.label} has no parameter {unknown[0]!r}.",
                remedy=f"It has: {', '.join(known) or 'none'}.",
            )
        settings = {**known, **given}
        for parameter in self.parameters:
            _check(parameter, settings[parameter.name])
        return settings

    def scale(self, settings: Mapping[str, Any]) -> tuple[float | None, float | None]:
        """Lowest and highest value an answer can take; None where unbounded."""
        raise NotImplementedError

    def arrange(self, settings: Mapping[str, Any], *, turn: int) -> dict[str, Any]:
        """What one participant's screens have beside sentences, kept with every trial.

        ``turn`` counts the participants of a list from 0, so that sides may alternate between them.
        """
        return {}

    def warm_up(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Names of the screens that come once before the trials, in order."""
        return ()

    def screen(self, settings: Mapping[str, Any], *, shown: Mapping[str, Any]) -> dict[str, Any]:
        """What the task's template shows beside sentences: points, labels, buttons; nothing secret."""
        return {}

    def sent(self, form: Mapping[str, str]) -> str:
        """The response that a plain form sends; a task with other fields than ``response`` overrides it."""
        return form.get("response", "")

    def fields(self, response: str) -> dict[str, str]:
        """The fields of the plain form that make a response: the inverse of :meth:`sent`."""
        return {"response": response}

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
        """Give the response a simulated participant would send.

        ``acceptability`` is the latent z of the sentence; for a pair, of the expected member over
        the other. ``profile`` is one of :data:`PROFILES`.
        """
        raise NotImplementedError


def _check(parameter: Parameter, value: Any) -> None:
    """Refuse what is no yes or no, and words that mean nothing."""
    if isinstance(parameter.default, bool) and not isinstance(value, bool):
        raise BadInput(f"{parameter.name} is {value!r}.", remedy="Set it to true or false.")
    known = [word for word, _ in parameter.choices]
    if known and value not in known:
        raise BadInput(f"{parameter.name} is {value!r}.", remedy=f"Choose from {', '.join(known)}.")


def is_correct(answer: Answer, correct: Mapping[str, Any]) -> bool | None:
    """Compare an answer with what a catch or practice trial intends.

    Parameters
    ----------
    answer : Answer
    correct : mapping
        ``{"option": id}`` where a member is to be chosen, ``{"low": x, "high": y}`` where the
        value has to lie in a range (ends included); anything else intends nothing.

    Returns
    -------
    bool or None
        None where no answer is intended.

    Examples
    --------
    >>> is_correct(Answer("6", 6.0), {"low": 5, "high": 7})
    True
    >>> is_correct(Answer("6", 6.0), {}) is None
    True
    """
    if "option" in correct:
        return answer.option_id == str(correct["option"])
    if "low" in correct and "high" in correct:
        return float(correct["low"]) <= answer.value <= float(correct["high"])
    return None


def attentive(rng: np.random.Generator, profile: str) -> bool:
    """Whether a simulated participant reads this trial.

    Parameters
    ----------
    rng : numpy Generator
    profile : {"honest", "careless", "left-biased", "random"}

    Returns
    -------
    bool
        Honest participants always read, careless ones every second trial by chance, left-biased
        ones one in five, random ones never.

    Raises
    ------
    BadInput
        If the profile is unknown.
    """
    shares = dict(zip(PROFILES, (1.0, 0.5, 0.2, 0.0), strict=True))
    if profile not in shares:
        raise BadInput(f"unknown profile {profile!r}.", remedy=f"There are: {', '.join(PROFILES)}.")
    return bool(rng.random() < shares[profile])


def felt_share(rng: np.random.Generator, acceptability: float) -> float:
    """Where on a scale a simulated participant who reads puts a sentence.

    Parameters
    ----------
    rng : numpy Generator
    acceptability : float
        Latent z of the sentence.

    Returns
    -------
    float
        0 the low end, 1 the high end, sometimes beyond: noise of sd 0.5, two and a half sd to each side
        of the middle.
    """
    return (acceptability + rng.normal(0, 0.5)) / 5 + 0.5
