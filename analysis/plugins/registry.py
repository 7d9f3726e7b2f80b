"""Registries of built-in components and of plugins, with the same checks for all kinds of plugin."""

import logging
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..errors import BadInput, UnknownName

API_VERSION = 1  # raised when a plugin written for the version before would fail or give other numbers
DECLARATION = "OBELUS_API"  # in the package's __init__, which has to import nothing that may fail
KINDS = ("readers", "tasks", "recruiters", "statistics", "figures", "scorers")
NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")  # is part of addresses, file names and database columns
OWN_PACKAGES = ("analysis", "obelus")  # built-in scorers are entry points of the wheel too

T = TypeVar("T")
logger = logging.getLogger(__name__)  # the platform counts its records as failures of plugins


class PluginFailure(BadInput):
    """An error of a plugin's own code; the message names its package and version."""


@dataclass(frozen=True)
class Plugin:
    """One entry point of an installed package: its component, or why it is not used."""

    kind: str
    name: str
    package: str
    version: str
    target: str
    component: Any = None
    problem: str = ""

    @property
    def label(self) -> str:
        """Package and name, for messages.

        Examples
        --------
        >>> Plugin("readers", "survey", "obelus-survey", "1.0", "obelus_survey:read").label
        'survey of the plugin obelus-survey 1.0'
        """
        return f"{self.name} of the plugin {self.package} {self.version}".strip()

    def failure(self, error: BaseException) -> BadInput:
        """Log an error of the plugin's own code and return it as bad input that names the package."""
        if isinstance(error, BadInput):
            return error
        logger.error("%s failed", self.label, exc_info=error)
        return PluginFailure(
            f"{self.label} failed: {_reason(error)}.", remedy="Report it to the authors of that package."
        )

    def guard(self, function: Callable[..., Any], *, returns: type | tuple[type, ...] = object) -> Any:
        """Wrap a function of the plugin: its errors, and results of another type, name the package."""

        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                raise self.failure(error) from error
            if not isinstance(result, returns):
                raise self.failure(TypeError(f"it returned {type(result).__name__}"))
            return result

        return call


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}".rstrip(" :.")


class Registry(Mapping[str, T], Generic[T]):
    """Built-in components by name, then those of plugins, which are loaded when first needed.

    A plugin that cannot be used is left out; :meth:`plugins` names the reason.

    Parameters
    ----------
    kind : str
        One of :data:`KINDS`; the entry-point group is ``obelus.`` and the kind.
    built_in : mapping
        Built-in components. No plugin takes one of their names.
    adopt : callable
        From the plugin to the component as the registry holds it; ``plugin.component`` is what its package
        names. Raises ``TypeError`` or ``ValueError`` for what is none.
    declares_api : bool
        Whether a package without a declared version is refused.

    Examples
    --------
    >>> sorted(Registry("readers", {"table": len}, adopt=lambda plugin: plugin.component))[:1]
    ['table']
    """

    def __init__(
        self,
        kind: str,
        built_in: Mapping[str, T],
        *,
        adopt: Callable[[Plugin], T],
        declares_api: bool = True,
    ) -> None:
        if kind not in KINDS:
            raise UnknownName("kind of plugin", kind, KINDS)
        self.kind, self.built_in, self.adopt, self.declares_api = kind, built_in, adopt, declares_api
        # Plugins by search path: installed packages change in a running process only where the path does.
        self._loaded = cache(lambda _path: tuple(self._load()))

    def plugins(self) -> tuple[Plugin, ...]:
        """Return the plugins of this kind, also those that cannot be used."""
        return self._loaded(tuple(sys.path))

    def find(self, name: str, *, noun: str) -> T:
        """Look up a component; for a broken plugin the error says what is wrong with it."""
        if name in self:
            return self[name]
        for plugin in self.plugins():
            if plugin.name == name:
                raise PluginFailure(
                    f"the package that offers {name}: {plugin.problem}.",
                    remedy=f"Reinstall or update {plugin.package}, or remove it from the environment.",
                )
        raise UnknownName(noun, name, sorted(self))

    def __getitem__(self, name: str) -> T:
        if name in self.built_in:
            return self.built_in[name]
        return self._usable()[name]

    def __iter__(self) -> Iterator[str]:
        yield from self.built_in
        yield from self._usable()

    def __len__(self) -> int:
        return len(self.built_in) + len(self._usable())

    def _usable(self) -> dict[str, T]:
        return {plugin.name: plugin.component for plugin in self.plugins() if not plugin.problem}

    def _load(self) -> Iterator[Plugin]:
        taken: dict[str, str] = dict.fromkeys(self.built_in, "the platform")
        for plugin, point in _entry_points(self.kind):
            loaded = self._load_one(plugin, point, taken=taken)
            if not loaded.problem:
                taken[loaded.name] = loaded.package
            yield loaded

    def _load_one(self, plugin: Plugin, point: EntryPoint, *, taken: Mapping[str, str]) -> Plugin:
        problem = _name_problem(plugin, taken)
        if problem:
            return replace(plugin, problem=problem)
        # SystemExit: a module that ends its process when imported would end this one.
        try:
            problem = _version_problem(point, is_required=self.declares_api)
            component = None if problem else point.load()
        except (Exception, SystemExit) as error:
            return replace(plugin, problem=f"cannot be imported: {_reason(error)}")
        if problem:
            return replace(plugin, problem=problem)
        try:
            return replace(plugin, component=self.adopt(replace(plugin, component=component)))
        except (Exception, SystemExit) as error:
            return replace(plugin, problem=f"is not usable as one of the {self.kind}: {_reason(error)}")


