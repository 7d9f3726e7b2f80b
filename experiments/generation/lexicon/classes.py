"""The tree of classes of what nouns denote, and expressions over it."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from analysis.errors import BadInput, UnknownName

FILE = Path(__file__).with_name("classes.toml")


class ClassTree:
    """Classes with one parent each.

    Parameters
    ----------
    parents : mapping of str to str
        Parent of each class; empty for the root.

    Examples
    --------
    >>> tree = ClassTree({"thing": "", "artifact": "thing", "tool": "artifact", "food": "thing"})
    >>> tree.is_a("tool", "thing"), tree.is_a("thing", "tool")
    (True, False)
    >>> tree.meets(["tool"], ["artifact", "food"]), tree.meets(["tool"], ["artifact", "!tool"])
    (True, False)
    """

    def __init__(self, parents: Mapping[str, str]) -> None:
        self.parents = dict(parents)
        self._ancestors = {name: frozenset(self._path(name)) for name in self.parents}
        self._closures: dict[tuple[str, ...], frozenset[str]] = {}
        self._expressions: dict[tuple[str, ...], tuple[frozenset[str], frozenset[str]]] = {}

    def __contains__(self, name: object) -> bool:
        return name in self.parents

    def _path(self, name: str) -> list[str]:
        path: list[str] = []
        while name:
            if name in path:
                raise BadInput(
                    f"the class {name!r} is its own ancestor.", file=FILE.name, remedy="Name another parent."
                )
            if name not in self.parents:
                raise UnknownName("class", name, list(self.parents))
            path.append(name)
            name = self.parents[name]
        return path

    def is_a(self, name: str, ancestor: str) -> bool:
        """Return whether a class is the other or lies below it; ``=lemma`` is a class of one noun."""
        if name.startswith("=") or ancestor.startswith("="):
            return name == ancestor
        if name not in self._ancestors:
            raise UnknownName("class", name, list(self.parents))
        if ancestor not in self._ancestors:
            raise UnknownName("class", ancestor, list(self.parents))
        return ancestor in self._ancestors[name]

    def meets(self, classes: Iterable[str], expression: Sequence[str]) -> bool:
        """Return whether classes meet an expression: one of its names, none of its names with ``!``."""
        names = self._with_ancestors(tuple(classes))
        required, excluded = self._terms(tuple(expression))
        return excluded.isdisjoint(names) and not required.isdisjoint(names)

    def _terms(self, expression: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names of an expression, those without and those with ``!``."""
        if expression not in self._expressions:
            excluded = frozenset(term[1:] for term in expression if term.startswith("!"))
            required = frozenset(term for term in expression if not term.startswith("!"))
            self._expressions[expression] = required, excluded
        return self._expressions[expression]

    def _with_ancestors(self, classes: tuple[str, ...]) -> frozenset[str]:
        """Return classes and all above them."""
        if classes not in self._closures:
            names = set(classes)
            for name in classes:
                if name not in self._ancestors and not name.startswith("="):
                    raise UnknownName("class", name, list(self.parents))
                names |= self._ancestors.get(name, frozenset())
            self._closures[classes] = frozenset(names)
        return self._closures[classes]

    def allows(self, expression: Sequence[str], name: str) -> bool:
        """Return whether an expression admits nouns of a class or of one of its descendants.

        Examples
        --------
        >>> tree = ClassTree({"thing": "", "artifact": "thing", "tool": "artifact", "food": "thing"})
        >>> tree.allows(["thing", "!food"], "tool"), tree.allows(["thing", "!food"], "food")
        (True, False)
        """
        return any(self.is_a(leaf, name) and self.meets([leaf], expression) for leaf in self.parents)


@lru_cache(maxsize=1)
def class_tree() -> ClassTree:
    """Read the classes of the shipped lexicon."""
    with FILE.open("rb") as lines:
        return ClassTree(tomllib.load(lines))
