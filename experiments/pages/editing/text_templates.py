"""Templates of consent, instructions and debrief, which fill fields of the settings form.

A template is a file of ``experiments/text_templates/<language>/``: a title, the tasks that it fits where not
all do, and a text for each field. Parts in square brackets are for the researcher to fill in.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.http import QueryDict

from experiments.materials.markdown import placeholders
from experiments.pages.editing.conflicts import canonical
from experiments.studies.languages import NAMES, interface_language

FOLDER = Path(__file__).resolve().parents[2] / "text_templates"
FILL, REPLACE = "fill", "replace"  # names of the buttons; the value is the field's name
FIELDS = ("consent", "instructions", "debrief")  # with a menu; other texts come with one of these
MENU = "template-"  # prefix of the menus' names
_SECTION = re.compile(r"^--- (\w+)$", re.MULTILINE)


@dataclass(frozen=True)
class TextTemplate:
    """A template with its texts by field, in the order of its file."""

    key: str
    language: str
    title: str
    tasks: tuple[str, ...]
    texts: Mapping[str, str]

    def texts_for(self, field: str) -> dict[str, str]:
        """Return the text of a field, and those that follow it in the file."""
        names = list(self.texts)
        return {name: self.texts[name] for name in names[names.index(field) :]}


@dataclass(frozen=True)
class Menu:
    """The templates of one field by language, and the one to preselect."""

    field: str
    groups: list[tuple[str, list[TextTemplate]]]
    selected: str

    @property
    def name(self) -> str:
        """Name of the menu in the form."""
        return MENU + self.field


@dataclass(frozen=True)
class Filling:
    """Texts that a template writes into the form, or would replace."""

    field: str
    template: TextTemplate
    texts: dict[str, str]
    is_asking: bool  # nothing is written: fields have texts of their own

    @property
    def n_placeholders(self) -> int:
        """Number of different parts to fill in, over all texts."""
        return len(placeholders("\n".join(self.texts.values())))


@cache
def text_templates() -> tuple[TextTemplate, ...]:
    """Return every template, by language and name."""
    paths = sorted(FOLDER.glob("*/*.md"), key=lambda path: (path.parent.name, path.stem))
    return tuple(_read(path) for path in paths)


def _read(path: Path) -> TextTemplate:
    head, *sections = _SECTION.split(path.read_text(encoding="utf-8"))
    facts = dict(line.split(": ", 1) for line in head.strip().splitlines())
    return TextTemplate(
        key=f"{path.parent.name}/{path.stem}",
        language=path.parent.name,
        title=facts["title"],
        tasks=tuple(facts.get("tasks", "").split()),
        texts={name: text.strip() for name, text in zip(sections[::2], sections[1::2], strict=True)},
    )


def _fitting(task: str) -> list[TextTemplate]:
    return [template for template in text_templates() if not template.tasks or task in template.tasks]


def menus(task: str, language: str, data: Mapping[str, str]) -> dict[str, Menu]:
    """Return the menu of each field that has templates for a task; the study's language comes first."""
    fitting = _fitting(task)
    order = dict.fromkeys([interface_language(language), "en", *(template.language for template in fitting)])
    return {
        field: Menu(field, _groups(fitting, field, order), data.get(MENU + field, "")) for field in FIELDS
    }


def _groups(
    templates: Iterable[TextTemplate], field: str, languages: Iterable[str]
) -> list[tuple[str, list[TextTemplate]]]:
    rows = [template for template in templates if field in template.texts]
    rows.sort(
        key=lambda row: next(iter(row.texts)) != field
    )  # those of other fields that have a text for it last
    groups = [(NAMES[tag][1], [row for row in rows if row.language == tag]) for tag in languages]
    return [group for group in groups if group[1]]


def read_filling(data: QueryDict, *, task: str) -> Filling | None:
    """Return what the pressed button fills in; None where it names no template of the task."""
    field = data.get(REPLACE) or data.get(FILL, "")
    template = next((row for row in _fitting(task) if row.key == data.get(MENU + field)), None)
    if template is None or field not in FIELDS or field not in template.texts:
        return None
    texts = template.texts_for(field)
    written = [
        name for name, text in texts.items() if canonical(data.get(name, "")) not in {"", canonical(text)}
    ]
    return Filling(field, template, texts, is_asking=bool(written) and REPLACE not in data)
