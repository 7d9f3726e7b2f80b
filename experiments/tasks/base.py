"""The interface of a task: its parameters, the data it records, parsing and simulation of responses."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, tanh
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from analysis.errors import BadInput
from analysis.plugins.registry import Plugin

if TYPE_CHECKING:
    from numpy.random import Generator

Shows = Literal["pair", "sentence", "set"]
Settings = Mapping[str, Any]
Scale = tuple[float | None, float | None]

#: Simulated participants, and the share of trials that each of them reads.
PROFILES: dict[str, float] = {"honest": 1.0, "careless": 0.5, "left-biased": 0.2, "random": 0.0}


class BadResponse(BadInput):
    """A response that the task cannot accept; the message is shown to the participant.

    ``text`` may hold ``%(name)s`` for each of ``values``. ``tools/messages.py`` collects it for translation,
    so it has to be a literal string where the exception is raised.
    """

    def __init__(self, text: str, **values: object) -> None:
        self.text, self.values = text, values
        super().__init__(text % values if values else text)

    def translate(self, translate: Callable[[str], str]) -> str:
        """Return the message in another language.

        Examples
        --------
        >>> BadResponse("From %(low)s on.", low=1).translate({"From %(low)s on.": "Ab %(low)s."}.__getitem__)
        'Ab 1.'
        """
        text = translate(self.text)
        return text % self.values if self.values else text


@dataclass(frozen=True)
class Parameter:
    """One setting that a researcher may change."""

    name: str
    default: Any
    meaning: str
    choices: tuple[tuple[str, str], ...] = ()  # accepted values with their descriptions
    title: str = ""

    @property
    def label(self) -> str:
        """The label of the parameter in the researcher's form."""
        return self.title or self.name.replace("_", " ").capitalize()


#: For tasks whose buttons would otherwise submit at once.
CONFIRM = Parameter(
    "confirm",
    False,
    "Whether a choice counts only once Next is pressed; without JavaScript it always does.",
    title='Require "Next"',
)


MAX_BETWEEN_MS = 10_000
NOTHING_BETWEEN = "none"  # a constant, because literal defaults are texts that tools/messages.py collects
#: For every task: what is shown between two trials.
BETWEEN = (
    Parameter(
        "between",
        NOTHING_BETWEEN,
        "What is shown between two trials, with JavaScript.",
        choices=((NOTHING_BETWEEN, "nothing"), ("blank", "a blank screen"), ("fixation", "a fixation cross")),
        title="Between trials",
    ),
    Parameter(
        "between_ms",
        500,
        f"Duration of the blank screen or the cross in ms, 50 to {MAX_BETWEEN_MS}.",
        title="Between trials, ms",
    ),
)


@dataclass(frozen=True)
class Datum:
    """One value that the task records with every judgment."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Message:
    """A text of the task's script, which looks it up by name; translated when the page is rendered."""

    name: str
    text: str


@dataclass(frozen=True)
class Option:
    """A sentence on the screen, under the opaque id that a response names."""

    id: str
    text: str
    expected: bool | None = None
    acceptability: float | None = None  # latent z; set in simulations of sets only


Options = Sequence[Option]


@dataclass(frozen=True)
class Answer:
    """A parsed response: the value on the scale and, where a sentence was chosen, its option id."""

    response: str
    value: float
    option_id: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


