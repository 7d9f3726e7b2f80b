"""Check a paradigm: its file, its slots, and a sample of its pairs."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.comparison.surface_cues import SurfaceCues, surface_cues
from analysis.errors import BadInput
from analysis.ngrams import BackoffModel
from experiments.generation.lexicon import Lexicon
from experiments.generation.paradigms.document import Paradigm, find_paradigm, parse_paradigm, read_source
from experiments.generation.paradigms.language import ParadigmError
from experiments.generation.paradigms.realization import Token
from experiments.generation.paradigms.sampling import (
    CAPACITY_SHARE,
    Pair,
    Sampler,
    comparable,
    pair_row,
)

SAMPLE = 1000
FEW, FEWER = 8, 20  # candidates of a slot: an error, a warning
BALANCE = (0.45, 0.55)
OPEN_CATEGORIES = ("noun", "name", "verb", "adj", "adv")
MIN_USES = 40  # of a critical word, before its balance is judged
EXAMPLES = 10
MIN_PAIRS_OF_CUES = 400
MAX_WORDS_ACCURACY = 0.56  # where each word may stand in either member
ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Finding:
    """One problem of a paradigm.

    Parameters
    ----------
    code : str
        L01 to L20.
    level : str
        error or warning.
    place, message, remedy : str
    line : int
        Line of the file that the place begins at; 0 where no line is to blame.
    """

    code: str
    level: str
    place: str
    message: str
    remedy: str = ""
    line: int = 0

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        return f"{self.code} {self.place}{line}: {self.message} {self.remedy}".strip()


@dataclass
class LintReport:
    """Findings of a paradigm, with what it can make."""

    file: str
    findings: list[Finding] = field(default_factory=list)
    capacity: int = 0
    n_frames: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    cues: SurfaceCues | None = None

    @property
    def is_clean(self) -> bool:
        """Whether there is no error; warnings are allowed."""
        return all(finding.level != ERROR for finding in self.findings)

    def document(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "file": self.file,
            "clean": self.is_clean,
            "capacity": self.capacity,
            "frames": self.n_frames,
            "findings": [asdict(finding) for finding in self.findings],
            "examples": [list(pair) for pair in self.examples],
            "cues": self.cues.document() if self.cues else None,
        }


def lint(
    path_or_uid: str,
    *,
    language: str = "en",
    lexicon: Lexicon | None = None,
    n: int = SAMPLE,
    seed: int = 0,
    comparison: Collection[str] = (),
    models: Mapping[str, BackoffModel] | None = None,
    content: bytes | None = None,
    seconds: float | None = None,
) -> LintReport:
    """Check a paradigm by its name or file; what is wrong is in the report, not raised.

    ``content`` is checked in place of a file, ``seconds`` limits the draws.
    """
    report = LintReport(Path(path_or_uid).name)
    try:
        if content is None:
            paradigm = find_paradigm(path_or_uid, language=language, lexicon=lexicon)
            content = read_source(path_or_uid, language=language)
        else:
            paradigm = parse_paradigm(content, file=path_or_uid, lexicon=lexicon)
        report.file, report.n_frames = paradigm.file, paradigm.n_frames
        sampler = Sampler(paradigm, lexicon=lexicon, seed=seed, seconds=seconds)
        report.capacity = sampler.capacity()
        report.findings += _static_findings(sampler, report.capacity)
        pairs = list(itertools.islice(sampler.pairs(), n))
    except BadInput as error:
        code = error.code if isinstance(error, ParadigmError) else "L02"
        content = read_source(path_or_uid, language=language) if content is None else content
        report.findings.append(Finding(code, ERROR, error.file, error.message, error.remedy))
        report.findings = with_lines(report.findings, content)
        return report
    report.examples = [(pair.good, pair.bad) for pair in pairs[:EXAMPLES]]
    report.rows = [pair_row(sampler, pair, number) for number, pair in enumerate(pairs)]
    checks: tuple[Callable[[Sampler, list[Pair]], Iterator[Finding]], ...] = (
        _differing_words,
        _lengths,
        _balance,
        _marks,
        _methods,
        _articles,
        _shares,
    )
    report.findings += _distinctness(sampler, pairs, n)
    report.findings += [finding for check in checks for finding in check(sampler, pairs)]
    report.findings += _overlap(paradigm, pairs, comparison)
    if pairs:
        # Words, not sentences: the cues split at spaces.
        segments = [(pair.good_segments, pair.bad_segments) for pair in pairs]
        table = pd.DataFrame(segments, columns=["sentence_good", "sentence_bad"])
        report.cues = surface_cues(table, models=models)
        report.findings += _cues(paradigm, pairs, report.cues)
    report.findings = with_lines(report.findings, content)
    return report


TOML_LINE = re.compile(r"\(at line (\d+)")
QUOTED = re.compile(r"'([^'\n]+)'|\{(\w+)\}")


def with_lines(findings: list[Finding], content: bytes) -> list[Finding]:
    """Return the findings with the lines of the file that they are about."""
    lines = content.decode("utf-8", "replace").splitlines()
    return [replace(finding, line=find_line(finding, lines)) for finding in findings]


def find_line(finding: Finding, lines: Sequence[str]) -> int:
    """Return the line of a finding's table, and in it of the name that the message quotes; 0 without one.

    Examples
    --------
    >>> finding = Finding("L01", "error", "x.toml, slots.head", "unknown key of a slot 'wher'.")
    >>> find_line(finding, ["[slots]", "verb = {}", "head = {", "  wher = 1 }"])
    4
    """
    if match := TOML_LINE.search(finding.message):
        return int(match[1])
    table = finding.place.partition(", ")[2]
    start, end = _section(table, lines) if table else (0, len(lines))
    for name in map("".join, QUOTED.findall(finding.message)):
        word = re.compile(rf"(?<![\w$]){re.escape(name)}(?!\w)")
        for number in range(start, end):
            if word.search(lines[number].split(" #")[0]):
                return number + 1
    return start + 1 if table and start < len(lines) else 0


def _section(table: str, lines: Sequence[str]) -> tuple[int, int]:
    """Return the first line of a table such as ``slots.head``, and the line after its last."""
    name, _, part = table.replace(" of ", ".").partition(".")
    word, _, number = name.partition(" ")
    headings = [place for place, line in enumerate(lines) if line.lstrip().startswith("[")]
    places_of_table = [
        place
        for place in headings
        if re.match(rf"\s*\[+\s*{re.escape(word)}\s*[.\]]", lines[place])
        and (not number or lines[place].lstrip().startswith("[["))
    ]
    if number.isdigit() and len(places_of_table) >= int(number):
        places_of_table = places_of_table[int(number) - 1 :]
    if not places_of_table:  # a key of the whole document
        keys = [place for place, line in enumerate(lines) if re.match(rf"\s*{re.escape(word)}\s*=", line)]
        return (keys[0], keys[0] + 1) if keys else (len(lines), len(lines))
    start = places_of_table[0]
    end = next((place for place in headings if place > start), len(lines))
    key = part.split(".")[0]
    for place in range(start, end) if key else ():
        if re.match(rf"\s*{re.escape(key)}\s*=", lines[place]):
            following = (
                other for other in range(place + 1, end) if re.match(r"\s*\w+\s*=\s*\{", lines[other])
            )
            return place, next(following, end)
    for place in headings:
        if key and re.match(rf"\s*\[{re.escape(word)}\.{re.escape(key)}\]", lines[place]):
            return place, next((other for other in headings if other > place), len(lines))
    return start, end


def _static_findings(sampler: Sampler, capacity: int) -> Iterator[Finding]:
    """L06 and L09: slots with few candidates, and too small a paradigm."""
    paradigm = sampler.paradigm
    counts: dict[str, tuple[int, str]] = {}
    categories = {
        slot.name: slot.category for frame in paradigm.frames for slot in frame.slots if slot.category
    }
    for values in paradigm.combinations:
        for frame in paradigm.frames:
            for name, count in sampler.static_counts(frame, values).items():
                replacement = frame.contrast.replacement
                if name.endswith("→") and replacement is not None and replacement.words:
                    continue
                stated = ", ".join(f"{key} = {value}" for key, value in values.items())
                if (
                    categories.get(name.rstrip("→")) in OPEN_CATEGORIES
                    and 0 < count < counts.get(name, (FEWER, ""))[0]
                ):
                    counts[name] = (count, f" for {stated}" if stated else "")
    for name, (count, stated) in counts.items():
        if paradigm.share >= 1 / count:
            continue
        level = ERROR if count < FEW else WARNING
        place = "contrast" if name.endswith("→") else f"slots.{name}"
        remedy = f"Widen where, or allow it by limits.share = {1.2 / count:.2f}."
        yield Finding("L06", level, f"{paradigm.file}, {place}", f"{count} candidates{stated}.", remedy)
    if paradigm.n_frames < 2:
        yield Finding(
            "L02", ERROR, paradigm.file, "one frame.", "Write a second, so that no template decides."
        )
    if capacity < CAPACITY_SHARE * SAMPLE:
        yield Finding(
            "L09", ERROR, paradigm.file, f"{capacity:,} pairs possible.", "Add words, slots or a frame."
        )


def _distinctness(sampler: Sampler, pairs: list[Pair], n: int) -> Iterator[Finding]:
    """L10 and L11: equal sides among the draws, and too few distinct pairs."""
    file, equal = sampler.paradigm.file, sampler.rejected["equal sides"]
    if equal:
        yield Finding(
            "L10",
            ERROR,
            file,
            f"{equal:,} draws beside {len(pairs):,} pairs have equal sides.",
            "Exclude words whose two forms are one (irregular = past_participle, count = count).",
        )
    if len(pairs) < n:
        refused = ", ".join(f"{reason} {count:,}" for reason, count in sampler.rejected.most_common())
        message = f"{len(pairs):,} distinct pairs, {n:,} asked; refused draws: {refused}."
        yield Finding("L11", ERROR, file, message, "Add words or a frame.")


def _differing_words(sampler: Sampler, pairs: list[Pair]) -> Iterator[Finding]:
    """L12: one word differs; an order or exchange keeps the words; a template as it states."""
    paradigm = sampler.paradigm
    wrong: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        contrast = pair.frame.contrast
        words = [_inventory(sampler, side) for side in (pair.change.good, pair.change.bad)]
        if contrast.kind in ("order", "exchange") and words[0] != words[1]:
            wrong["the words of the two sides differ"].append(pair)
        n_edits = max((words[0] - words[1]).total(), (words[1] - words[0]).total())
        if contrast.kind == "template" and contrast.edits and n_edits != contrast.edits:
            wrong[f"{n_edits} words differ, edits = {contrast.edits}"].append(pair)
    if (refused := sampler.rejected["several words"]) > len(pairs):
        message = f"in {refused:,} draws beside {len(pairs):,} pairs more than one word differs."
        yield Finding("L12", ERROR, paradigm.file, message, "Match the articles and words of the two sides.")
    for message, cases in wrong.items():
        yield _build_finding(
            "L12", paradigm, message, cases, "Change the contrast, or state edits and a reason."
        )


def _inventory(sampler: Sampler, side: tuple[Token, ...]) -> Counter[str]:
    """Count the words of a sentence; the two articles are one word."""
    articles = sampler.language.articles
    words = [token.text.casefold() for token in side]
    return Counter(articles[0] if word in articles else word for word in words)


def _lengths(sampler: Sampler, pairs: list[Pair]) -> Iterator[Finding]:
    """L13: equal length in words, which the sampler keeps; a paradigm that mostly differs is reported."""
    if (refused := sampler.rejected["length"]) > len(pairs):
        yield Finding(
            "L13",
            ERROR,
            sampler.paradigm.file,
            f"{refused:,} draws beside {len(pairs):,} pairs have unequal lengths.",
            "Match the words of the sides, or state limits.length.",
        )


def _balance(sampler: Sampler, pairs: list[Pair]) -> Iterator[Finding]:
    """L14: values in turn; a critical word that may be good on either side is good in half of its pairs."""
    paradigm = sampler.paradigm
    for name, domain in paradigm.draw.items():
        shares = Counter(pair.values[name] for pair in pairs)
        for value in domain:
            if len(pairs) >= MIN_USES and abs(shares[value] / len(pairs) - 1 / len(domain)) > 0.05:
                message = f"${name} = {value} in {shares[value]:,} of {len(pairs):,} pairs."
                yield Finding("L14", ERROR, paradigm.file, message, "Check the frames' when.")
    good, bad = Counter[str](), Counter[str]()
    for pair in pairs:
        if pair.frame.contrast.kind in ("form", "replace") and pair.change.n_words == 1:
            good[pair.change.good[pair.change.first].text.casefold()] += 1
            bad[pair.change.bad[pair.change.first].text.casefold()] += 1
    for word in sorted(good.keys() & bad.keys()):
        total = good[word] + bad[word]
        share = good[word] / total
        if total >= MIN_USES and not BALANCE[0] <= share <= BALANCE[1]:
            message = f"{word!r} is good in {good[word]:,} of {total:,} pairs."
            yield Finding("L14", WARNING, paradigm.file, message, "Balance its values in [draw].")


def _marks(sampler: Sampler, pairs: list[Pair]) -> Iterator[Finding]:
    """L15: both sides end in the same mark."""
    differing = [pair for pair in pairs if pair.good[-1] != pair.bad[-1]]
    if differing and not sampler.paradigm.marks_differ:
        remedy = "Use one mark, or state limits.marks_differ = true with a note."
        yield _build_finding("L15", sampler.paradigm, "the final marks differ", differing, remedy)


def _methods(sampler: Sampler, pairs: list[Pair]) -> Iterator[Finding]:
    """L16: every pair has the prefix fields that the methods promise."""
    paradigm = sampler.paradigm
    for promised, key, remedy in (
        (
            paradigm.one_prefix,
            "one_prefix_prefix",
            "One word differs and is not the first; or drop one_prefix.",
        ),
        (paradigm.two_prefix, "two_prefix_word", "A shared word follows the contrast; or name it in target."),
    ):
        lacking = [pair for pair in pairs if promised and key not in pair_row(sampler, pair, 0)]
        if lacking:
            yield _build_finding("L16", paradigm, f"{key} cannot be made", lacking, remedy)


def _articles(sampler: Sampler, pairs: list[Pair]) -> Iterator[Finding]:
    """L17: the article fits the sound after it."""
    articles = sampler.language.articles
    wrong = []
    for pair in pairs if articles else ():
        for side in (pair.change.good, pair.change.bad):
            for word, following in itertools.pairwise(side):
                if word.text.casefold() in articles:
                    is_second = word.text.casefold() == articles[1]
                    if is_second != sampler.masks.starts_with_vowel(following.text.split("-")[0]):
                        wrong.append(pair)
    if wrong:
        yield _build_finding(
            "L17", sampler.paradigm, "the article is wrong", wrong, 'Write "a"; it adapts itself.'
        )


def _shares(sampler: Sampler, pairs: list[Pair]) -> Iterator[Finding]:
    """L18: no lexeme fills too many of a slot's pairs."""
    paradigm = sampler.paradigm
    uses: dict[str, Counter[str]] = defaultdict(Counter)
    rows = sampler.lexicon.by_id
    for pair in pairs:
        for name, lexeme in pair.lexemes.items():
            if rows[lexeme].category in OPEN_CATEGORIES:
                uses[name][lexeme] += 1
    for name, counts in uses.items():
        lexeme, count = counts.most_common(1)[0]
        if len(pairs) >= 200 and count > paradigm.share * len(pairs) + 1:
            message = f"{lexeme} fills {count:,} of {len(pairs):,} pairs."
            remedy = f"Widen where, or state limits.share = {count / len(pairs) + 0.005:.2f}."
            yield Finding("L18", ERROR, f"{paradigm.file}, slots.{name}", message, remedy)


