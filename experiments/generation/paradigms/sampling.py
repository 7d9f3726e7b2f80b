"""Drawing of distinct pairs of a paradigm: the least used lexeme first, reproducibly."""

import re
import time
import unicodedata
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import BadInput
from experiments.generation.lexicon import Lexeme, Lexicon, read_lexicon
from experiments.generation.lexicon.reading import first_sound
from experiments.generation.paradigms.document import VARIABLE, Condition, Frame, Paradigm, Slot
from experiments.generation.paradigms.language import Language, ParadigmError
from experiments.generation.paradigms.realization import (
    Difference,
    difference,
    join_segments,
    one_prefix,
    segment_text,
    two_prefix,
)
from experiments.generation.paradigms.templates import Place, Template, places

Mask = NDArray[np.bool_]
FORMAT = 1
MAX_PAIRS = 100_000
ATTEMPTS_PER_PAIR = 50
CAPACITY_SHARE = 20  # a set takes at most this part of what is possible
CAPACITY_DRAWS = 60
REPEATED = "repeated"
PUNCTUATION = re.compile(r"[^\w\s]")
Ids = NDArray[np.int64]


class LexiconMasks:
    """Boolean masks over the rows of a lexicon.

    Parameters
    ----------
    lexicon : Lexicon
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon, self.rows = lexicon, lexicon.rows
        lemmas = [row.lemma.casefold() for row in self.rows]
        numbers = {lemma: number for number, lemma in enumerate(dict.fromkeys(lemmas))}
        #: Rows of one lemma have one number, whatever their category.
        self.lemma_numbers = np.array([numbers[lemma] for lemma in lemmas], dtype=np.int64)
        self._masks: dict[tuple[str, ...], Mask] = {}
        self._places: dict[str, dict[tuple[str, ...], list[int]]] = {}
        self._above: dict[tuple[str, ...], frozenset[str]] = {}
        self._terms: dict[tuple[str, ...], tuple[frozenset[str], frozenset[str]]] = {}
        self._vowels = {
            form.casefold().split()[0]: row.features["sound"] == ("vowel",)
            for row in self.rows
            if row.features.get("sound")
            for form in row.forms.values()
        }

    def of_category(self, category: str) -> Mask:
        """Mark the rows of a category."""
        return self._mask(("category", category), lambda row: row.category == category)

    def with_form(self, form: str) -> Mask:
        """Mark the rows that have a form."""
        return self._mask(("form", form), lambda row: bool(row.forms.get(form)))

    def with_value(self, column: str, value: str) -> Mask:
        """Mark the rows whose column matches a value."""
        if column == "lemma":
            return self._mask(("lemma", value), lambda row: row.lemma == value)
        answers: dict[tuple[str, ...], bool] = {}

        def matches(row: Lexeme) -> bool:
            cell = row.features.get(column, ())
            if cell not in answers:
                answers[cell] = self.lexicon.matches(row, column, (value,))
            return answers[cell]

        return self._mask(("value", column, value), matches)

    def with_length(self, form: str, length: int, joiner: str) -> Mask:
        """Mark the rows whose form has so many words, or characters where words are written together."""
        return self._mask(
            ("length", form, str(length)), lambda row: word_length(row.forms.get(form, ""), joiner) == length
        )

    def meeting(self, head: Lexeme, column: str) -> Mask:
        """Mark the rows that a head selects, as the objects of a verb."""
        expression = head.features.get(column, ())
        key = ("meeting", *expression)
        if key not in self._masks:
            mask = np.zeros(len(self.rows), dtype=bool)
            for classes, places in self._by_class.items():
                mask[places] = self._meets(classes, expression)
            self._masks[key] = mask
        return self._masks[key]

    def selecting(self, noun: Lexeme, column: str) -> Mask:
        """Mark the rows that select a noun in a column, as the adjectives that describe it."""
        classes = noun.features.get("class", ())
        key = ("selecting", column, *classes)
        if key not in self._masks:
            mask = np.zeros(len(self.rows), dtype=bool)
            for expression, places in self._cells(column).items():
                mask[places] = self._meets(classes, expression)
            self._masks[key] = mask
        return self._masks[key]

    @cached_property
    def _by_class(self) -> dict[tuple[str, ...], list[int]]:
        return self._cells("class")

    def _cells(self, column: str) -> dict[tuple[str, ...], list[int]]:
        """Return the places of the rows by what they have in a column."""
        if column not in self._places:
            places: dict[tuple[str, ...], list[int]] = defaultdict(list)
            for place, row in enumerate(self.rows):
                if cell := row.features.get(column, ()):
                    places[cell].append(place)
            self._places[column] = places
        return self._places[column]

    def _meets(self, classes: tuple[str, ...], expression: tuple[str, ...]) -> bool:
        """As ``ClassTree.meets``, from sets of the classes above; some 20 times as fast."""
        if classes not in self._above:
            tree = self.lexicon.classes
            above = {name for name in tree.parents for other in classes if tree.is_a(other, name)}
            self._above[classes] = frozenset({*above, *classes})
        if expression not in self._terms:
            excluded = frozenset(term[1:] for term in expression if term[0] == "!")
            self._terms[expression] = frozenset(expression), excluded
        admitted, excluded = self._terms[expression]
        above_classes = self._above[classes]
        return not admitted.isdisjoint(above_classes) and excluded.isdisjoint(above_classes)

    def starts_with_vowel(self, word: str) -> bool:
        """Whether a word begins with a vowel sound: as its row states, else by spelling."""
        stated = self._vowels.get(word.casefold())
        return first_sound(word) == "vowel" if stated is None else stated

    def _mask(self, key: tuple[str, ...], holds: Callable[[Lexeme], bool]) -> Mask:
        if key not in self._masks:
            self._masks[key] = np.fromiter((holds(row) for row in self.rows), bool, len(self.rows))
        return self._masks[key]


def word_length(text: str, joiner: str) -> int:
    """Return the number of words, or of characters where words are written together."""
    return len(text.split()) if joiner else len(text)


@lru_cache(maxsize=4)
def lexicon_masks(lexicon: Lexicon) -> LexiconMasks:
    """Return the masks of a lexicon, shared by all paradigms."""
    return LexiconMasks(lexicon)


@dataclass(frozen=True)
class Pair:
    """A minimal pair with what it was drawn from; segments are words separated by spaces."""

    good: str
    bad: str
    good_segments: str
    bad_segments: str
    frame: Frame
    values: Mapping[str, str]
    lexemes: Mapping[str, str]
    change: Difference
    target: str = ""


@dataclass
class _Plan:
    """A slot with the forms that its lexeme must have and the variables that it reads."""

    slot: Slot
    forms: tuple[str, ...]
    variables: tuple[str, ...]
    binds: tuple[tuple[str, str], ...]
    shared: tuple[tuple[str, str], ...]
    content: bool
    negated_fits: bool = False
    cache: dict[tuple[object, ...], Ids] = field(default_factory=dict)


@dataclass
class _Draw:
    """State of a draw for a pair: values of variables, a row or a word for each slot."""

    values: dict[str, str]
    rows: dict[str, int] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    lemmas: set[int] = field(default_factory=set)
    estimate: float = 1.0
    complete: bool = True


class Sampler:
    """Pairs of one paradigm; the first k of n pairs are the pairs of a run of k.

    Parameters
    ----------
    paradigm : Paradigm
    lexicon : Lexicon, optional
        The shipped one of the paradigm's language, if absent.
    seed : int
    seconds : float, optional
        Limit of all draws together, for paradigms of others; what takes longer raises.
    """

    def __init__(
        self,
        paradigm: Paradigm,
        *,
        lexicon: Lexicon | None = None,
        seed: int = 0,
        seconds: float | None = None,
    ) -> None:
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self.paradigm = paradigm
        self.language = paradigm.language
        self.lexicon = lexicon or read_lexicon(self.language.tag)
        self.masks: LexiconMasks = lexicon_masks(self.lexicon)
        self.seed = seed
        self.rejected: Counter[str] = Counter()
        self._usage: dict[tuple[str, tuple[str, ...]], NDArray[np.float64]] = {}
        self._plans = {id(frame): self._frame_plans(frame) for frame in paradigm.frames}
        self._frames = [self._list_frames(values) for values in paradigm.combinations]

    # ------------------------------------------------------------------ what is possible

    def _frame_plans(self, frame: Frame) -> list[_Plan]:
        """Prepare the slots of a frame; the last is the replacement, where there is one."""
        contrast = frame.contrast
        plans = []
        for slot in frame.slots:
            forms = self._forms(slot, (*frame.good, *contrast.text))
            for other in frame.slots:
                if other.copy == slot.name:
                    forms = (
                        *forms,
                        *self._forms(replace(slot, name=other.name, form=other.form), frame.good),
                    )
            if contrast.kind == "form" and contrast.slots[0] == slot.name:
                forms = (*forms, contrast.form)
            plans.append(self._plan(slot, forms))
        if contrast.replacement is not None:
            slot = next(slot for slot in frame.slots if slot.name == contrast.slots[0])
            if contrast.replacement.words:
                forms = ()
            elif contrast.replacement.form == slot.form and contrast.replacement.category == slot.category:
                forms = self._forms(slot, frame.good)
            else:
                forms = (self._default(contrast.replacement),)
            plan = self._plan(contrast.replacement, forms)
            plan.negated_fits = contrast.selection
            plans.append(plan)
        return plans

    def _forms(self, slot: Slot, template: Template) -> tuple[str, ...]:
        if not slot.category:
            return ()
        forms = [place.form or self._default(slot) for place in places(template) if place.slot == slot.name]
        return tuple(dict.fromkeys(forms))

    def _default(self, slot: Slot) -> str:
        return slot.form or self.language.default.get(slot.category, "base")

    def _plan(self, slot: Slot, forms: tuple[str, ...]) -> _Plan:
        values = [
            (key.removeprefix("!"), value, key.startswith("!"))
            for entry in slot.where
            for key, options in entry.items()
            for value in options
        ]
        read = {name for _, value, _ in values for name in VARIABLE.findall(value)}
        read |= {name for form in forms for name in VARIABLE.findall(form)}
        return _Plan(
            slot,
            forms=forms,
            variables=tuple(sorted(read)),
            binds=tuple(
                (value[1:], column) for column, value, negative in values if value[0] == "$" and not negative
            ),
            shared=tuple(
                (value[1:].rpartition(".")[0], value[1:].rpartition(".")[2])
                for _, value, _ in values
                if value[0] == "@"
            ),
            content=slot.category in self.language.content,
        )

    def _list_frames(self, values: dict[str, str]) -> list[list[tuple[Frame, float]]]:
        """List the frames for some values of the variables, each with its expansions that can be filled."""
        frames = []
        numbers = sorted({frame.number for frame in self.paradigm.frames})
        for number in numbers:
            variants = [
                frame
                for frame in self.paradigm.frames
                if frame.number == number
                and all(values[name] in allowed for name, allowed in frame.when.items())
            ]
            possible = [frame for frame in variants if self._can_be_filled(frame, values)]
            if variants and not possible:
                self._refuse_empty(variants[0], values)
            if possible:
                total = sum(frame.weight for frame in possible)
                frames.append([(frame, frame.weight / total) for frame in possible])
        if not frames:
            stated = ", ".join(f"{name} = {value}" for name, value in values.items())
            raise ParadigmError(
                f"no frame for {stated}.",
                code="L06",
                place=self.paradigm.file,
                remedy="Widen a frame's when.",
            )
        return frames

    def _can_be_filled(self, frame: Frame, values: dict[str, str]) -> bool:
        return all(count > 0 for count in self.static_counts(frame, values).values())

    def _check_time(self) -> None:
        """Raise where the draws have taken longer than their limit."""
        if self._end is not None and time.monotonic() > self._end:
            raise ParadigmError(
                f"the draws take longer than {self._seconds:g} s.",
                code="L09",
                place=self.paradigm.file,
                remedy="Use fewer values, frames, slots or pairs.",
            )

    def static_counts(self, frame: Frame, values: dict[str, str]) -> dict[str, int]:
        """Count the candidates of every slot for some values, before selection and sharing."""
        self._check_time()
        draw = self._start(values, None)
        counts = {}
        for plan in self._plans[id(frame)]:
            if plan.slot.copy:
                continue
            name = self._usage_name(plan, frame)
            counts[name] = (
                len(plan.slot.words) if plan.slot.words else len(self._candidates(plan, draw, static=True))
            )
        return counts

    def _usage_name(self, plan: _Plan, frame: Frame) -> str:
        return f"{plan.slot.name}→" if plan.slot is frame.contrast.replacement else plan.slot.name

    def _refuse_empty(self, frame: Frame, values: dict[str, str]) -> None:
        counts = self.static_counts(frame, values)
        name = next(name for name, count in counts.items() if count == 0)
        stated = f" for {', '.join(f'{key} = {value}' for key, value in values.items())}" if values else ""
        raise ParadigmError(
            f"no row of the lexicon fills the slot{stated}.",
            code="L06",
            place=f"{self.paradigm.file}, {'contrast' if name.endswith('→') else f'slots.{name}'}",
            remedy="Drop a condition, or a form that these rows lack.",
        )

    def capacity(self) -> int:
        """Estimate how many pairs are possible, from random draws through the slots (Knuth 1975)."""
        rng = np.random.default_rng(zlib.crc32(self.paradigm.uid.encode()))
        total = 0.0
        for values, frames in zip(self.paradigm.combinations, self._frames, strict=True):
            for frame, _ in (variant for variants in frames for variant in variants):
                draws = [self._draw_lexemes(frame, values, rng, level=None) for _ in range(CAPACITY_DRAWS)]
                total += sum(draw.estimate for draw in draws if draw.complete) / CAPACITY_DRAWS
        return round(total)

    # ------------------------------------------------------------------ draws

    def pairs(self) -> Iterator[Pair]:
        """Yield distinct pairs; ends where too many draws in all were refused."""
        seed = [self.seed, zlib.crc32(self.paradigm.uid.encode()), FORMAT]
        rng = np.random.default_rng(seed)
        self._usage, self.rejected = {}, Counter()
        combinations = self.paradigm.combinations
        sentences: set[str] = set()
        n_pairs = refused = misses = 0
        while refused < ATTEMPTS_PER_PAIR * (n_pairs + 1):
            turn, place = divmod(n_pairs, len(combinations))
            # A frame that is used up gives its turn to the next.
            frames = self._frames[place]
            variants = frames[(turn + misses // ATTEMPTS_PER_PAIR) % len(frames)]
            pair = self._attempt(variants, combinations[place], rng, sentences, level=misses % 8)
            if pair is None:
                refused, misses = refused + 1, misses + 1
                continue
            n_pairs, misses = n_pairs + 1, 0
            yield pair

    def _attempt(
        self,
        variants: list[tuple[Frame, float]],
        values: dict[str, str],
        rng: np.random.Generator,
        sentences: set[str],
        *,
        level: int,
    ) -> Pair | None:
        frame = variants[0][0]
        if len(variants) > 1:
            shares = np.cumsum([share for _, share in variants])
            frame = variants[min(int(np.searchsorted(shares, rng.random())), len(variants) - 1)][0]
        draw = self._draw_lexemes(frame, values, rng, level=level)
        if not draw.complete:
            self.rejected["no candidate"] += 1
            # Else a verb for whose object there is no noun would stay the least used.
            self._count_all(frame, draw)
            return None
        pair = self._realize_pair(frame, draw)
        reason = self._objection(pair, sentences)
        if reason:
            self.rejected[reason] += 1
            if reason != REPEATED:  # such words would stay the least used
                self._count_all(frame, draw)
            return None
        sentences |= {comparable(pair.good), comparable(pair.bad)}
        self._count_all(frame, draw)
        return pair

    def _objection(self, pair: Pair, sentences: set[str]) -> str:
        """Say why a pair is refused, or nothing."""
        good, bad = comparable(pair.good), comparable(pair.bad)
        if good == bad:
            return "equal sides"
        if good in sentences or bad in sentences:
            return REPEATED
        change, contrast = pair.change, pair.frame.contrast
        if contrast.changes_one_word and change.n_words > 1:
            return "several words"
        if abs(len(change.good) - len(change.bad)) > self.paradigm.length:
            return "length"
        if not self.language.joiner and abs(len(pair.good) - len(pair.bad)) > self.paradigm.length:
            return "length"
        return ""

    def _start(self, values: dict[str, str], rng: np.random.Generator | None) -> _Draw:
        """Begin a draw: the variables, and for each another value of its domain."""
        alternatives = {}
        for name, domain in self.paradigm.draw.items():
            other_values = [value for value in domain if value != values[name]]
            alternatives[f"!{name}"] = (
                other_values[int(rng.random() * len(other_values))]
                if rng and len(other_values) > 1
                else other_values[0]
            )
        return _Draw({**values, **alternatives})

    def _draw_lexemes(
        self, frame: Frame, values: dict[str, str], rng: np.random.Generator, *, level: int | None
    ) -> _Draw:
        """Fill the slots of a frame; without a level all candidates are alike, as the capacity needs it."""
        self._check_time()
        draw = self._start(values, rng)
        for plan in self._plans[id(frame)]:
            slot, name = plan.slot, self._usage_name(plan, frame)
            if slot.optional < 1 and rng.random() >= slot.optional:
                draw.absent.add(slot.name)
                continue
            if slot.copy:
                if slot.copy in draw.rows:
                    draw.rows[name] = draw.rows[slot.copy]
                else:
                    draw.words[name] = draw.words[slot.copy]
                continue
            if slot.words:
                options = np.arange(len(slot.words))
                draw.words[name] = slot.words[self._pick((name, slot.words), options, rng, level)]
                draw.estimate *= len(options)
                continue
            ids = self._candidates(plan, draw)
            if plan.content:
                for lemma in draw.lemmas:
                    ids = ids[self.masks.lemma_numbers[ids] != lemma]
            for other in slot.differ:
                if other in draw.rows:
                    number = self.masks.lemma_numbers[draw.rows[other]]
                    ids = ids[self.masks.lemma_numbers[ids] != number]
            if name.endswith("→") and self.paradigm.length == 0:
                ids = self._same_length(ids, plan, draw)
            if not len(ids):
                draw.complete = False
                return draw
            draw.estimate *= len(ids)
            row = self._pick((name, ()), ids, rng, level, weights=slot.weight)
            draw.rows[name] = row
            if plan.content:
                draw.lemmas.add(int(self.masks.lemma_numbers[row]))
            for variable, column in plan.binds:
                if variable not in draw.values:
                    options_ = [v for v in self.masks.rows[row].features.get(column, ()) if v != "none"]
                    draw.values[variable] = options_[int(rng.random() * len(options_))]
        return draw

    def _same_length(self, ids: Ids, plan: _Plan, draw: _Draw) -> Ids:
        """Keep replacements with as many words, or characters where words are written together."""
        name, unit = plan.slot.name, self.language.joiner
        for form in plan.forms:
            key = self._resolve_form(form, draw)
            if name in draw.words:
                text = draw.words[name]
            else:
                row = self.masks.rows[draw.rows[name]]
                text = row.forms.get(key, row.lemma)
            ids = ids[self.masks.with_length(key, word_length(text, unit), unit)[ids]]
        return ids

    def _pick(
        self,
        user: tuple[str, tuple[str, ...]],
        ids: Ids,
        rng: np.random.Generator,
        level: int | None,
        *,
        weights: Mapping[str, Mapping[str, float]] | None = None,
    ) -> int:
        """Pick a least used candidate at random; after refusals also more used ones."""
        if level is not None:
            usage = self._usage.setdefault(user, np.zeros(len(user[1]) or len(self.masks.rows)))
            counts = usage[ids]
            if weights:
                counts = (counts + 1) / self._weights(ids, weights)
            ids = ids[counts <= counts.min() + level]
        return int(ids[int(rng.random() * len(ids))])

    def _weights(self, ids: Ids, weights: Mapping[str, Mapping[str, float]]) -> NDArray[np.float64]:
        factors = np.ones(len(ids))
        for column, values in weights.items():
            for value, factor in values.items():
                factors[self.masks.with_value(column, value)[ids]] *= factor
        return factors

    def _count_all(self, frame: Frame, draw: _Draw) -> None:
        for plan in self._plans[id(frame)]:
            self._count(plan, frame, draw)

    def _count(self, plan: _Plan, frame: Frame, draw: _Draw) -> None:
        name = self._usage_name(plan, frame)
        if plan.slot.copy or (name not in draw.rows and name not in draw.words):
            return
        place = draw.rows[name] if name in draw.rows else plan.slot.words.index(draw.words[name])
        self._usage[name, plan.slot.words][place] += 1

    def _candidates(self, plan: _Plan, draw: _Draw, *, static: bool = False) -> Ids:
        """Return the rows that may fill a slot, from a cache by what they depend on."""
        slot = plan.slot
        heads = (
            [] if static else [(draw.rows[name], column) for name, column in slot.fits if name in draw.rows]
        )
        expressions = tuple(self.masks.rows[row].features.get(column, ()) for row, column in heads)
        shared = tuple(
            self.masks.rows[draw.rows[name]].features.get(column, ()) if name in draw.rows else ()
            for name, column in plan.shared
        )
        key = (
            static,
            tuple((draw.values.get(name), draw.values.get(f"!{name}")) for name in plan.variables),
            expressions,
            shared,
        )
        if key not in plan.cache:
            mask = self.masks.of_category(slot.category).copy()
            for form in plan.forms:
                resolved = self._resolve_form(form, draw)
                if "$" not in resolved:
                    mask &= self.masks.with_form(resolved)
            if slot.where:
                mask &= _either(self._condition(entry, draw, static=static) for entry in slot.where)
            for row, column in heads:
                meets = self.masks.meeting(self.masks.rows[row], column)
                mask &= ~meets if plan.negated_fits else meets
            plan.cache[key] = np.flatnonzero(mask)
        return plan.cache[key]

    def _condition(self, condition: Condition, draw: _Draw, *, static: bool) -> Mask:
        mask = np.ones(len(self.masks.rows), dtype=bool)
        for key, values in condition.items():
            if static and any(value.startswith("@") for value in values):
                continue
            column = key.removeprefix("!")
            matching = _either(self._value(column, value, draw) for value in values)
            mask &= ~matching if key.startswith("!") else matching
        return mask

    def _value(self, column: str, value: str, draw: _Draw) -> Mask:
        if value.startswith("@"):
            name, _, other = value[1:].rpartition(".")
            if other == "class" and self.lexicon.columns[column].kind == "selection" and name in draw.rows:
                return self.masks.selecting(self.masks.rows[draw.rows[name]], column)
            stored = self.masks.rows[draw.rows[name]].features.get(other, ()) if name in draw.rows else ()
            none = np.zeros(len(self.masks.rows), dtype=bool)
            return _either([none, *(self.masks.with_value(column, entry) for entry in stored)])
        if value.startswith("!$"):
            name = value[2:]
            if name in self.paradigm.draw:
                other_values = [entry for entry in self.paradigm.draw[name] if entry != draw.values[name]]
                return _either(self.masks.with_value(column, entry) for entry in other_values)
            has_value = ~self.masks.with_value(column, "none")
            bound = draw.values.get(name)
            return has_value & ~self.masks.with_value(column, bound) if bound else has_value
        if value.startswith("$"):
            bound = draw.values.get(value[1:])
            return self.masks.with_value(column, bound) if bound else ~self.masks.with_value(column, "none")
        return self.masks.with_value(column, value)

    def _resolve_form(self, form: str, draw: _Draw) -> str:
        """Return a form key with its variables replaced."""

        def replace_variable(match: re.Match[str]) -> str:
            name = match[1]
            if match[0].startswith("!"):
                return draw.values.get(f"!{name}", match[0])
            return draw.values.get(name, match[0])

        return VARIABLE.sub(replace_variable, form)

    # ------------------------------------------------------------------ sentences

    def _realize_pair(self, frame: Frame, draw: _Draw) -> Pair:
        slots = {slot.name: slot for slot in frame.slots}
        slots |= {
            slot.name: replace(slot, category=slots[slot.copy].category) for slot in frame.slots if slot.copy
        }
        contrast = frame.contrast
        good = self._text(frame.good, slots, draw)
        if contrast.kind == "form":
            changed = {contrast.slots[0]: contrast.form}
            bad = self._text(frame.good, slots, draw, forms=changed)
        elif contrast.kind == "replace":
            name = contrast.slots[0]
            new = contrast.replacement
            changed = {name: new.form} if new and new.form != slots[name].form else {}
            bad = self._text(frame.good, slots, draw, forms=changed, names={name: f"{name}→"})
        elif contrast.kind == "exchange":
            first, second = contrast.slots
            bad = self._text(frame.good, slots, draw, names={first: second, second: first})
        else:
            bad = self._text(contrast.text, slots, draw)
        change = difference(good, bad, self.language)
        target = self.paradigm.target
        return Pair(
            join_segments(good, self.language),
            join_segments(bad, self.language),
            good,
            bad,
            frame,
            values={name: draw.values[name] for name in self.paradigm.draw},
            lexemes={name: self.masks.rows[row].id for name, row in draw.rows.items()},
            change=change,
            target=self._part(Place(target), slots[target], draw, target) if target else "",
        )

    def _text(
        self,
        template: Template,
        slots: Mapping[str, Slot],
        draw: _Draw,
        *,
        forms: Mapping[str, str] | None = None,
        names: Mapping[str, str] | None = None,
    ) -> str:
        """Fill a template, with another form or another filler of a slot where the contrast asks for it."""
        forms, names = forms or {}, names or {}
        parts: list[str] = []
        plural = False
        for part in template:
            if isinstance(part, str):
                if plural and part.startswith("'s"):
                    part = f"'{part[2:]}"
                parts.append(part)
                plural = False
                continue
            slot = slots[part.slot]
            form = forms.get(part.slot, "") or part.form or self._default(slot)
            text = self._part(Place(part.slot, form), slot, draw, names.get(part.slot, part.slot))
            plural = self._resolve_form(form, draw) == "pl" and text.endswith("s")
            parts.append(text)
        return segment_text("".join(parts), self.language, self.masks.starts_with_vowel)

    def _part(self, place: Place, slot: Slot, draw: _Draw, name: str) -> str:
        if slot.name in draw.absent:
            return ""
        if name in draw.words:
            return draw.words[name]
        row = self.masks.rows[draw.rows[name]]
        if row.category != slot.category:
            return row.forms[self.language.default.get(row.category, "base")]
        return row.forms[self._resolve_form(place.form or self._default(slot), draw)]


def _either(masks: Iterable[Mask]) -> Mask:
    """Mark the rows that one of the masks marks."""
    union: Mask = np.logical_or.reduce(list(masks))
    return union


def comparable(text: str) -> str:
    """Return a sentence without capitals and punctuation, by which repetitions are recognized."""
    return " ".join(PUNCTUATION.sub("", unicodedata.normalize("NFC", text)).casefold().split())


def sample_pairs(
    paradigm: Paradigm,
    n: int = 1000,
    *,
    seed: int = 0,
    lexicon: Lexicon | None = None,
    seconds: float | None = None,
) -> list[dict[str, Any]]:
    """Draw n distinct pairs as rows with BLiMP's fields, prefixes, critical regions and provenance.

    References
    ----------
    Warstadt et al. (2020), "BLiMP: The Benchmark of Linguistic Minimal Pairs for English", TACL 8: 377-392.
    Knuth (1975), "Estimating the efficiency of backtrack programs", Mathematics of Computation 29: 122-136.
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 0 < n <= MAX_PAIRS:
        raise BadInput(f"{n!r} pairs were asked for.", remedy=f"Ask for 1 to {MAX_PAIRS:,}.")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BadInput(f"the seed is {seed!r}.", remedy="Give a whole number from 0.")
    sampler = Sampler(paradigm, lexicon=lexicon, seed=seed, seconds=seconds)
    refuse_beyond_capacity(sampler, n)
    pairs: list[dict[str, Any]] = []
    for pair in sampler.pairs():
        pairs.append(pair_row(sampler, pair, len(pairs)))
        if len(pairs) == n:
            return pairs
    raise ParadigmError(
        f"{len(pairs):,} distinct pairs found, {n:,} asked.",
        code="L11",
        place=paradigm.file,
        remedy=_narrow_slot(sampler),
    )