class Task:
    """Base class of all tasks.

    A subclass sets the class variables and implements :meth:`scale`, :meth:`parse` and the three kinds of
    simulated response; the other methods have defaults.
    """

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""
    shows: ClassVar[Shows] = "sentence"
    caution: ClassVar[str] = ""  # what a researcher should know before choosing the task
    has_points: ClassVar[bool] = False  # answers are whole numbers
    right_answer: ClassVar[str] = "a number"  # how a researcher writes the right answer of a catch trial
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    data: ClassVar[tuple[Datum, ...]] = ()
    messages: ClassVar[tuple[Message, ...]] = ()
    plugin: Plugin | None = None  # the package that offers the task; none of the built-in ones has one

    def settings(self, parameters: Settings) -> dict[str, Any]:
        """Fill in the defaults; raise :class:`BadInput` for unknown or impossible values."""
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        unknown = sorted(set(parameters) - set(defaults))
        if unknown:
            raise BadInput(
                f"{self.label} has no parameter {unknown[0]!r}.",
                remedy=f"It has: {', '.join(defaults) or 'none'}.",
            )
        settings = {**defaults, **parameters}
        for parameter in self.parameters:
            _validate_parameter(parameter, settings[parameter.name])
        between_ms = settings.get("between_ms", BETWEEN[1].default)
        if not is_integer(between_ms) or not 50 <= between_ms <= MAX_BETWEEN_MS:
            raise BadInput(f"between_ms is {between_ms!r}.", remedy=f"Set it to 50 to {MAX_BETWEEN_MS}.")
        self.validate(settings)
        return settings

    def validate(self, settings: Settings) -> None:
        """Raise :class:`BadInput` for impossible settings; all parameters are present."""

    def scale(self, settings: Settings) -> Scale:
        """Return the lowest and highest value of an answer; None where unbounded."""
        raise NotImplementedError

    def can_answer(self, low: float, high: float, settings: Settings) -> bool:
        """Whether every end of a right answer's range is on the scale, and an answer lies within it."""
        least, most = self.scale(settings)
        is_on_scale = (least is None or low >= least) and (most is None or high <= most)
        return is_on_scale and (not self.has_points or ceil(low) <= floor(high))

    def possible_answers(self, settings: Settings) -> str:
        """Return the answers that participants can give, in words."""
        least, most = self.scale(settings)
        if least is not None and most is not None:
            return f"{'whole numbers' if self.has_points else 'numbers'} from {least:g} to {most:g}"
        return "numbers" if least is None else f"numbers from {least:g} on"

    def arrange(self, settings: Settings, *, turn: int) -> dict[str, Any]:
        """Return what one participant's screens show beside sentences; it is stored with every trial.

        ``turn`` counts the participants of a list from 0, so that sides may alternate between them.
        """
        return {}

    def warm_up(self, settings: Settings) -> tuple[str, ...]:
        """Return the names of the screens that come once before the trials, in order."""
        return ()

    def screen(self, settings: Settings, *, arrangement: Mapping[str, Any]) -> dict[str, Any]:
        """Return the template's context beside sentences: points, labels, buttons; nothing secret."""
        return {}

    def read_response(self, form: Mapping[str, str]) -> str:
        """Return the response in a submitted plain form; override where fields differ from ``response``."""
        return form.get("response", "")

    def form_fields(self, response: str) -> dict[str, str]:
        """Return the fields of a plain form for a response: the inverse of :meth:`read_response`."""
        return {"response": response}

    def parse(self, response: str, settings: Settings, *, options: Options) -> Answer:
        """Parse what a form or script sent; raise :class:`BadResponse` with a text for the participant."""
        raise NotImplementedError

    def simulate(
        self, rng: "Generator", settings: Settings, *, options: Options, acceptability: float, profile: str
    ) -> str:
        """Return the response that a simulated participant sends.

        ``acceptability`` is the latent z of the sentence; for a pair, of the expected member over
        the other. ``profile`` is one of :data:`PROFILES`.
        """
        if is_attentive(rng, profile):
            return self.attentive_response(rng, settings, options, acceptability)
        if profile == "left-biased":
            return self.first_response(settings, options)
        return self.random_response(rng, settings, options)

    def attentive_response(
        self, rng: "Generator", settings: Settings, options: Options, acceptability: float
    ) -> str:
        """Respond according to the latent acceptability."""
        raise NotImplementedError

    def first_response(self, settings: Settings, options: Options) -> str:
        """Respond with what comes first on the screen, without reading."""
        raise NotImplementedError

    def random_response(self, rng: "Generator", settings: Settings, options: Options) -> str:
        """Respond at random, without reading."""
        raise NotImplementedError


