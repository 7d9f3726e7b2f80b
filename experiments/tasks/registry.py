"""Look up tasks by name; every module of this package that defines a Task subclass is a task."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import experiments.tasks
from analysis.errors import UnknownName
from experiments.tasks.base import Task


@cache
def tasks() -> dict[str, Task]:
    """Return all tasks by name, sorted by name."""
    registered: dict[str, Task] = {}
    for module in iter_modules(experiments.tasks.__path__, "experiments.tasks."):
        for member in vars(import_module(module.name)).values():
            if isinstance(member, type) and issubclass(member, Task) and member.name:
                registered[member.name] = member()
    return dict(sorted(registered.items()))


def task_names() -> list[str]:
    """Return the names of all tasks."""
    return list(tasks())


def get_task(name: str) -> Task:
    """Return the task of that name; :class:`~analysis.errors.UnknownName` suggests near names."""
    try:
        return tasks()[name]
    except KeyError:
        raise UnknownName("task", name, task_names()) from None


def shown_task(name: str) -> Task:
    """Return the task of that name; for one that is not installed, a placeholder without parameters."""
    if name in tasks():
        return tasks()[name]
    label = f"{name.replace('_', ' ').capitalize()} (imported)"
    placeholder: type[Task] = type("ImportedTask", (Task,), {"label": label})
    return placeholder()
