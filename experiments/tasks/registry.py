"""Look up tasks by name; every module of this package that defines a Task subclass is a task."""

import json
from collections.abc import Mapping
from importlib import import_module
from math import isfinite
from pkgutil import iter_modules
from typing import Any
from urllib.parse import urlencode

import experiments.tasks
from analysis.plugins.registry import Plugin, PluginFailure, Registry, package_folder
from experiments.tasks.base import BETWEEN, Answer, Options, Settings, Task


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
    return _guard_task(task, plugin)


#: Methods of a plugin's task that the platform calls, with the type of their results.
RETURNS: Mapping[str, type | tuple[type, ...]] = {
    "settings": dict,
    "scale": tuple,
    "can_answer": object,
    "possible_answers": str,
    "warm_up": tuple,
    "simulate": str,
}


def _guard_task(task: Task, plugin: Plugin) -> Task:
    """The task with errors and unusable results of its methods as failures of the plugin."""
    task.plugin = plugin
    guarded = {
        **{name: plugin.guard(getattr(task, name), returns=returns) for name, returns in RETURNS.items()},
        "arrange": plugin.guard(_stored_as_json(task.arrange)),
        "screen": plugin.guard(_stored_as_json(task.screen)),
        "parse": plugin.guard(_checked_parse(task)),
        "read_response": _guard_response(plugin.guard(task.read_response, returns=str)),
        "form_fields": plugin.guard(task.form_fields, returns=dict),
    }
    for name, method in guarded.items():
        setattr(task, name, method)
    return task


def _stored_as_json(method: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> dict[str, Any]:
        result = method(*args, **kwargs)
        json.dumps(result, allow_nan=False)  # it is stored, or sent to the browser
        if not isinstance(result, dict):
            raise TypeError(f"it returned {type(result).__name__}")
        return result

    return call


def _checked_parse(task: Task) -> Any:
    parse, scale = task.parse, task.scale

    def parse_checked(response: str, settings: Settings, *, options: Options) -> Answer:
        answer = parse(response, settings, options=options)
        if not isinstance(answer, Answer) or not isinstance(answer.response, str):
            raise TypeError("parse has to return an Answer with a text as its response")
        low, high = scale(settings)
        value = float(answer.value)
        if not isfinite(value) or (low is not None and value < low) or (high is not None and value > high):
            raise ValueError(f"the value {answer.value!r} is not on the scale from {low} to {high}")
        return answer

    return parse_checked


def _guard_response(method: Any) -> Any:
    """An answer whose form the plugin cannot read is kept as the fields of the form."""

    def read_response(form: Mapping[str, str]) -> str:
        try:
            return str(method(form))
        except PluginFailure:
            return urlencode(dict(form.items()))

    return read_response


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


def task_of_version(name: str) -> Task:
    """Return the task that a study was opened with; without its package, the error names the remedy."""
    if name not in TASKS and all(plugin.name != name for plugin in TASKS.plugins()):
        raise PluginFailure(
            f"the package that offers the task {name} is not installed.",
            remedy="Install it again, and restart the processes.",
        )
    return get_task(name)


def shown_task(name: str) -> Task:
    """Return the task of that name; for one that is not installed, a placeholder without parameters."""
    if name in TASKS:
        return TASKS[name]
    label = f"{name.replace('_', ' ').capitalize()} (imported)"
    placeholder: type[Task] = type("ImportedTask", (Task,), {"label": label})
    return placeholder()