def refuse_beyond_capacity(sampler: Sampler, n: int) -> None:
    """Refuse more pairs than a small part of what is possible."""
    capacity = sampler.capacity()
    if n > capacity / CAPACITY_SHARE:
        raise ParadigmError(
            f"{capacity:,} pairs possible, {n:,} asked.",
            code="L09",
            place=sampler.paradigm.file,
            remedy=f"{_narrow_slot(sampler)} At most one pair in {CAPACITY_SHARE} is taken.",
        )


def _narrow_slot(sampler: Sampler) -> str:
    """Name the slot with the fewest choices among those that have more than one."""
    paradigm = sampler.paradigm
    counts: dict[str, int] = {}
    for values in paradigm.combinations:
        for frame in paradigm.frames:
            for name, count in sampler.static_counts(frame, values).items():
                if count > 1:
                    counts[name] = min(count, counts.get(name, count))
    if not counts:
        return "Add words or a frame."
    name = min(counts, key=lambda entry: counts[entry])
    return f"Slot {name.rstrip('→')} has {counts[name]} words: add words or a frame."


def pair_row(sampler: Sampler, pair: Pair, number: int) -> dict[str, Any]:
    """Return a pair as a row of the file."""
    paradigm, change = sampler.paradigm, pair.change
    prefixes: dict[str, str] = {}
    if paradigm.one_prefix:
        prefixes |= one_prefix(pair.good, change) or {}
    if paradigm.two_prefix:
        prefixes |= two_prefix(pair.good, pair.bad, change, pair.target) or {}
    return {
        "sentence_good": pair.good,
        "sentence_bad": pair.bad,
        **prefixes,
        **segmentation(sampler, pair),
        "field": paradigm.field,
        "linguistics_term": paradigm.phenomenon,
        "UID": paradigm.uid,
        "simple_LM_method": True,
        "one_prefix_method": paradigm.one_prefix,
        "two_prefix_method": paradigm.two_prefix,
        "lexically_identical": paradigm.lexically_identical,
        "pairID": str(number),
        "critical_good": change.span(change.good, change.good_end),
        "critical_bad": change.span(change.bad, change.bad_end),
        "paradigm_sha256": paradigm.sha256,
        "frame": pair.frame.name,
        "values": dict(pair.values),
        "lexemes": dict(pair.lexemes),
        "lexicon_version": sampler.lexicon.version,
        "seed": sampler.seed,
    }


