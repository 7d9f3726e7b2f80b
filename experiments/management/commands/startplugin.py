"""``manage.py startplugin``: an installable package with a tested component of each chosen kind."""

import keyword
import re
import shutil
import tempfile
from argparse import ArgumentParser
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from analysis.errors import BadInput, UnknownName
from analysis.plugins.registry import Registry
from config.commands import ContractCommand

#: Its files are the template: what is written differs in names and in the kinds that are left out.
EXAMPLE = Path(settings.BASE_DIR) / "docs" / "examples" / "obelus-example"
KINDS = ("task", "recruiter", "statistic", "figure", "reader", "scorer")
FILES_OF_KIND = {"example.html": "task", "pool.py": "recruiter"}  # beside KIND.py and test_KIND.py
TEXT_FILES = {".py", ".toml", ".md", ".html"}
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST_NAME = 40


class Command(ContractCommand):
    """Write a package that adds components to the platform."""

    help = "Write an installable package with one tested component of each chosen kind."
    example = "manage.py startplugin obelus-thumb --kind task --kind statistic --to plugins"
    requires_migrations_checks = False

    def add_options(self, parser: ArgumentParser) -> None:
        """The name, the kinds and the folder."""
        parser.add_argument("name", metavar="NAME", help="of the package, such as obelus-thumb")
        parser.add_argument(
            "--kind", action="append", choices=KINDS, help="may be repeated; all kinds without it"
        )
        parser.add_argument(
            "--to", type=Path, default=Path(), metavar="FOLDER", help="in which its folder is made (here)"
        )

    def run(self, **options: Any) -> None:
        """Write the package and say what to do next."""
        kinds = [kind for kind in KINDS if kind in (options["kind"] or KINDS)]
        name: str = options["name"]
        check_name(name, kinds)
        folder = write_package(name, kinds, to=options["to"])
        files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        if options["json"]:
            self.print_json({"name": name, "folder": str(folder), "kinds": kinds, "files": files})
            return
        for file in files:
            self.stdout.write(f"{folder}/{file}")
        self.stdout.write(f"Install it with: pip install --no-deps -e {folder}")


def component_name(name: str) -> str:
    """The name of the components of a package, without the prefix obelus-."""
    return name.removeprefix("obelus-").replace("-", "_")


def check_name(name: str, kinds: Collection[str]) -> None:
    """Refuse names that no package can have, and those that are taken."""
    remedy = "Write small letters, digits and single hyphens, such as obelus-thumb."
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise BadInput(f"{name!r} cannot be the name of a package.", column="NAME", remedy=remedy)
    component, package = component_name(name), name.replace("-", "_")
    if not component[0].isalpha() or keyword.iskeyword(component) or keyword.iskeyword(package):
        raise BadInput(f"{name!r} cannot be the name of a Python module.", column="NAME", remedy=remedy)
    if find_spec(package) is not None:
        raise BadInput(
            f"there is a Python module {package} already.", column="NAME", remedy="Choose another name."
        )
    for path in settings.PLUGIN_REGISTRIES:
        registry: Registry[Any] = import_string(path)
        if component in registry.built_in and registry.kind.rstrip("s") in {
            kind.rstrip("s") for kind in kinds
        }:
            raise BadInput(
                f"{component} is one of the built-in {registry.kind}.",
                column="NAME",
                remedy="Choose another name: no plugin replaces a built-in component.",
            )


def write_package(name: str, kinds: Collection[str], *, to: Path) -> Path:
    """Write the package into a new folder, all or nothing; an existing one is refused."""
    if unknown := sorted(set(kinds) - set(KINDS)):
        raise UnknownName("kind of plugin", unknown[0], KINDS)
    folder = to / name
    if folder.exists():
        raise BadInput(
            f"{folder} exists: nothing was written.", remedy="Choose another name or folder (--to)."
        )
    if not to.is_dir():
        raise BadInput(f"there is no folder {to}.", column="--to", remedy="Make it first.")
    written = Path(tempfile.mkdtemp(dir=to, prefix=".startplugin-"))
    try:
        for path, text in package_files(name, kinds):
            target = written / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        written.chmod(0o755)  # temporary folders are their owner's only
        written.rename(folder)  # fails if the folder was created meanwhile
    except OSError as error:
        shutil.rmtree(written, ignore_errors=True)
        raise BadInput(
            f"{folder} cannot be written: {error.strerror}.", remedy="Nothing is left of it."
        ) from error
    return folder


def package_files(name: str, kinds: Collection[str]) -> Iterator[tuple[str, str]]:
    """Path and text of each file of the package."""
    for path in sorted(EXAMPLE.rglob("*")):
        relative = path.relative_to(EXAMPLE)
        if path.suffix not in TEXT_FILES or set(relative.parts) & {"build", "__pycache__"}:
            continue
        kind = FILES_OF_KIND.get(path.name) or path.stem.removeprefix("test_")
        if kind in KINDS and kind not in kinds:
            continue
        text = path.read_text(encoding="utf-8")
        if path.name == "pyproject.toml":
            text = _without_sections(text, r"(?m)^(?=\[)", _build_tables(set(KINDS) - set(kinds)))
        if path.name == "README.md":
            text = _without_sections(
                text, r"(?m)^(?=## )", [f"## {kind.capitalize()}\n" for kind in set(KINDS) - set(kinds)]
            )
        yield _rename_package(relative.as_posix(), name), _rename_package(text, name)


def _build_tables(kinds: Collection[str]) -> list[str]:
    tables = [f'[project.entry-points."obelus.{kind}s"]' for kind in kinds]
    return [*tables, "[tool.setuptools.package-data]"] if "task" in kinds else tables


def _without_sections(text: str, boundary: str, headings: Collection[str]) -> str:
    """The text without the sections that begin with one of the headings."""
    sections = re.split(boundary, text)
    kept = [part for part in sections if not part.startswith(tuple(headings))] if headings else sections
    return "".join(kept).rstrip("\n") + "\n"


def _rename_package(text: str, name: str) -> str:
    """The text with the names of another package."""
    component = component_name(name)
    words = component.replace("_", " ")
    for pattern, replacement in (
        ("obelus-example", name),
        ("obelus_example", name.replace("-", "_")),
        (r"Example(?=[A-Z])", "".join(word.capitalize() for word in words.split())),
        (r"\bExample\b", words.capitalize()),
        (r"\bexample\b", component),
    ):
        text = re.sub(pattern, replacement, text)
    return text
