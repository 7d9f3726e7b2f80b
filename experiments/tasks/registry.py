"""Look up tasks by name; every module of this package that defines a Task subclass is a task."""

from importlib import import_module
from pkgutil import iter_modules

import experiments.tasks
from analysis.plugins.registry import Plugin, Registry, package_folder
from experiments.tasks.base import BETWEEN, Task


def _built_in() -> dict[str, Task]:
    registered: dict[str, Task] = {}
    for module in iter_modules(experiments.tasks.__path__, "experiments.tasks."):
        if module.name == __name__:
            continue
        for member in vars(import_module(module.name)).values():
            if isinstance(member, type) and issubclass(member, Task) and member.name:
                registered[member.name] = member()
    return registered


def _adopt(plugin: Plugin) -> Task:
    """The task of a plugin, checked for what the first screen of a study needs."""
    task_class = plugin.component
    if not (isinstance(task_class, type) and issubclass(task_class, Task)):
        raise TypeError("a task is a subclass of experiments.tasks.base.Task")
    if task_class.name != plugin.name or "-" in plugin.name:
        raise ValueError(f"its name {task_class.name!r} has to equal the entry point's, without hyphens")
    required = {"question", *(parameter.name for parameter in BETWEEN)}  # read for every trial
    missing = sorted(required - {parameter.name for parameter in task_class.parameters})
    if missing or not task_class.label:
        raise ValueError(f"it lacks {', '.join(missing) or 'a label'}")
    template = package_folder(plugin.target) / "templates" / "judgments" / "tasks" / f"{plugin.name}.html"
    if not template.is_file():
        raise ValueError(f"its package has no templates/judgments/tasks/{plugin.name}.html")
    task = task_class()
    task.scale(task.settings({}))
    return task


TASKS: Registry[Task] = Registry("tasks", _built_in(), adopt=_adopt)


def tasks() -> dict[str, Task]:
    """Return all tasks by name, sorted by name."""
    return dict(sorted(TASKS.items()))


def task_names() -> list[str]:
    """Return the names of all tasks."""
    return list(tasks())


def get_task(name: str) -> Task:
    """Return the task of that name; :class:`~analysis.errors.UnknownName` suggests near names."""
    return TASKS.find(name, noun="task")


def shown_task(name: str) -> Task:
    """Return the task of that name; for one that is not installed, a placeholder without parameters."""
    if name in TASKS:
        return TASKS[name]
    label = f"{name.replace('_', ' ').capitalize()} (imported)"
    placeholder: type[Task] = type("ImportedTask", (Task,), {"label": label})
    return placeholder()
