"""Relations of agreement: the file that says which words agree in which features, and what is left out."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.corpora.conditions import Condition, has_label, read_condition
from analysis.corpora.conllu import Sentence, features
from analysis.corpora.notation import error_context, read_pattern
from analysis.corpora.patterns import Pattern
from analysis.errors import BadInput, UnknownName

SHIPPED = Path(__file__).with_name("relations.toml")
AGREEING = "agreeing"  # the name of the word that shows agreement, in ``where`` of ``without``
KEYS = ("lists", "relations", "without")
RELATION_KEYS = (
    "name", "title", "linguistics_term", "features", "default", "path", "order", "words", "controller",
    "swap", "carriers", "only", "without",
)  # fmt: skip
PATTERN_KEYS = ("path", "order", "words")
WITHOUT_KEYS = ("name", "languages", "where", *PATTERN_KEYS)


@dataclass(frozen=True)
class Exclusion:
    """A reason to leave an instance out: conditions on its words and a pattern around them."""

    name: str
    where: tuple[tuple[str, Condition], ...]
    around: Pattern

    def holds(self, sentence: Sentence, at: Mapping[str, int]) -> bool:
        """Return whether the instance is left out."""
        return all(condition.holds(sentence, at[word]) for word, condition in self.where) and (
            next(self.around.places(sentence, at), None) is not None
        )


@dataclass(frozen=True)
class Relation:
    """Two words that agree.

    Parameters
    ----------
    pattern : Pattern
        Where they are.
    controller, swap : str
        Names of its words.
    carriers : frozenset of str
        Relations of children of ``swap`` that show the agreement instead.
    only : tuple of (reason, Condition)
        What the agreeing word must be.
    """

    name: str
    title: str
    linguistics_term: str
    features: tuple[str, ...]
    defaults: Mapping[str, str]
    pattern: Pattern
    controller: str
    swap: str
    carriers: frozenset[str]
    only: tuple[tuple[str, Condition], ...]
    without: tuple[Exclusion, ...]

    def agreeing(self, sentence: Sentence, at: Mapping[str, int]) -> int:
        """Return the position of the word that shows the agreement."""
        positions = [
            position
            for position, word in enumerate(sentence.words, start=1)
            if self.carriers and word.head == at[self.swap] and has_label(word.deprel, self.carriers)
        ]
        finite = [
            position
            for position in positions
            if "Fin" in features(sentence.words[position - 1].feats).get("VerbForm", ())
        ]
        return (finite or positions or [at[self.swap]])[0]


def read_relations(
    path: Path = SHIPPED, *, language: str, proper_names: bool = False
) -> tuple[Relation, ...]:
    """Read the relations of a file with the lists and exclusions of a language."""
    if not path.is_file():
        raise BadInput("there is no such file.", file=str(path))
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadInput("the text is not UTF-8.", file=str(path), remedy="Save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"not TOML ({error}).", file=str(path)) from error
    try:
        return _parse(document, language, proper_names)
    except BadInput as error:
        raise BadInput(error.message, file=error.file or str(path), remedy=error.remedy) from error


def _parse(document: dict[str, Any], language: str, proper_names: bool) -> tuple[Relation, ...]:
    _check_keys("key", document, KEYS)
    lists = _lists(document.get("lists", {}), language, proper_names)
    tables = document.get("relations", [])
    if not isinstance(tables, list) or not tables:
        raise BadInput("the file has no relations.", remedy="Add a table [[relations]].")
    relations = []
    for number, table in enumerate(tables, start=1):
        with error_context(f"relation {number}"):
            relations.append(_relation(table, document.get("without", []), lists, language))
    names = [relation.name for relation in relations]
    if len(set(names)) < len(names):
        raise BadInput("two relations have one name.", remedy="Rename one.")
    return tuple(relations)


def _lists(table: Mapping[str, Any], language: str, proper_names: bool) -> dict[str, frozenset[str]]:
    lists: dict[str, set[str]] = {}
    for source in (table, table.get(language.partition("-")[0], {})):
        for name, words in source.items():
            if isinstance(words, list):
                lists.setdefault(name, set()).update(words)
    if proper_names:
        lists.setdefault("controllers", set()).add("PROPN")
    return {name: frozenset(words) for name, words in lists.items()}


def _relation(table: Any, shared: list[Any], lists: Mapping[str, frozenset[str]], language: str) -> Relation:
    if not isinstance(table, Mapping):
        raise BadInput(f"{table!r} is not a table.")
    _check_keys("key of a relation", table, RELATION_KEYS)
    for key in ("name", "features", "controller", "swap", "path"):
        if not table.get(key):
            raise BadInput(
                f"{key} is missing.", remedy="Write name, features, path, words, controller, swap."
            )
    pattern = read_pattern({key: table[key] for key in PATTERN_KEYS if key in table}, lists)
    for key in ("controller", "swap"):
        if table[key] not in pattern.words:
            raise UnknownName(f"word for {key}", str(table[key]), list(pattern.words))
    names = (*pattern.words, AGREEING)
    exclusions = [_exclusion(entry, names, lists, language) for entry in table.get("without", [])]
    for entry in shared:
        if _uses(entry) <= {*names, *entry.get("words", {})}:
            exclusions.append(_exclusion(entry, names, lists, language))
    only = [
        (str(entry.get("name", "agreeing word")), read_condition(entry.get("is", {}), lists))
        for entry in table.get("only", [])
    ]
    return Relation(
        name=str(table["name"]), title=str(table.get("title", "")),
        linguistics_term=str(table.get("linguistics_term", table["name"])),
        features=tuple(table["features"]), defaults=dict(table.get("default", {})), pattern=pattern,
        controller=table["controller"], swap=table["swap"],
        carriers=frozenset(table.get("carriers", ())), only=tuple(only),
        without=tuple(exclusion for exclusion in exclusions if exclusion),
    )  # fmt: skip


def _exclusion(
    entry: Any, names: tuple[str, ...], lists: Mapping[str, frozenset[str]], language: str
) -> Exclusion | None:
    if not isinstance(entry, Mapping) or not entry.get("name"):
        raise BadInput("an entry of without has no name.", remedy="Write the reason as name.")
    _check_keys("key of without", entry, WITHOUT_KEYS)
    if language.partition("-")[0] not in entry.get("languages", [language.partition("-")[0]]):
        return None
    with error_context(f"without {entry['name']!r}"):
        where = tuple((word, read_condition(table, lists)) for word, table in entry.get("where", {}).items())
        for word, _ in where:
            if word not in names:
                raise UnknownName("word", word, names)
        around = read_pattern(
            {key: entry[key] for key in PATTERN_KEYS if key in entry}, lists, outer_names=names
        )
    return Exclusion(str(entry["name"]), where, around)


def _uses(entry: Any) -> set[str]:
    """Return the names of words that an exclusion for all relations needs."""
    if not isinstance(entry, Mapping):
        raise BadInput(f"{entry!r} is not a table.", remedy="Write [[without]].")
    paths = entry.get("path", [])
    texts = [paths] if isinstance(paths, str) else paths
    return {name for path in texts for name in path.split()[::2]} | set(entry.get("where", {}))


def _check_keys(kind: str, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in table:
        if key not in keys:
            raise UnknownName(kind, key, keys)
