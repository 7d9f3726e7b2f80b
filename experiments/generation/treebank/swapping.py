"""Swapped inflection: the one form of a table that has another value, and why there is none."""

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from experiments.generation.treebank.inflections import (
    DOTTED,
    Cell,
    Features,
    InflectionTable,
    fold,
    without_marks,
)
from experiments.generation.treebank.instances import Collected, Instance

# Features that agreement is about: what the controller has of them holds for the agreeing word, too.
AGREEMENT = ("Number", "Person", "Gender", "Animacy", "Case")
# Share of a controller's form with the wrong value from which the form counts as ambiguous.
AMBIGUOUS_SHARE = 0.05
FINITE = frozenset({"Fin"})


@dataclass(frozen=True)
class Swap:
    """The wrong form, or the reason why there is none."""

    form: str = ""
    reason: str = ""


def swap_value(
    instance: Instance, wrong: str, *, table: InflectionTable, collected: Collected, language: str
) -> Swap:
    """Return the agreeing word with one value changed."""
    if _is_ambiguous(instance, wrong, table, collected, language):
        return Swap(reason="controller's form has the wrong value, too")
    word, feature = instance.agreeing, instance.feature
    cells = table.of(word.lemma, word.category)
    if not cells:
        return Swap(reason="lemma is not in the table")
    spelling = _Spelling(word.form, language)
    right = _expected_features(instance)
    attested = [
        cell
        for cell in cells
        if spelling.of(cell.form) == spelling.form and _is_compatible(cell.features, right)
    ]
    if not attested:
        is_marked = not spelling.is_bare and any(
            without_marks(spelling.form) == fold(cell.form, language) for cell in cells
        )
        lost = "marks of the form are not in the table"
        return Swap(reason=lost if is_marked else "attested form is not in the table")
    forms: dict[str, str] = {}
    for cell in attested:
        for other in _targets(cell, cells, feature, wrong, right):
            forms.setdefault(spelling.of(other.form), other.form)
    if not forms:
        return Swap(reason="no cell with the wrong value")
    if spelling.form in forms:
        return Swap(reason="same form")
    if len(forms) > 1:
        return Swap(reason="several forms")
    new = next(iter(forms))
    if any(_realizes(cell, feature, right) for cell in cells if spelling.of(cell.form) == new):
        return Swap(reason="wrong form realizes the right value, too")
    return Swap(form=_match_spelling(spelling.strip_marks(forms[new]), word.form, language))


class _Spelling:
    """Comparison of forms with one of the text: without marks where the text writes none."""

    def __init__(self, form: str, language: str) -> None:
        self.language = language
        self.is_bare = without_marks(form) == unicodedata.normalize("NFC", form)
        self.form = self.of(form)

    def of(self, form: str) -> str:
        return _fold_form(form, self.language, self.is_bare)

    def strip_marks(self, form: str) -> str:
        return without_marks(form) if self.is_bare else form


@lru_cache(maxsize=65_536)
def _fold_form(form: str, language: str, is_bare: bool) -> str:
    return fold(without_marks(form) if is_bare else form, language)


def _expected_features(instance: Instance) -> Features:
    """Return the features of the agreeing word, with those of its controller that it does not mark."""
    expected_features = dict(instance.agreeing.features)
    for name in AGREEMENT:
        if name in instance.controller.features:
            expected_features.setdefault(name, instance.controller.features[name])
    return expected_features


def _is_compatible(first: Features, second: Features, names: Iterable[str] | None = None) -> bool:
    """Whether two bundles share a value of every feature that both have, and the form of the verb."""
    if not first.get("VerbForm", FINITE) & second.get("VerbForm", FINITE):
        return False
    return all(first[name] & second[name] for name in names or first if name in first and name in second)


def _targets(
    cell: Cell, cells: list[Cell], feature: str, wrong: str, right: Features
) -> list[Cell]:  # fmt: skip
    """Return the cells with the features of the attested cell and the wrong value."""
    if feature not in cell.features:
        return [cell]  # one form for all values
    want = {**cell.features, feature: frozenset((wrong,))}
    exact = [other for other in cells if other.features == want]
    # Plurals often lack the gender or person that the singular has, and the other way round.
    expected = {**right, feature: frozenset((wrong,))}
    return exact or [
        other
        for other in cells
        if _is_compatible(other.features, want) and _is_compatible(other.features, expected)
    ]


def _realizes(cell: Cell, feature: str, right: Features) -> bool:
    """Whether a cell has the right value in any tense or mood but the imperative, or no value at all."""
    if cell.features.get("Mood") == frozenset({"Imp"}):
        return False
    return _is_compatible(cell.features, right, {feature, *AGREEMENT})


def _is_ambiguous(
    instance: Instance, wrong: str, table: InflectionTable, collected: Collected, language: str
) -> bool:
    """Whether the controller's form has the wrong value, too, in the table or in the treebank."""
    controller, feature = instance.controller, instance.feature
    spelling = _Spelling(controller.form, language)
    other_features = [name for name in controller.features if name != feature]
    for cell in table.of(controller.lemma, controller.category):
        if (
            spelling.of(cell.form) == spelling.form
            and wrong in cell.features.get(feature, ())
            and all(
                cell.features[name] & controller.features[name]
                for name in other_features
                if name in cell.features
            )
        ):
            return True
    case = ",".join(sorted(controller.features.get("Case", ())))
    key = fold(controller.form, language), controller.lemma, controller.category, case, feature
    n_right, n_wrong = collected.attested[*key, instance.value], collected.attested[*key, wrong]
    return n_wrong > 0 and n_wrong >= math.ceil(AMBIGUOUS_SHARE * (n_right + n_wrong))


def _match_spelling(form: str, model: str, language: str) -> str:
    """Return a form with the capitals and the normalization of another one."""
    letters = [character for character in model if character.isalpha()]
    if len(letters) > 1 and all(character.isupper() for character in letters):
        form = _upper(form, language)
    elif letters and letters[0].isupper():
        form = _upper(form[0], language) + form[1:]
    is_decomposed = unicodedata.normalize("NFC", model) != model
    return unicodedata.normalize("NFD", form) if is_decomposed else form


def _upper(text: str, language: str) -> str:
    return (text.replace("i", "İ") if language in DOTTED else text).upper()
