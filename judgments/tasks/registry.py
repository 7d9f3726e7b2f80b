"""Find a task by name. Every module of this package that defines a Task subclass is a task."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import judgments.tasks
from analysis.errors import UnknownName
from judgments.tasks.base import Task


@cache
def tasks() -> dict[str, Task]:
    """All tasks by name, in order of their names."""
    found: dict[str, Task] = {}
    for module in iter_modules(judgments.tasks.__path__, "judgments.tasks."):
        for member in vars(import_module(module.name)).values():
            if isinstance(member, type) and issubclass(member, Task) and member.name:
                found[member.name] = member()
    return dict(sorted(found.items()))


def task_names() -> list[str]:
    """Names of all tasks."""
    return list(tasks())


def get_task(name: str) -> Task:
    """The task of that name; :class:`~analysis.errors.UnknownName` suggests near names."""
    try:
        return tasks()[name]
    except KeyError:
        raise UnknownName("task", name, task_names()) from None


def shown_task(name: str) -> Task:
    """The task of that name; for one that is not installed here, a nameplate without parameters.

    Parameters
    ----------
    name : str
        Of a study whose judgments came in under a task that this house does not have.

    Returns
    -------
    Task
    """
    if name in tasks():
        return tasks()[name]
    label = f"{name.replace('_', ' ').capitalize()} (imported)"
    nameplate: type[Task] = type("ImportedTask", (Task,), {"label": label})
    return nameplate()
