"""The built-in templates, with materials of our own."""

from functools import cache
from pathlib import Path

from analysis.errors import UnknownName
from releases.study_templates.document import SUFFIX, parse_document

FOLDER = Path(__file__).parent / "built_in"


def built_in_names() -> list[str]:
    """Return the names of the built-in templates."""
    return sorted(path.name.removesuffix(SUFFIX) for path in FOLDER.glob(f"*{SUFFIX}"))


def built_in_file(name: str) -> bytes:
    """Return the file of a built-in template."""
    if name not in built_in_names():
        raise UnknownName("template", name, built_in_names())
    return (FOLDER / f"{name}{SUFFIX}").read_bytes()


@cache
def built_in_templates() -> tuple[dict[str, str], ...]:
    """Return name, title, task and description of every built-in template."""
    studies = {
        name: parse_document(built_in_file(name), file=name).section("study") for name in built_in_names()
    }
    return tuple(
        {"name": name, **{key: str(study[key]).strip() for key in ("title", "task", "description")}}
        for name, study in studies.items()
    )
