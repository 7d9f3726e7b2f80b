"""Instances of agreement in treebanks: which words, where in the text, and which are left out."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analysis.corpora.conllu import Sentence, features, read_conllu
from analysis.errors import BadInput, NotEnoughData
from experiments.generation.treebank.inflections import CLASSES, Features, fold
from experiments.generation.treebank.relations import AGREEING, Relation

MAX_WORDS = 64
NOMINAL = ("NOUN", "PROPN", "PRON")
NAMED = ("NOUN", "PROPN")  # take a relation's default values


@dataclass(frozen=True)
class Occurrence:
    """A word of a treebank: its form as written, lemma, class and features."""

    form: str
    lemma: str
    category: str
    features: Features


@dataclass(frozen=True)
class Instance:
    """A word that shows the value of another one, and what is around it.

    Parameters
    ----------
    start, end : int
        Characters of the agreeing word in the text.
    order : str
        Initials of the two names, such as SV or VS.
    carrier : str
        ``head``, or the relation of the child that shows the agreement, as ``aux``.
    distance : int
        Words from one to the other; neighbours have 1.
    attractors : str
        Nouns between the two: none, congruent, incongruent, mixed.
    """

    phenomenon: str
    feature: str
    file: str
    sent_id: str
    text: str
    start: int
    end: int
    agreeing: Occurrence
    controller: Occurrence
    value: str
    order: str
    carrier: str
    distance: int
    attractors: str


@dataclass
class Collected:
    """Instances of every phenomenon in the treebanks.

    Parameters
    ----------
    agreement : dict of (phenomenon, value, order) to [int, int]
        Instances where the annotations agree, and all.
    attested : Counter
        How often a noun's form has a value: the other reading of an ambiguous form.
    """

    instances: dict[str, list[Instance]] = field(default_factory=lambda: defaultdict(list))
    drops: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    agreement: dict[tuple[str, str, str], list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0, 0])
    )
    attested: Counter[tuple[str, str, str, str, str, str]] = field(default_factory=Counter)
    features_seen: set[str] = field(default_factory=set)
    sentences: int = 0
    long_sentences: int = 0


def collect(
    paths: Sequence[Path], phenomena: Mapping[str, tuple[Relation, str]], *, language: str
) -> Collected:
    """Find every instance of the phenomena in the treebanks."""
    collected = Collected()
    by_relation: dict[str, tuple[Relation, list[tuple[str, str]]]] = {}
    for phenomenon, (relation, feature) in phenomena.items():
        by_relation.setdefault(relation.name, (relation, []))[1].append((phenomenon, feature))
    for path in paths:
        for sentence in read_conllu(path):
            _check_root(sentence, str(path))
            collected.sentences += 1
            if len(sentence.words) > MAX_WORDS:
                collected.long_sentences += 1
                continue
            _Tree(sentence, path, language).collect(by_relation.values(), collected)
    if not collected.sentences:
        raise NotEnoughData("there is no sentence.", file=str(paths[0]))
    needed = {feature for _, feature in phenomena.values()}
    if not needed & collected.features_seen:
        raise BadInput(
            f"no word has {' or '.join(sorted(needed))} in FEATS.", file=str(paths[0]), column="FEATS",
            remedy="Annotate or parse with morphological features.",
        )  # fmt: skip
    return collected


def _check_root(sentence: Sentence, file: str) -> None:
    roots = [position for position, word in enumerate(sentence.words, start=1) if not word.head]
    if len(roots) > 1:
        raise BadInput(
            f"words {' and '.join(map(str, roots))} are both the root.", file=file, row=sentence.first_line,
            column="HEAD", remedy="A sentence has one root: give the others a head.",
        )  # fmt: skip


class _Tree:
    """One sentence with its raw words and their places in the text."""

    def __init__(self, sentence: Sentence, path: Path, language: str) -> None:
        self.sentence, self.path, self.language = sentence, path, language
        self.text = sentence.text
        self.occurrences: list[Occurrence] = []
        self.in_range: list[bool] = []
        self.tokens: list[tuple[str, bool]] = []  # surface form, whether a space follows
        self.token_of: list[int] = []
        self._read()
        self._spans: list[tuple[int, int]] | None = None

    def _read(self) -> None:
        covered = 0
        for line in self.sentence.lines:
            if line.startswith("#"):
                continue
            number, form, lemma, upos, _, feats, *_, misc = line.split("\t")
            if "." in number:
                continue
            is_spaced = "SpaceAfter=No" not in misc.split("|")
            if "-" in number:
                covered = int(number.partition("-")[2])
                self.tokens.append((form, is_spaced))
                continue
            is_inside = int(number) <= covered
            if not is_inside:
                self.tokens.append((form, is_spaced))
            self.token_of.append(len(self.tokens) - 1)
            self.in_range.append(is_inside)
            lemma = form if lemma == "_" else lemma
            self.occurrences.append(
                Occurrence(form, fold(lemma, self.language), CLASSES.get(upos, upos), features(feats))
            )

    def span(self, position: int) -> tuple[int, int]:
        """Return the characters of a word's surface token in the text."""
        if self._spans is None:
            self._spans = self._align_text(self.text)
            if self._spans is None:  # the comment and the tokens differ
                self.text = "".join(form + " " * spaced for form, spaced in self.tokens).strip()
                self._spans = self._align_text(self.text) or []
        return self._spans[self.token_of[position - 1]]

    def _align_text(self, text: str) -> list[tuple[int, int]] | None:
        spans, at = [], 0
        for form, _ in self.tokens:
            while at < len(text) and text[at].isspace():
                at += 1
            if not text.startswith(form, at):
                return None
            spans.append((at, at + len(form)))
            at += len(form)
        return spans

    def collect(
        self, relations: Iterable[tuple[Relation, list[tuple[str, str]]]], collected: Collected
    ) -> None:
        """Add the instances of the sentence."""
        for word, occurrence in zip(self.sentence.words, self.occurrences, strict=True):
            collected.features_seen |= occurrence.features.keys()
            if word.upos in NOMINAL:
                self._count_reading(occurrence, collected)
        for relation, phenomena_of_relation in relations:
            for at in relation.pattern.places(self.sentence):
                position = relation.agreeing(self.sentence, at)
                reason = self._structural(relation, {**at, AGREEING: position}, position)
                for phenomenon, feature in phenomena_of_relation:
                    if reason:
                        collected.drops[phenomenon][reason] += 1
                    else:
                        self._add(relation, at, position, phenomenon, feature, collected)

    def _count_reading(self, occurrence: Occurrence, collected: Collected) -> None:
        case = ",".join(sorted(occurrence.features.get("Case", ())))
        form = fold(occurrence.form, self.language)
        for feature, values in occurrence.features.items():
            if len(values) == 1:
                collected.attested[
                    form, occurrence.lemma, occurrence.category, case, feature, next(iter(values))
                ] += 1

    def _structural(self, relation: Relation, at: Mapping[str, int], position: int) -> str:
        """Return why an instance is left out before its features are looked at, or an empty text."""
        for exclusion in relation.without:
            if exclusion.holds(self.sentence, at):
                return exclusion.name
        for name, condition in relation.only:
            if not condition.holds(self.sentence, position):
                return name
        if self.in_range[position - 1]:
            return "part of a multiword token"
        return "attached to a neighbour" if self._is_attached(position) else ""

    def _is_attached(self, position: int) -> bool:
        """Whether letters touch the word, as in *don't* or *est-il*."""
        start, end = self.span(position)
        return bool(
            re.search(r"\w[-'’\u05be]?$", self.text[:start]) or re.match(r"[-'’\u05be]?\w", self.text[end:])
        )

    def _add(
        self, relation: Relation, at: Mapping[str, int], position: int, phenomenon: str, feature: str,
        collected: Collected,
    ) -> None:  # fmt: skip
        drops = collected.drops[phenomenon]
        place = at[relation.controller]
        controller, agreeing = self.occurrences[place - 1], self.occurrences[position - 1]
        bundle = dict(controller.features)
        if self.sentence.words[place - 1].upos in NAMED:
            for name, default in relation.defaults.items():
                bundle.setdefault(name, frozenset((default,)))
        value, agreeing_value = bundle.get(feature, frozenset()), agreeing.features.get(feature, frozenset())
        if len(value) != 1:
            drops[f"controller has no single {feature}"] += 1
            return
        if len(agreeing_value) != 1:
            drops[f"agreeing word has no single {feature}"] += 1
            return
        ends = relation.controller[0].upper(), relation.swap[0].upper()
        order = "".join(ends if place < position else reversed(ends))
        right = next(iter(value))
        counts = collected.agreement[phenomenon, right, order]
        counts[1] += 1
        if value != agreeing_value:
            drops["annotations conflict"] += 1
            return
        counts[0] += 1
        start, end = self.span(position)
        carrier = self.sentence.words[position - 1].deprel.partition(":")[0]
        collected.instances[phenomenon].append(Instance(
            phenomenon=phenomenon, feature=feature, file=self.path.name, sent_id=self.sentence.sent_id,
            text=self.text, start=start, end=end, agreeing=agreeing,
            controller=Occurrence(controller.form, controller.lemma, controller.category, bundle),
            value=right, order=order, carrier="head" if position == at[relation.swap] else carrier,
            distance=abs(place - position), attractors=self._attractors(place, position, feature, value),
        ))  # fmt: skip

    def _attractors(self, place: int, position: int, feature: str, value: frozenset[str]) -> str:
        between = range(min(place, position) + 1, max(place, position))
        signs = {
            bool(value & self.occurrences[other - 1].features[feature])
            for other in between
            if self.sentence.words[other - 1].upos in NOMINAL
            and feature in self.occurrences[other - 1].features
        }
        if len(signs) == 2:
            return "mixed"
        return "none" if not signs else "congruent" if signs == {True} else "incongruent"
