"""Test suites of SyntaxGym: JSON with items, conditions and regions; predictions become minimal pairs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import BadInput
from experiments.materials.collection import Materials, Source, pair_frame, require_unique, sentence_frame
from experiments.materials.encoding import Encoding, read_text
from experiments.materials.findings import Finding
from experiments.materials.readers.json_text import parse_json
from experiments.materials.schema import ACCEPTABLE, UNACCEPTABLE

_COMPARISON = re.compile(
    r"\(\s*(?P<first>\d+|\*)\s*;\s*%(?P<left>[^%]+)%\s*\)\s*(?P<sign>[<>])\s*"
    r"\(\s*(?P<second>\d+|\*)\s*;\s*%(?P<right>[^%]+)%\s*\)"
)
_CONJUNCTION = re.compile(r"[\s()\[\]&]*")
_REMEDY = "Give the suite as SyntaxGym writes it: items, each with conditions, each with regions."


@dataclass
class _Suite:
    file: str
    name: str
    phenomenon: str
    contrasts: list[tuple[str, str]]  # conditions of lower and of higher surprisal
    findings: list[Finding]
    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    regions: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    items: dict[str, int] = field(default_factory=dict)  # with their place in the file


def read_syntaxgym(paths: Sequence[Path], *, encoding: Encoding = "") -> Materials:
    """Read suites, one per file.

    Notes
    -----
    The sentence is the text of all regions. A prediction that compares the surprisal of one region in two
    conditions, or several such joined by ``&``, gives a pair of each item: the condition of lower surprisal
    is the acceptable member. Other predictions make no pairs and are named in the findings.

    References
    ----------
    Gauthier et al. (2020), "SyntaxGym: An Online Platform for Targeted Evaluation of Language Models", ACL.
    """
    suites, sources = [], []
    for path in paths:
        decoded = read_text(path, encoding=encoding)
        suite = _suite(parse_json(decoded.text, file=decoded.file), decoded.file)
        suites.append(suite)
        description = f"{decoded.description}, suite of SyntaxGym"
        columns = ("item_number", "condition_name", "regions")
        sources.append(Source(decoded.file, description, len(suite.texts), columns, inferred=decoded.check))
    return _materials(suites, tuple(sources))


def is_suite(document: Any) -> bool:
    """Whether a JSON document is a suite."""
    return (
        isinstance(document, dict) and isinstance(document.get("items"), list) and "predictions" in document
    )


def _suite(document: Any, file: str) -> _Suite:
    if not is_suite(document):
        raise BadInput("is no suite: items or predictions are missing.", file=file, remedy=_REMEDY)
    meta = document.get("meta")
    about = meta if isinstance(meta, dict) else {}
    name = str(about.get("name") or file.removesuffix(".json"))
    contrasts, findings = _contrasts(document["predictions"], file)
    suite = _Suite(file, name, str(about.get("tag") or ""), contrasts, findings)
    for place, item in enumerate(document["items"], start=1):
        _read_item(suite, item, place)
    if not suite.texts:
        raise BadInput("the suite has no items.", file=file, column="items", remedy=_REMEDY)
    conditions = {condition for _, condition in suite.texts}
    unknown = sorted({name for pair in contrasts for name in pair} - conditions)
    if unknown:
        raise BadInput(
            f"a prediction names {unknown[0]!r}, which no item has as its condition.",
            file=file,
            column="predictions",
            remedy=f"Conditions are {', '.join(sorted(conditions))}.",
        )
    return suite


def _read_item(suite: _Suite, item: Any, place: int) -> None:
    conditions = item.get("conditions") if isinstance(item, dict) else None
    if not isinstance(conditions, list) or not conditions:
        raise BadInput(
            "the item has no conditions.", file=suite.file, row=place, column="conditions", remedy=_REMEDY
        )
    number = str(item.get("item_number", place))
    if number in suite.items:
        raise BadInput(
            f"item {number} stands in the suite twice.",
            file=suite.file,
            row=place,
            column="item_number",
            remedy="Number the items differently.",
        )
    suite.items[number] = place
    for condition in conditions:
        name = condition.get("condition_name") if isinstance(condition, dict) else None
        regions = condition.get("regions") if isinstance(condition, dict) else None
        contents: list[Any] = [
            region.get("content") if isinstance(region, dict) else None for region in regions or ()
        ]
        if not isinstance(name, str) or not contents or not all(isinstance(text, str) for text in contents):
            raise BadInput(
                "a condition needs its name and regions with content.",
                file=suite.file,
                row=place,
                column="regions" if isinstance(name, str) else "condition_name",
                remedy=_REMEDY,
            )
        text = join_regions(contents)
        if not text:
            raise BadInput(
                f"condition {name!r} is an empty sentence.",
                file=suite.file,
                row=place,
                column="content",
                remedy=_REMEDY,
            )
        if (number, name) in suite.texts:
            raise BadInput(
                f"condition {name!r} stands in the item twice.",
                file=suite.file,
                row=place,
                column="condition_name",
                remedy="Name the conditions of an item differently.",
            )
        suite.texts[number, name], suite.regions[number, name] = text, contents


def join_regions(regions: Sequence[str]) -> str:
    """Return the text of regions; punctuation follows its word without a space.

    Examples
    --------
    >>> join_regions(["The man", "", "who left", "was tall", "."])
    'The man who left was tall.'
    """
    joined = " ".join(region.strip() for region in regions if region.strip())
    return re.sub(r"\s+([.,;:?!])", r"\1", joined)


def _contrasts(predictions: Any, file: str) -> tuple[list[tuple[str, str]], list[Finding]]:
    contrasts: dict[tuple[str, str], None] = {}
    findings = []
    listed = predictions if isinstance(predictions, list) else []
    for place, prediction in enumerate(listed, start=1):
        formula = str(prediction.get("formula", "")) if isinstance(prediction, dict) else ""
        pairs = comparisons(formula)
        if pairs:
            contrasts |= dict.fromkeys(pairs)
            continue
        message = (
            f"prediction {place} ({formula or 'without a formula'}) compares no two conditions at one "
            "region, and makes no pairs."
        )
        findings.append(Finding("note", "prediction_without_pairs", message, file=file))
    return list(contrasts), findings


def comparisons(formula: str) -> list[tuple[str, str]]:
    """Return the conditions of lower and higher surprisal of each comparison; none of any other formula.

    Examples
    --------
    >>> comparisons("((5;%match%) < (5;%mismatch%)) & ((6;%b%) > (6;%a%))")
    [('match', 'mismatch'), ('a', 'b')]
    >>> comparisons("(5;%a%) - (5;%b%) < (5;%c%) - (5;%d%)"), comparisons("(5;%a%) < (6;%b%)")
    ([], [])
    """
    matches = list(_COMPARISON.finditer(formula))
    is_conjunction = _CONJUNCTION.fullmatch(_COMPARISON.sub("", formula)) is not None
    if not is_conjunction or any(match["first"] != match["second"] for match in matches):
        return []
    return [
        (match["left"], match["right"]) if match["sign"] == "<" else (match["right"], match["left"])
        for match in matches
    ]


def _materials(suites: Sequence[_Suite], sources: tuple[Source, ...]) -> Materials:
    sentences: dict[str, list[Any]] = {name: [] for name in _SENTENCE}
    pairs: dict[str, list[Any]] = {name: [] for name in _PAIR}
    for suite in suites:
        statuses = _statuses(suite.contrasts)
        for (number, condition), text in suite.texts.items():
            item = f"{suite.name}:{number}"
            _add(
                sentences,
                sentence_id=f"{item}:{condition}",
                item=item,
                condition=condition,
                paradigm=suite.name,
                phenomenon=suite.phenomenon,
                text=text,
                expected=statuses.get(condition, ""),
                attributes={"regions": suite.regions[number, condition]},
                file=suite.file,
                row=suite.items[number],
            )
        for number, place in suite.items.items():
            for good, bad in suite.contrasts:
                if (number, good) in suite.texts and (number, bad) in suite.texts:
                    item = f"{suite.name}:{number}"
                    _add(
                        pairs,
                        pair_id=f"{item}:{good}:{bad}",
                        item=item,
                        paradigm=suite.name,
                        phenomenon=suite.phenomenon,
                        good_id=f"{item}:{good}",
                        bad_id=f"{item}:{bad}",
                        file=suite.file,
                        row=place,
                    )
    frame, pair_rows = sentence_frame(**sentences), pair_frame(**pairs)
    require_unique(frame, "sentence_id")
    require_unique(pair_rows, "pair_id")
    findings = tuple(finding for suite in suites for finding in suite.findings)
    return Materials("syntaxgym", frame, pair_rows, sources, findings=findings)


_SENTENCE = (
    "sentence_id",
    "item",
    "condition",
    "paradigm",
    "phenomenon",
    "text",
    "expected",
    "attributes",
    "file",
    "row",
)
_PAIR = ("pair_id", "item", "paradigm", "phenomenon", "good_id", "bad_id", "file", "row")


def _add(columns: Mapping[str, list[Any]], **cells: Any) -> None:
    for name, cell in cells.items():
        columns[name].append(cell)


def _statuses(contrasts: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return what is expected of conditions that are always the better or always the worse one."""
    better, worse = {good for good, _ in contrasts}, {bad for _, bad in contrasts}
    return dict.fromkeys(better - worse, ACCEPTABLE) | dict.fromkeys(worse - better, UNACCEPTABLE)