def _overlap(paradigm: Paradigm, pairs: list[Pair], comparison: Collection[str]) -> Iterator[Finding]:
    """L19: no sentence of a set that this one is compared with."""
    compared = {comparable(text) for text in comparison}
    shared = [pair for pair in pairs if {comparable(pair.good), comparable(pair.bad)} & compared]
    if shared:
        yield _build_finding(
            "L19", paradigm, "a sentence stands in the comparison set", shared, "Use another seed or frame."
        )


def _cues(paradigm: Paradigm, pairs: list[Pair], cues: SurfaceCues) -> Iterator[Finding]:
    """L20: single words tell the members apart although each of them may stand in both."""
    good = {token.text.casefold() for pair in pairs for token in pair.change.critical_good}
    bad = {token.text.casefold() for pair in pairs for token in pair.change.critical_bad}
    kinds = {pair.frame.contrast.kind for pair in pairs}
    is_symmetric = kinds <= {"order", "exchange"} or ("template" not in kinds and good == bad)
    if is_symmetric and len(pairs) >= MIN_PAIRS_OF_CUES and cues.words > MAX_WORDS_ACCURACY:
        message = f"naive Bayes on words is right in {cues.words:.0%} of the pairs."
        yield Finding("L20", WARNING, paradigm.file, message, "Balance the words of the two sides in [draw].")


def _build_finding(code: str, paradigm: Paradigm, message: str, cases: list[Pair], remedy: str) -> Finding:
    example = f"{cases[0].good} / {cases[0].bad}"
    return Finding(code, ERROR, paradigm.file, f"{message} in {len(cases):,} pairs ({example}).", remedy)