def _validate_parameter(parameter: Parameter, value: Any) -> None:
    """Refuse a non-boolean for a boolean, and a value that is not among the choices."""
    if isinstance(parameter.default, bool) and not isinstance(value, bool):
        raise BadInput(f"{parameter.name} is {value!r}.", remedy="Set it to true or false.")
    choices = [choice for choice, _ in parameter.choices]
    if choices and value not in choices:
        raise BadInput(f"{parameter.name} is {value!r}.", remedy=f"Choose from {', '.join(choices)}.")


def is_integer(value: object) -> bool:
    """Whether a parameter is a whole number; ``True`` is an int in Python, but not here."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether a parameter is a number; ``True`` is none."""
    return is_integer(value) or isinstance(value, float)


def is_correct(answer: Answer, correct: Mapping[str, Any]) -> bool | None:
    """Compare an answer with the right one of a catch or practice trial; None where there is none.

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


def chosen_option(options: Options, option_id: str) -> tuple[int, Option]:
    """Return the option with that id and its position on the screen, from 1."""
    for position, option in enumerate(options, start=1):
        if option.id == option_id:
            return position, option
    raise BadResponse("That answer does not belong to this screen. Please choose again.")


# The browser checks a typed number by the same rules: they go to it with the screen. A point or comma before
# exactly three digits separates thousands in some languages, decimals in others; U+066B is for decimals only.
NUMBER_RULES: dict[str, Any] = {
    "form": r"[+]?([0-9]+([.,٫][0-9]*)?|[.,٫][0-9]+)",
    "two_ways": r"[+]?[1-9][0-9]{0,2}[.,][0-9]{3}",
    "signs": {
        "،": ",",
        "．": ".",
        "，": ",",
        "＋": "+",
        "\u061c": "",
        "\u200e": "",
        "\u200f": "",
    },  # and direction marks
    "longest": 40,  # longer inputs are refused before they reach float()
}
SIGNS = str.maketrans(NUMBER_RULES["signs"])


def parse_decimal(typed: str) -> float | None:
    """Parse one decimal number without a minus sign, in digits of any script, with a point or a comma.

    Raises :class:`BadResponse` where a separator stands before exactly three digits: participants write a
    thousand as ``1,000`` or ``1.000``, by their language, and guessing would change the measurement.

    Notes
    -----
    Exponents, ``nan`` and ``inf`` are not numbers here, nor is anything with two separators or spaces.

    Examples
    --------
    >>> parse_decimal("62,5"), parse_decimal("٦٢٫٥"), parse_decimal("６２．５"), parse_decimal("0.125")
    (62.5, 62.5, 62.5, 0.125)
    >>> parse_decimal("1,000.5") is None
    True
    """
    plain = "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in typed.strip().translate(SIGNS)
    )
    if len(plain) > NUMBER_RULES["longest"] or not re.fullmatch(NUMBER_RULES["form"], plain):
        return None
    if re.fullmatch(NUMBER_RULES["two_ways"], plain):
        raise BadResponse(
            "%(typed)s can mean %(large)s or %(small)s. Please type the number that you mean.",
            typed=typed.strip(),
            large=re.sub("[+.,]", "", plain),
            # Three decimals would be asked about again; four are not.
            small=(f"{plain}0" if plain[-1] != "0" else plain.rstrip("0").rstrip(".,")).lstrip("+"),
        )
    return float(plain.replace(",", ".").replace("٫", "."))


def is_attentive(rng: "Generator", profile: str) -> bool:
    """Draw whether a simulated participant reads this trial."""
    if profile not in PROFILES:
        raise BadInput(f"unknown profile {profile!r}.", remedy=f"There are: {', '.join(PROFILES)}.")
    return bool(rng.random() < PROFILES[profile])


def prefers(rng: "Generator", difference: float) -> bool:
    """Draw a choice with logistic probability of a latent difference."""
    return bool(rng.random() < (1 + tanh(difference / 2)) / 2)


def latent_point(rng: "Generator", acceptability: float, *, n_points: int) -> int:
    """Draw the point, from 0, at which an attentive participant rates a sentence.

    Notes
    -----
    Latent z with noise of sd 0.5; the scale spans 2.5 sd to each side of the middle.
    """
    share = (acceptability + rng.normal(0, 0.5)) / 5 + 0.5
    return min(max(round(share * (n_points - 1)), 0), n_points - 1)
