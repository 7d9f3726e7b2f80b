"""Find a study or a material set by its short or long name; an unknown name is answered with near ones."""

from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet

from analysis.errors import BadInput, UnknownName
from experiments.models import Experiment, MaterialSet


def find_experiment(name: str, *, among: QuerySet[Experiment] | None = None) -> Experiment:
    """The study of that slug or title, among all or among some."""
    rows = Experiment.objects.all() if among is None else among
    return _find(rows, name, what="experiment", long="title")


def find_materials(name: str) -> MaterialSet:
    """The material set of that slug or name."""
    return _find(MaterialSet.objects.all(), name, what="material set", long="name")


def _find(rows: Any, name: str, *, what: str, long: str) -> Any:
    if (found := rows.filter(slug=name).first()) is not None:
        return found
    alike = list(rows.filter(**{long: name})[:2])
    if len(alike) > 1:
        raise BadInput(
            f"several are called {name!r}.", remedy="Give the short name that stands in its address."
        )
    if alike:
        return alike[0]
    known = [word for pair in rows.values_list("slug", long) for word in pair]
    raise UnknownName(what, name, list(dict.fromkeys(known)))


def find_user(username: str) -> Any:
    """The user of that name, None for an empty one."""
    users = get_user_model().objects
    if not username:
        return None
    if (found := users.filter(username=username).first()) is None:
        raise UnknownName("user", username, list(users.values_list("username", flat=True)))
    return found
