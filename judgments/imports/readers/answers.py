"""Answers of every reader: codes for no answer, meanings of indexes and words, task and scale."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import BadInput, UnknownName, list_names
from analysis.text import plural
from experiments.materials.schema import ACCEPTABLE, expected_status, simple_name
from judgments.imports.readers.base import SourceOptions
from judgments.imports.readers.cells import TASKS, parse_flag, parse_numbers, strip_cell

_SHOWN = 10  # answers that a message lists
LONGEST_LIKERT = 11
MAX_OF_SOSCI = 101.0  # sliders of SoSci Survey count from 1
_MIN_CODED = 10  # so many answers of a longer scale have more than two values
_PLACES = {
    **dict.fromkeys(("first", "left", "1st", "top", "a"), True),
    **dict.fromkeys(("second", "right", "2nd", "bottom", "b"), False),
}
_NUMBER_FIRST = re.compile(r"[(\[]?([-+]?\d+(?:\.\d+)?)\s*(?:[-–—:=.)(\]/]|\s)\s*[^\W\d].*", re.DOTALL)
_INDEX_COLUMN = re.compile(r"button|key_?press|(choice|response|answer|option)_?(index|idx)", re.IGNORECASE)
_NUMBER_LAST = re.compile(r"[^\W\d].*\(\s*([-+]?\d+(?:\.\d+)?)\s*\)", re.DOTALL)
_PERCENT = re.compile(r"\d+(?:[.,]\d+)?\s*%")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_KINDS = (
    ("slider", re.compile(r"slider|visual.?analog|\bvas\b", re.IGNORECASE)),
    ("magnitude_estimation", re.compile(r"magnitude", re.IGNORECASE)),
    ("likert", re.compile(r"likert|rating|\bscale\b", re.IGNORECASE)),
)
_KIND_COLUMNS = frozenset({"trial_type", "task_type", "response_type", "zone_type", "question_type"})


@dataclass(frozen=True)
class Pairs:
    """Members of the pair of each row: whether the good one came first, names and texts of both."""

    is_good_first: pd.Series
    good: Sequence[pd.Series] = ()
    bad: Sequence[pd.Series] = ()


@dataclass(frozen=True)
class Clues:
    """Facts that a file states about its answers.

    Attributes
    ----------
    task : str
        Task that the tool, the type of the trials or a column names; empty if none does.
    reason : str
        The place where the file states it.
    is_index : bool
        Whether the answers count buttons from 0.
    points : int
        Number of buttons, 0 if not known.
    """

    task: str = ""
    reason: str = ""
    is_index: bool = False
    points: int = 0


@dataclass(frozen=True)
class Answers:
    """Answers as numbers, with task and scale; a cell without an answer is empty and its value NaN."""

    cells: pd.Series
    values: pd.Series
    task: str
    scale: tuple[float | None, float | None]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass
class _Reading:
    """Cells on their way to numbers, and remarks."""

    cells: pd.Series
    column: str
    file: str
    options: SourceOptions
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    is_percent: bool = False

    def fail(self, problem: str, remedy: str, *, level: str | None = None) -> BadInput:
        """Return the error, at the first row of an answer."""
        at = self.cells.index if level is None else self.cells.index[self.cells == level]
        row = int(at[0]) if len(at) else None
        return BadInput(problem, file=self.file, row=row, column=self.column, remedy=remedy)

    @property
    def levels(self) -> list[str]:
        """Different answers, in order of appearance."""
        return [level for level in self.cells.unique() if level]

    def listing(self) -> str:
        """Return the different answers for a message."""
        more = " …" if len(self.levels) > _SHOWN else ""
        return ", ".join(repr(level[:40]) for level in self.levels[:_SHOWN]) + more


def read_answers(
    cells: pd.Series,
    options: SourceOptions,
    *,
    column: str,
    file: str,
    clues: Clues | None = None,
    pairs: Pairs | None = None,
) -> Answers:
    """Read the answers of a file, whose index are its rows.

    Raises
    ------
    BadInput
        Where the meaning of an answer is open: a button's index, a word, a code apart from a short scale.
    """
    clues = clues or Clues()
    texts = cells.map({cell: strip_cell(cell) for cell in cells.unique()})
    reading = _Reading(texts, column, file, options)
    _empty_missing(reading)
    if not reading.levels:
        raise reading.fail(
            "the column of answers is empty in every row.", "Map value to the column that holds the answers."
        )
    task, reason = options.task or clues.task, "as requested" if options.task else clues.reason
    if task and task not in TASKS:
        raise UnknownName("task", task, TASKS)
    values, has_meaning = _values(reading, clues, pairs, task)
    values = values.where((reading.cells != "").to_numpy())
    is_stated = bool(task)
    if reading.is_percent and not task:
        task, reason = "slider", "because the answers are percentages"
    if not task:
        task = _likely_task(values.dropna().to_numpy(), is_pair=pairs is not None, clues=clues)
        reason = "detected from the values; set the task if this is wrong"
    reading.notes.insert(0, f"task {task}, {reason}")
    if not has_meaning:
        _ask_about_codes(reading, values, clues, is_estimate=is_stated and task == "magnitude_estimation")
    if task in ("yes_no", "forced_choice") and set(values.dropna()) - {0.0, 1.0}:
        _refuse_no_choice(reading, values)
    scale, note = infer_scale(
        task, values, low=options.scale_low, high=options.scale_high, is_index=clues.is_index
    )
    reading.notes.insert(1, note)
    if "reversed" in note:
        low, high = (
            (0.0, 1.0) if task in ("yes_no", "forced_choice") else (options.scale_low, options.scale_high)
        )
        values = float(low or 0.0) + float(high or 0.0) - values
    if clues.is_index and task == "likert" and not reading.options.labels:
        reading.warnings.append(
            "answers are indexes that count from 0, and the first button is taken as the lowest point. If it "
            f"is the best: --scale-low {scale[1]:g} --scale-high {scale[0]:g}; other meanings: --labels."
        )
    return Answers(reading.cells, values, task, scale, tuple(reading.notes), tuple(reading.warnings))


BEST_WORST = "best_worst"
_MARKS = {"best": 1.0, "worst": -1.0, "1": 1.0, "-1": -1.0, "0": 0.0, "": 0.0}


def read_marks(
    cells: pd.Series, sets: pd.Series, options: SourceOptions, *, column: str, file: str
) -> Answers:
    """Read the marks of best–worst sets, one row for each sentence: 1 the best, −1 the worst, 0 the others.

    Raises
    ------
    BadInput
        Where a set has two sentences of a mark, or only one mark.
    """
    reading = _Reading(cells.map(strip_cell), column, file, options)
    _empty_missing(reading)
    marks = {**_MARKS, **{_key(label): _MARKS.get(_key(word)) for label, word in options.labels.items()}}
    unknown = [level for level in reading.levels if marks.get(_key(level)) is None]
    if unknown:
        raise reading.fail(
            f"{unknown[0]!r} is no mark of a best–worst set.",
            "Write best, worst or nothing (also 1, -1, 0), or give meanings: --labels most=best least=worst.",
            level=unknown[0],
        )
    values = reading.cells.map({level: marks[_key(level)] for level in reading.cells.unique()}).astype(
        "float64"
    )
    keys = sets.to_numpy()
    n_best, n_worst = ((values == mark).groupby(keys).transform("sum") for mark in (1.0, -1.0))
    is_silent = ((n_best == 0) & (n_worst == 0)).to_numpy()
    is_wrong = ~is_silent & ((n_best != 1) | (n_worst != 1)).to_numpy()
    if is_wrong.any():
        raise BadInput(
            "a set needs one best and one worst sentence.",
            file=file,
            row=int(values.index[is_wrong][0]),
            column=column,
            remedy="Map set to the column that names the set of each row, or correct the marks.",
        )
    words = values.map({1.0: "best", -1.0: "worst", 0.0: ""})
    notes = [f"task {BEST_WORST}: one best and one worst sentence of each set", *reading.notes]
    return Answers(
        words.where(~is_silent, ""), values.where(~is_silent), BEST_WORST, (-1.0, 1.0), tuple(notes)
    )


def _refuse_no_choice(reading: _Reading, values: pd.Series) -> None:
    between = values[values.notna() & ~values.isin((0.0, 1.0))]
    level = str(reading.cells[between.index[0]]) if between.index.is_unique else None
    raise reading.fail(
        f"{between.iloc[0]:g} is neither 0 nor 1.",
        "A choice is 1 (the expected member, yes) or 0; --labels gives answers their meanings, --missing "
        "names codes for no answer, --task takes another task.",
        level=level,
    )


def is_code(level: str, codes: Sequence[str]) -> bool:
    """Return whether an answer is one of the codes, as text or as number.

    Examples
    --------
    >>> is_code("99.0", ["99"]), is_code("skipped", ["Skipped"]), is_code("9", ["99"])
    (True, True, False)
    """
    return any(_key(level) == _key(code) for code in codes)


def _key(text: str) -> str:
    plain = text.strip()
    try:
        return f"{float(plain):g}"
    except ValueError:
        return plain.casefold()


def _empty_missing(reading: _Reading) -> None:
    """Empty the answers that are codes for no answer, and count them."""
    codes = reading.options.missing
    if not codes:
        return
    hits = [level for level in reading.levels if is_code(level, codes)]
    is_hit = reading.cells.isin(hits)
    counts = ", ".join(f"{level} ({int((reading.cells == level).sum())})" for level in hits)
    if hits:
        reading.notes.append(f"no answer, as requested: {counts}")
    if absent := [code for code in codes if not any(is_code(hit, [code]) for hit in hits)]:
        reading.warnings.append(f"no answer is {', '.join(absent)}, which is named as missing.")
    reading.cells = reading.cells.where(~is_hit, "")


def _values(reading: _Reading, clues: Clues, pairs: Pairs | None, task: str) -> tuple[pd.Series, bool]:
    """Return the numbers of the answers, and whether their meanings were given."""
    if pairs is not None:
        chosen = _chosen_member(reading, pairs)
        if chosen is not None:
            return chosen, True
    if reading.options.labels:
        return _apply_labels(reading, pairs), True
    words = _words(reading, pairs)
    if words is not None:
        return words, True
    _strip_labels(reading)
    _strip_percent_signs(reading)
    values = _numbers(reading)
    distinct = set(values.dropna())
    is_choice = distinct <= {0.0, 1.0} and task not in ("likert", "slider", "magnitude_estimation")
    if clues.is_index and is_choice and clues.points <= 2:
        return _choice_by_index(reading, values, pairs), True
    if not task and pairs is None and distinct == {1.0, 2.0} and values.notna().sum() >= _MIN_CODED:
        _ask_about_two(reading)
    if pairs is not None and distinct <= {1.0, 2.0} and 2.0 in distinct and task in ("", "forced_choice"):
        raise reading.fail(
            f"the answers {reading.listing()} do not say which member of the pair was chosen.",
            "Say which is which: --labels 1=first 2=second (with expected_first or shown_first mapped), or "
            "1=good 2=bad; on the page under Meanings of the answers.",
        )
    return values, distinct <= {0.0, 1.0}


def _ask_about_two(reading: _Reading) -> None:
    """Refuse answers that are 1 and 2 only, as surveys code yes and no, unless the user gave the scale."""
    if reading.options.scale_low is None and reading.options.scale_high is None:
        raise reading.fail(
            "the answers are 1 and 2 only, as surveys code two choices; the file does not say which is yes.",
            "Say which is which: --labels 1=yes 2=no (or 1=no 2=yes); on the page under Meanings of the "
            "answers. Points of a scale: --task likert.",
        )


def _chosen_member(reading: _Reading, pairs: Pairs) -> pd.Series | None:
    """Return 1 for the good member and 0 for the bad one where the answers name members; None elsewhere."""
    answered = reading.cells != ""

    def names(members: Sequence[pd.Series]) -> "pd.Series[bool]":
        hit = pd.Series(False, index=reading.cells.index)
        for member in members:
            hit |= (member.to_numpy() == reading.cells.to_numpy()) & answered
        return hit

    is_good, is_bad = names(pairs.good), names(pairs.bad)
    if not answered.any() or not ((is_good ^ is_bad) | ~answered).all():
        return None
    reading.notes.append("the answers name the chosen member of each pair")
    return pd.Series(np.where(is_good, 1.0, np.where(is_bad, 0.0, np.nan)), index=reading.cells.index)


def _apply_labels(reading: _Reading, pairs: Pairs | None) -> pd.Series:
    """Translate answers by the meanings that the user gave."""
    meanings = {_key(label): meaning.strip() for label, meaning in reading.options.labels.items()}
    unknown = [level for level in reading.levels if _key(level) not in meanings]
    if unknown:
        raise reading.fail(
            f"{unknown[0]!r} has no meaning among those given.",
            f"Give every answer one (--labels {unknown[0]}=…) or name it as --missing; the answers are "
            f"{reading.listing()}.",
            level=unknown[0],
        )
    read = {level: meanings[_key(level)] for level in reading.levels}
    reading.notes.append(
        "meanings as requested: "
        + ", ".join(f"{level} is {meaning}" for level, meaning in list(read.items())[:_SHOWN])
    )
    return _meant(reading, reading.cells.map({**read, "": ""}), pairs, read.values())


def _meant(reading: _Reading, meanings: pd.Series, pairs: Pairs | None, words: Any) -> pd.Series:
    """Return the number of each meaning: a number, yes or no, a status, a place of a pair."""
    values = np.full(len(meanings), np.nan)
    for word in dict.fromkeys(words):
        where = (meanings == word).to_numpy()
        number = _number_meant(word, is_pair=pairs is not None)
        if number is not None:
            values[where] = number
        elif pairs is not None and word.casefold() in _PLACES:
            by_place = _by_place(reading, pairs, is_first=_PLACES[word.casefold()])
            values[where] = by_place.to_numpy()[where]
        else:
            raise reading.fail(
                f"{word!r} is no meaning of an answer.",
                "A meaning is a number, yes, no, acceptable or unacceptable; of pairs also good, bad, first "
                "or second.",
            )
    return pd.Series(values, index=meanings.index)


def _number_meant(word: str, *, is_pair: bool) -> float | None:
    try:
        return float(word)
    except ValueError:
        pass
    if is_pair and word.casefold() in _PLACES:
        return None
    flag, status = parse_flag(word), expected_status(word)
    if flag is not None:
        return float(flag)
    return float(status == ACCEPTABLE) if status else None


def _by_place(reading: _Reading, pairs: Pairs, *, is_first: bool) -> pd.Series:
    """Return 1 where the good member was shown at the place, 0 where the other one was."""
    order = pairs.is_good_first
    unknown = order.isna().to_numpy() & (reading.cells != "").to_numpy()
    if unknown.any():
        raise BadInput(
            "the answers are places on the screen, and nothing says which member was shown there.",
            file=reading.file,
            row=int(reading.cells.index[unknown][0]),
            column=reading.column,
            remedy="Map expected_first (or shown_first) to the column that says which member came first; if "
            "a place always held the good member, --labels 0=good 1=bad.",
        )
    known = order.fillna(False).astype(bool)
    return (known == is_first).astype("float64").set_axis(reading.cells.index)


def _words(reading: _Reading, pairs: Pairs | None) -> pd.Series | None:
    """Translate answers that are words; None where they hold numbers."""
    levels = reading.levels
    if any(sign.isdigit() for level in levels for sign in level):
        return None
    readings: list[tuple[str, Callable[[str], Any]]] = [("yes", parse_flag)]
    if pairs is not None:
        readings.insert(0, ("place", lambda word: _PLACES.get(word.casefold())))
    for kind, parse in readings:
        flags = {level: parse(level) for level in levels}
        if None not in flags.values():
            if kind == "place" and pairs is not None:
                named = (f"{level!r} is the {'first' if flags[level] else 'second'}" for level in levels)
                reading.notes.append(f"of the members in the order shown, {', '.join(named)}")
                return _meant(reading, reading.cells, pairs, levels)
            return reading.cells.map({level: float(bool(flag)) for level, flag in flags.items()})
    statuses = {level: expected_status(level) for level in levels}
    if all(statuses.values()):
        flags = {level: status == ACCEPTABLE for level, status in statuses.items()}
        reading.notes.append(
            ", ".join(f"{level} is {'yes' if flag else 'no'}" for level, flag in flags.items())
        )
        return reading.cells.map({level: float(flag) for level, flag in flags.items()})
    raise reading.fail(
        f"{levels[0][:40]!r} is not a number. The answers are {reading.listing()}.",
        f"Give words their meanings (--labels WORD={'first' if pairs else 'NUMBER'} …; on the page Meanings "
        "of the answers), name codes for no answer (--missing), or choose other answers (--map value=NAME).",
        level=levels[0],
    )


def _strip_labels(reading: _Reading) -> None:
    """Keep the number of answers such as ``7 - perfect`` or ``perfect (7)``, where all answers have one."""
    numbers: dict[str, str] = {}
    for level in reading.levels:
        match = _NUMBER_FIRST.fullmatch(level) or _NUMBER_LAST.fullmatch(level)
        numbers[level] = match[1] if match else level
    has_label = [level for level, number in numbers.items() if number != level]
    if not has_label:
        return
    reading.cells = reading.cells.map({**numbers, "": ""})
    reading.notes.append(f"of answers such as {has_label[0]!r} the number counts")


def _strip_percent_signs(reading: _Reading) -> None:
    """Keep the numbers of percentages, where all answers are."""
    if reading.levels and all(_PERCENT.fullmatch(level) for level in reading.levels):
        reading.cells = reading.cells.map(lambda cell: cell.rstrip("% ").replace(",", "."))
        reading.is_percent = True


def _numbers(reading: _Reading) -> pd.Series:
    try:
        return parse_numbers(reading.cells, column=reading.column, file=reading.file)
    except BadInput as error:
        few = len(reading.levels) <= _SHOWN
        raise BadInput(
            f"{error.message} The answers are {reading.listing()}." if few else error.message,
            file=error.file,
            row=error.row,
            column=error.column,
            remedy=f"{error.remedy} --missing names codes for no answer, --labels the meanings of words, "
            "--map value=NAME other answers.",
        ) from None


def _choice_by_index(reading: _Reading, values: pd.Series, pairs: Pairs | None) -> pd.Series:
    """Return choices from the indexes of two buttons; ask where nothing says what they mean."""
    if pairs is not None and not pairs.is_good_first[(reading.cells != "").to_numpy()].isna().any():
        reading.notes.append("button 0 is the member shown first, button 1 the other one")
        first = _by_place(reading, pairs, is_first=True)
        return first.where(values == 0, 1 - first).where(values.notna())
    what = "0=good 1=bad (or map expected_first)" if pairs is not None else "0=yes 1=no (or 0=no 1=yes)"
    raise reading.fail(
        f"the answers are the indexes of buttons ({reading.listing()}), counted from 0; the file does not "
        "say what the buttons mean.",
        f"Say which is which: --labels {what}; on the page under Meanings of the answers. Points of a scale: "
        "--task likert.",
    )


def _likely_task(values: np.ndarray, *, is_pair: bool, clues: Clues) -> str:
    if np.isin(values, (0.0, 1.0)).all() and clues.points <= 2:
        return "forced_choice" if is_pair else "yes_no"
    is_whole = bool((values % 1 == 0).all())
    low, high = float(values.min()), float(values.max())
    if is_whole and (low >= 0 and high <= LONGEST_LIKERT or _is_balanced(low, high)):
        return "likert"
    if low >= 1 and high == MAX_OF_SOSCI and is_whole:
        return "slider"
    if low >= 0 and (high <= 1 or (is_whole and (high == 100 or (95 <= high < 100 and low <= 5)))):
        return "slider"
    return "magnitude_estimation"


def _is_balanced(low: float, high: float) -> bool:
    return -5 <= low < 0 and low == -high


def _ask_about_codes(reading: _Reading, values: pd.Series, clues: Clues, *, is_estimate: bool) -> None:
    """Refuse a few answers apart from a short scale, until the user says what they are."""
    low, high = reading.options.scale_low, reading.options.scale_high
    answered = values.dropna()
    counts = answered.value_counts()
    stray = [] if is_estimate else stray_codes(counts, is_index=clues.is_index)
    bounds = sorted(end for end in (low, high) if end is not None)
    stray = [
        code
        for code in stray
        if not (bounds and (low is None or code >= bounds[0]) and (high is None or code <= bounds[-1]))
    ]
    if not stray:
        is_short = (
            bool((answered % 1 == 0).all()) and answered.min() >= 0 and answered.max() <= LONGEST_LIKERT
        )
        if is_short and len(counts) > 2 and not is_estimate and not clues.is_index:
            reading.warnings += _doubtful_ends(counts, low=low, high=high)
        return
    listed = ", ".join(f"{code:g} ({int(counts[code])})" for code in stray)
    others = answered[~answered.isin(stray)]
    codes = " ".join(f"{code:g}" for code in stray)
    first = values.index[values.isin(stray)][0]
    raise BadInput(
        f"of {plural(len(answered), 'answer')}, {listed} stand apart from the others ({others.min():g} to "
        f"{others.max():g}).",
        file=reading.file,
        row=int(first),
        column=reading.column,
        remedy=f"If they mean no answer: --missing {codes} (on the page Codes for no answer); if they are "
        "answers, give the ends of the scale (--scale-low, --scale-high) or --task magnitude_estimation.",
    )


def _doubtful_ends(counts: pd.Series, *, low: float | None, high: float | None) -> list[str]:
    """Return warnings on end points of a short scale that may be codes: 0, and the point after 5, 7 or 9."""
    top, ends = float(max(counts.index)), []
    is_rare = counts[top] < 0.5 * counts.sum() / top
    if 0.0 in counts.index and low is None:
        ends.append((0.0, "lowest", "low"))
    if high is None and len(counts) > 3 and (top == 8 or top in (6, 10) and is_rare):
        ends.append((top, "highest", "high"))
    return [
        f"{point:g} ({plural(int(counts[point]), 'answer')}) is taken as the {end} point of the scale. If it "
        f"stands for no answer: --missing {point:g}; if it is a point: --scale-{option} {point:g}."
        for point, end, option in ends
    ]


def stray_codes(counts: pd.Series, *, is_index: bool = False) -> list[float]:
    """Return the values that stand apart from a short scale; ``counts`` are numbers of answers by value.

    Examples
    --------
    >>> stray_codes(pd.Series({1.0: 9, 4.0: 9, 7.0: 9, 99.0: 2})), stray_codes(pd.Series({10.0: 3, 80.0: 3}))
    ([99.0], [])
    """
    levels, total = np.array(sorted(counts.index)), counts.sum()
    if len(levels) < 3:
        return []
    outside = [float(level) for level in levels if not 0 <= level <= 1]
    if len(levels) == 3 and len(outside) == 1 and counts[outside[0]] < 0.2 * total:
        return outside  # beside no and yes
    stray: set[float] = set()
    positive = levels[levels >= 0]
    if len(positive) and levels[0] < 0 and not _is_scale_below_zero(levels[levels < 0], positive[-1]):
        stray |= {level for level in levels if level < 0}
    inside_scale = np.array([level for level in levels if level not in stray])
    stray |= _codes_above(inside_scale, counts)
    inside_scale = np.array([level for level in inside_scale if level not in stray])
    is_odd = (
        len(inside_scale) > 3
        and inside_scale[0] == 0
        and inside_scale[-1] in (3, 5, 7, 9, 11)
        and (inside_scale % 1 == 0).all()
    )
    if is_odd and not is_index and counts[0.0] < counts[inside_scale].sum() / (inside_scale[-1] + 1):
        stray.add(0.0)
    few = sum(counts[level] for level in stray) <= 0.4 * total
    return sorted(map(float, stray)) if few else []


def _is_scale_below_zero(negative: np.ndarray, high: float) -> bool:
    """Return whether negative values may be points of a scale: -3 to 3, but not -1 beside 1 to 7."""
    if not high or (negative % 1).any():
        return True
    return bool(-negative[0] <= high and (len(negative) > 1 or high <= 2))


def _codes_above(levels: np.ndarray, counts: pd.Series) -> set[float]:
    """Return the few values far above a scale of up to 11 points, of 100 points, or from 0 to 1."""
    for longest, is_whole, is_far in (
        (1, False, lambda code: code >= 7 and code % 1 == 0),
        (LONGEST_LIKERT, True, lambda code: True),
        (LONGEST_LIKERT, False, lambda code: _is_usual_code(code, least=66)),
        (100, False, _is_usual_code),
    ):
        inside = levels[levels <= longest]
        if is_whole:
            inside = _before_gap(inside[inside % 1 == 0])
        beyond = [level for level in levels if level not in inside]
        enough = len(inside) and counts[inside].sum() >= 0.7 * counts[levels].sum()
        if beyond and enough and len(beyond) <= 3 and all(is_far(code) for code in beyond):
            return set(beyond) if len(inside) > 1 else set()
    return set()


def _before_gap(points: np.ndarray) -> np.ndarray:
    """Leave out a last point of 8, 9 or more that is apart from a scale of at most 7 points."""
    if len(points) > 3 and points[-1] >= 8 and points[-2] <= 7 and points[-1] - points[-2] >= 2:
        return points[:-1]
    return points


def _is_usual_code(code: float, *, least: float = 666) -> bool:
    return code >= least and len(set(f"{code:g}"[:-1])) == 1 and f"{code:g}"[0] in "6789"


def infer_scale(
    task: str, values: pd.Series, *, low: float | None, high: float | None, is_index: bool = False
) -> tuple[tuple[float | None, float | None], str]:
    """Return the lowest and highest point of a task's scale, and how they were determined.

    A lowest point above the highest one reverses the answers: the scale is returned in ascending order.
    """
    how = "detected from the values; set its lowest and highest point if this is wrong"
    if low is not None and high is not None:
        if low == high:
            raise BadInput(
                f"a scale from {low:g} to {high:g} is empty.", remedy="Give two different ends of the scale."
            )
        how = "as requested"
        if low > high:
            low, high, how = high, low, f"reversed as requested: {high:g} is the best answer"
    if task in ("forced_choice", "yes_no"):
        return (0.0, 1.0), "scale 0 to 1" + (f", {how}" if "reversed" in how else "")
    if task == "magnitude_estimation":
        return (low, high), "scale without limits (magnitude estimation)"
    answered = values.dropna()
    smallest, largest = (float(answered.min()), float(answered.max())) if len(answered) else (1.0, 7.0)
    if task == "slider":
        guess = (0.0, 1.0 if largest <= 1 else 100.0)
        if largest == MAX_OF_SOSCI and smallest >= 1:
            guess = (1.0, MAX_OF_SOSCI)
    elif smallest < 0:
        guess = (-max(-smallest, largest), max(-smallest, largest))
    else:
        guess = (0.0 if is_index else min(smallest, 1.0), max(largest, 2.0))
    scale = (guess[0] if low is None else low, guess[1] if high is None else high)
    return scale, f"scale {scale[0]:g} to {scale[1]:g}, {how}"


def stated_task(frame: pd.DataFrame, columns: Mapping[str, str], *, answer: str, file: str) -> Clues:
    """Return the task that a column names: of tasks, of the types of trials, or of the answers."""
    if "task" in columns:
        tasks = sorted({strip_cell(cell) for cell in frame[columns["task"]].unique()} - {""})
        if len(tasks) > 1:
            raise BadInput(
                f"the file holds several tasks ({list_names(tasks)}).",
                file=file,
                column=columns["task"],
                remedy=f"Import one task per study: --where {columns['task']}={tasks[0]}.",
            )
        if tasks:
            return Clues(tasks[0], "as stated in the file")
    for name in frame.columns:
        if simple_name(str(name)) in _KIND_COLUMNS:
            kinds = {strip_cell(cell) for cell in frame[name].unique()} - {""}
            is_button = kinds and all("button" in kind.lower() for kind in kinds)
            if is_button and simple_name(str(name)) != "zone_type":  # Gorilla stores the button's text
                return Clues(is_index=True)
            tasks = sorted({task_of_kind(kind) for kind in kinds})
            if len(tasks) == 1 and tasks[0]:
                return Clues(tasks[0], f"as {name} {sorted(kinds)[0]!r} states")
    if _INDEX_COLUMN.search(answer) and set(map(strip_cell, frame[answer].unique())) <= {"", "0", "1"}:
        return Clues(is_index=True)
    task = task_of_kind(re.sub(r"_", " ", answer)) if "slider" in answer.lower() else ""
    return Clues(task, f"as the name of the column {answer!r} states") if task else Clues()


def task_of_kind(kind: str) -> str:
    """Return the task of a kind of trial or answer; empty where the kind does not name one.

    Examples
    --------
    >>> task_of_kind("html-slider-response"), task_of_kind("survey-likert"), task_of_kind("html-button")
    ('slider', 'likert', '')
    """
    return next((task for task, pattern in _KINDS if pattern.search(kind)), "")


def point_decimals(cells: pd.Series) -> pd.Series:
    """Write decimal commas as points, in a file whose columns no comma separates.

    Examples
    --------
    >>> point_decimals(pd.Series(["3,5", "4", ""])).tolist()
    ['3.5', '4', '']
    """
    levels = [level for level in map(strip_cell, cells.unique()) if level]
    commas = [level for level in levels if _DECIMAL_COMMA.fullmatch(level)]
    is_thousands = all(re.fullmatch(r"[-+]?[1-9]\d{0,2},\d{3}", level) for level in commas)
    if not commas or is_thousands or any("." in level for level in levels):
        return cells
    return cells.str.replace(",", ".", regex=False).where(cells.str.strip().isin(commas), cells)


def select_rows(frame: pd.DataFrame, where: Mapping[str, Sequence[str]], *, file: str) -> pd.DataFrame:
    """Return the rows with one of the values in each of the columns; refuse conditions that no row meets."""
    for column, values in where.items():
        if column not in frame.columns:
            raise UnknownName("column", column, [str(name) for name in frame.columns])
        cells = frame[column].map(lambda cell: strip_cell(cell))
        chosen = cells.isin([value.strip() for value in values])
        if not chosen.any():
            existing = ", ".join(repr(cell[:40]) for cell in list(cells.unique())[:_SHOWN])
            raise BadInput(
                f"no row has {' or '.join(map(repr, values))} here.",
                file=file,
                column=column,
                remedy=f"The values are {existing}.",
            )
        frame = frame[chosen]
    return frame