def _entry_points(kind: str) -> list[tuple[Plugin, EntryPoint]]:
    """The entry points of other packages, sorted so that the same plugin wins in every process."""
    offered = []
    for point in entry_points(group=f"obelus.{kind}"):
        package, version = (point.dist.name, point.dist.version) if point.dist else ("", "")
        if point.module.partition(".")[0] not in OWN_PACKAGES:
            offered.append((Plugin(kind, point.name, package, version, point.value), point))
    return sorted(offered, key=lambda entry: (entry[0].package, entry[0].name))


def _name_problem(plugin: Plugin, taken: Mapping[str, str]) -> str:
    if not NAME.fullmatch(plugin.name):
        return "its name has to begin with a small letter, then a-z, 0-9, - and _, at most 40 characters"
    if plugin.name in taken:
        return f"its name is taken by {taken[plugin.name]}"
    return ""


def _version_problem(point: EntryPoint, *, is_required: bool) -> str:
    """Why the package's declared version of the interface does not fit; imports only its ``__init__``."""
    package = point.module.partition(".")[0]
    declared = getattr(import_module(package), DECLARATION, None if is_required else API_VERSION)
    if declared is None:
        return f"{package}/__init__.py does not declare {DECLARATION} = {API_VERSION}"
    if declared != API_VERSION:
        return f"is written for version {declared!r} of the plugin interface; this is version {API_VERSION}"
    return ""


def package_folder(target: str) -> Path:
    """Return the folder of the top-level package of an entry point, without importing it."""
    package = re.split(r"[.:]", target)[0]
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"{package} is not a package in a folder")
    return Path(next(iter(spec.submodule_search_locations)))


def task_folders() -> list[Path]:
    """Return the folders of packages that offer tasks, for the settings: templates and scripts lie there."""
    folders: list[Path] = []
    for plugin, _ in _entry_points("tasks"):
        try:
            folders.append(package_folder(plugin.target))
        except (ImportError, ValueError):  # a broken package: the list of plugins names it
            continue
    return list(dict.fromkeys(folders))


def plugin_rows(registries: Collection[Registry[Any]]) -> list[dict[str, str]]:
    """Return all plugins as rows of a table: kind, name, package, version, target, problem."""
    names = ("kind", "name", "package", "version", "target", "problem")
    found = [plugin for registry in registries for plugin in registry.plugins()]
    return [{name: getattr(plugin, name) for name in names} for plugin in found]
