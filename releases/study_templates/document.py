"""The file of a study template: safe parsing with line numbers, and writing.

Only JSON's types are read: no tags of other types, no anchors and aliases (they multiply small files), a
limited depth and size. Words such as ``yes`` and dates are text, as in YAML 1.2.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from analysis.errors import BadInput

SUFFIX = ".obelus.yaml"
FORMAT, VERSION = "obelus_template", 1
MAX_BYTES = 1_000_000  # also sent back by the preview's form, below Django's limit of 2.5 MB for fields
MAX_DEPTH = 12
MAX_NODES = 200_000
SECTIONS = ("study", "design", "materials", "fillers", "exclusion_plan")
KINDS = ("str", "int", "float", "bool", "null", "map", "seq", "timestamp", "value", "merge")
TAGS = {f"tag:yaml.org,2002:{kind}" for kind in KINDS}
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml, where the package was built with it
Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class TemplateDocument:
    """A parsed file: its sections, and the line of every value."""

    file: str
    sections: Mapping[str, dict[str, Any]]
    lines: Mapping[Path, int] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    def section(self, name: str) -> dict[str, Any]:
        """Return a section, empty where the file has none."""
        return self.sections.get(name, {})

    def error(self, message: str, *path: str | int, remedy: str = "") -> BadInput:
        """Return an error that names the file and the line of the value, or of what is around it."""
        place = path
        while place and place not in self.lines:
            place = place[:-1]
        return BadInput(
            message,
            file=self.file,
            row=self.lines.get(place),
            column=".".join(str(part + 1 if isinstance(part, int) else part) for part in path),
            remedy=remedy,
        )


def parse_document(content: bytes | str, *, file: str) -> TemplateDocument:
    """Parse the file of a template; raises ``BadInput`` with file, line and remedy."""
    text = _decode_file(content, file)
    try:
        _check_events(text, file)
        node = yaml.compose(text, Loader=Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "characters that YAML does not allow"
        raise BadInput(
            f"is no YAML: {problem}.",
            file=file,
            row=mark.line + 1 if mark else None,
            remedy="Correct the line, or export the template again.",
        ) from error
    lines: dict[Path, int] = {}
    values = _value(node, (), lines, file) if node is not None else None
    if not isinstance(values, dict) or FORMAT not in values:
        raise BadInput(
            "is no study template.", file=file, remedy=f"The file has to begin with “{FORMAT}: {VERSION}”."
        )
    if values[FORMAT] != VERSION:
        raise BadInput(
            f"has the format {values[FORMAT]!r}; this version reads {VERSION}.",
            file=file,
            row=lines[(FORMAT,)],
            remedy="Update Obelus, or export the template again.",
        )
    document = TemplateDocument(
        file,
        {name: values[name] for name in SECTIONS if values.get(name) is not None},
        lines,
        tuple(sorted(values.keys() - {FORMAT, *SECTIONS})),
    )
    for name, section in document.sections.items():
        if not isinstance(section, dict):
            raise document.error("is no mapping.", name, remedy="Write “name: value” lines below it.")
    if "study" not in document.sections:
        raise BadInput("has no section “study”.", file=file, remedy="Export the template again.")
    return document


def write_document(sections: Mapping[str, Any]) -> str:
    """Return the file of a template; the same sections give the same text."""
    text: str = yaml.dump(
        {FORMAT: VERSION, **sections},
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        width=100,
    )
    return text


class _Dumper(Dumper):  # type: ignore[misc]  # chosen at run time
    """Long texts as blocks of lines, and no anchors for lists that occur twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: Any, value: str) -> Any:
    text = str(value)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_multi_representer(str, _represent_text)  # also of Django's choices, which are texts
_Dumper.add_representer(str, _represent_text)


def _decode_file(content: bytes | str, file: str) -> str:
    size = len(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
    if size > MAX_BYTES:
        raise BadInput(
            f"has {size / 1e6:.1f} MB; at most {MAX_BYTES / 1e6:.0f} MB are possible.",
            file=file,
            remedy="Export it without materials, and upload these by themselves.",
        )
    try:
        return content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1 if isinstance(content, bytes) else None
        raise BadInput("is not UTF-8.", file=file, row=row, remedy="Save it as UTF-8.") from error


def _check_events(text: str, file: str) -> None:
    """Refuse what must not be composed: deep nesting exhausts the stack, aliases multiply the file."""
    depth = n_nodes = n_documents = 0
    for event in yaml.parse(text, Loader=Loader):
        row = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise BadInput("anchors and aliases are not read.", file=file, row=row, remedy="Write it out.")
        n_documents += isinstance(event, yaml.DocumentStartEvent)
        n_nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or n_nodes > MAX_NODES or n_documents > 1:
            raise BadInput(
                "is nested too deeply, too long, or several documents.",
                file=file,
                row=row,
                remedy="Export the template again.",
            )


def _value(node: Any, path: Path, lines: dict[Path, int], file: str) -> Any:
    """Return the value of a node and note its line; recursion is at most ``MAX_DEPTH`` deep."""
    row = node.start_mark.line + 1
    lines.setdefault(path, row)
    if node.tag not in TAGS:
        raise BadInput(f"the type {node.tag!r} is not read.", file=file, row=row, remedy="Remove the tag.")
    if isinstance(node, yaml.SequenceNode):
        return [_value(child, (*path, n), lines, file) for n, child in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        values: dict[str, Any] = {}
        for key, child in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise BadInput("a list or mapping is no name.", file=file, row=line, remedy="Remove it.")
            name = str(key.value)
            if name in values:
                raise BadInput(f"{name!r} is there twice.", file=file, row=line, remedy="Remove it.")
            lines[(*path, name)] = line
            values[name] = _value(child, (*path, name), lines, file)
        return values
    return _scalar(str(node.value), node.tag.rpartition(":")[2])


def _scalar(text: str, kind: str) -> Any:
    if kind == "null":
        return None
    if kind == "bool" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind == "int" and re.fullmatch(r"[-+]?(0|[1-9][0-9]{0,17})", text):
        return int(text)
    # At least one digit: with the tag !!float, an empty text and "." have this kind, too.
    if kind == "float" and re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]{1,3})?", text, re.I):
        return float(text)
    return text