def edited_row(row: Mapping[str, Any], good: str, bad: str, language: Language) -> dict[str, Any]:
    """Return a drawn row with other sentences: critical regions and prefixes are those of the new ones.

    A method that the new sentences do not allow is switched off. The shared word of the two-prefix method is
    the one of the drawn pair, or the word that stands in its place. Where words are written together, the
    new sentences have no segmentation: their characters are compared, and the segmentation is left out.
    """
    good_segments, bad_segments = (text if language.joiner else " ".join(text) for text in (good, bad))
    change = difference(good_segments, bad_segments, language)
    derived = (
        *("segmentation_good", "segmentation_bad"),
        *("one_prefix_prefix", "one_prefix_word_good", "one_prefix_word_bad"),
        *("two_prefix_prefix_good", "two_prefix_prefix_bad", "two_prefix_word"),
    )
    unchanged = {name: value for name, value in row.items() if name not in derived}
    one_prefix_columns = one_prefix(good, change) if row.get("one_prefix_method") else None
    two = None
    if row.get("two_prefix_method"):
        two = two_prefix(good, bad, change, row["two_prefix_word"])
        two = two or two_prefix(good, bad, change, place=_target_place(row, language))
    return {
        **unchanged,
        "sentence_good": good,
        "sentence_bad": bad,
        **(one_prefix_columns or {}),
        **(two or {}),
        "one_prefix_method": one_prefix_columns is not None,
        "two_prefix_method": two is not None,
        "critical_good": change.span(change.good, change.good_end),
        "critical_bad": change.span(change.bad, change.bad_end),
    }


def _target_place(row: Mapping[str, Any], language: Language) -> int:
    """Return how many shared words of a drawn pair stand between its difference and the shared word."""
    good, bad = (row.get(f"segmentation_{side}") or row[f"sentence_{side}"] for side in ("good", "bad"))
    change = difference(good, bad, language)
    after = [word.text for word in change.good[change.good_end :]]
    return after.index(row["two_prefix_word"])


def segmentation(sampler: Sampler, pair: Pair) -> dict[str, str]:
    """Return the words of both members, separated by spaces, where a language writes them together."""
    if sampler.language.joiner:
        return {}
    return {"segmentation_good": pair.good_segments, "segmentation_bad": pair.bad_segments}
