"""Two editors of one form: what each changed since the page was opened, and the page that shows both texts.

A settings form carries a version: a digest of every field's value when the page was rendered. A save is
refused with status 409 while it would overwrite a field that another editor changed in the meantime,
whatever wrote the change (a page, the API, the administration).
"""

import difflib
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.forms import BaseForm, BoundField
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from experiments.models import AuditEntry, Experiment

VERSION = "version"  # name of the hidden field
TAKE = "take-"  # prefix of the fields that resolve a conflict
REFUSED_EDIT = "edit not saved"
LONGEST_BY_WORDS = 20_000  # characters of two texts that are compared word by word
LONGEST_TEXT = 200_000  # characters of one refused value that the history keeps


@dataclass(frozen=True)
class Conflict:
    """One field that both editors changed, with both values as text."""

    name: str
    label: str
    mine: str
    theirs: str
    base: str | None = None  # the value from which both started, where the history has it
    author: str = ""
    at: Any = None

    @property
    def mine_marked(self) -> SafeString:
        """This editor's text with its changes marked."""
        return marked_changes(self.theirs if self.base is None else self.base, self.mine)

    @property
    def theirs_marked(self) -> SafeString:
        """The stored text with its changes marked."""
        return marked_changes(self.mine if self.base is None else self.base, self.theirs)


@dataclass(frozen=True)
class Edits:
    """The result of comparing a submitted form with the stored values."""

    data: QueryDict
    conflicts: list[Conflict] = field(default_factory=list)
    only_mine: list[str] = field(default_factory=list)
    only_theirs: list[str] = field(default_factory=list)

    @property
    def is_stale(self) -> bool:
        """Whether saving the form as sent would overwrite another editor's change."""
        return bool(self.conflicts or self.only_theirs)


def form_version(*forms: BaseForm, **values: Any) -> str:
    """Return the version of unbound forms: a digest of each field, as JSON; ``values`` are further ones."""
    texts = {bound.html_name: canonical(bound.value()) for bound in _fields(forms)}
    texts |= {name: canonical(value) for name, value in values.items()}
    return json.dumps({name: _digest(text) for name, text in texts.items()}, separators=(",", ":"))


def canonical(value: Any) -> str:
    """Return a value as the text that a browser sends back for it unchanged.

    >>> canonical("a\\r\\nb "), canonical(None), canonical(False), canonical(["x", 2]), canonical(0.5)
    ('a\\nb', '', '', 'x\\n2', '0.5')
    """
    if value is None or value is False:
        return ""
    if isinstance(value, list | tuple):
        return "\n".join(canonical(entry) for entry in value)
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    return str(value).replace("\r\n", "\n").replace("\r", "\n").strip()


def compare(data: QueryDict, *, current: Sequence[BaseForm], submitted: Sequence[BaseForm]) -> Edits:
    """Compare a submitted page with the stored values; both sequences hold the same forms, in order.

    The returned data hold the other editor's value of each field that only the other editor changed.
    """
    opened = version_in(data)
    merged = data.copy()
    edits = Edits(merged)
    if opened is None:
        return edits
    for stored, sent in zip(_fields(current), _fields(submitted), strict=True):
        name = stored.html_name
        stored_value, submitted_value = canonical(stored.value()), canonical(sent.value())
        base = opened.get(name)
        if base is None:  # a field that the page did not have, as after a change of the task
            put_value(merged, stored, stored.value())
            continue
        if _digest(submitted_value) == base and _digest(stored_value) == base:
            continue
        if _digest(stored_value) == base:
            edits.only_mine.append(str(stored.label))
        elif submitted_value == stored_value:
            continue  # the same form sent twice, or both editors made the same change
        elif _digest(submitted_value) == base:
            put_value(merged, stored, stored.value())
            edits.only_theirs.append(str(stored.label))
        else:
            edits.conflicts.append(
                Conflict(
                    name,
                    str(stored.label),
                    display_text(sent, submitted_value),
                    display_text(stored, stored_value),
                )
            )
    return edits


def version_in(data: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the digests of a submitted page; None for a form without, such as one sent by a script."""
    try:
        version = json.loads(str(data.get(VERSION, "")))
    except ValueError:
        return None
    return version if isinstance(version, dict) else None


def is_outdated(data: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether a value that is no field of a form differs from the one when the page was opened."""
    opened = version_in(data)
    return opened is not None and name in opened and opened[name] != _digest(canonical(value))


def with_choices(data: QueryDict, current: Iterable[BaseForm]) -> QueryDict:
    """Return the data with the stored value of each field for which the editor chose it.

    A choice counts only while the stored value is the one that the editor saw.
    """
    opened = version_in(data) or {}
    chosen = data.copy()
    for stored in _fields(current):
        name = stored.html_name
        wants_theirs = data.get(f"{TAKE}{name}") == "theirs"
        if wants_theirs and opened.get(name) == _digest(canonical(stored.value())):
            put_value(chosen, stored, stored.value())
    return chosen


def put_value(data: QueryDict, bound: BoundField, value: Any) -> None:
    """Write a field's value into form data as a browser would send it."""
    name = bound.html_name
    if value is None or value is False:
        data.pop(name, None)
    elif isinstance(value, list | tuple):
        MultiValueDict.setlist(data, name, [str(entry) for entry in value])
    else:
        data[name] = "on" if value is True else str(value)


def display_text(bound: BoundField, text: str) -> str:
    """Return a value as the reader knows it: the label of a choice, yes or no for a checkbox."""
    if bound.widget_type == "checkbox":
        return "yes" if text else "no"
    choices = getattr(bound.field, "choices", None)
    if choices is None:
        return text
    labels = {str(value): str(label) for value, label in choices}
    return ", ".join(labels.get(entry, entry) for entry in text.split("\n"))


def attribute_conflicts(
    conflicts: Iterable[Conflict], study: Experiment, data: Mapping[str, Any]
) -> list[Conflict]:
    """Return conflicts with author and time of the stored text, and the common base, from the history."""
    entries = list(
        study.audit.filter(details__has_key="changes").select_related("user").order_by("-at", "-pk")[:200]
    )
    return [_attribute_conflict(conflict, entries, version_in(data) or {}) for conflict in conflicts]


def _attribute_conflict(conflict: Conflict, entries: list[AuditEntry], opened: Mapping[str, str]) -> Conflict:
    name = _recorded_name(conflict)
    changes = [
        (entry, entry.details["changes"][name])
        for entry in entries
        if name in entry.details["changes"] and entry.action != REFUSED_EDIT
    ]
    if not changes:
        return conflict
    # Only of texts: the form shows a list as lines, the history keeps its rows.
    bases = [canonical(change["old"]) for _, change in changes if isinstance(change["old"], str)]
    base = next((text for text in bases if _digest(text) == opened.get(conflict.name)), None)
    newest = changes[0][0]
    return Conflict(
        conflict.name,
        conflict.label,
        conflict.mine,
        conflict.theirs,
        base=base,
        author=newest.user.get_username() if newest.user else "",
        at=newest.at,
    )


def keep_refused(study: Experiment, user: User | AnonymousUser, conflicts: Sequence[Conflict]) -> None:
    """Keep the texts that were not saved in the history, once, so that a closed tab loses nothing."""
    changes = {
        _recorded_name(conflict): {"old": conflict.theirs, "new": conflict.mine[:LONGEST_TEXT]}
        for conflict in conflicts
    }
    last = study.audit.filter(action=REFUSED_EDIT).first()
    if changes and (last is None or last.details.get("changes") != changes):
        AuditEntry.objects.create(
            experiment=study,
            user=user if isinstance(user, User) else None,
            action=REFUSED_EDIT,
            details={"fields": ", ".join(sorted(changes)), "changes": changes},
        )


def _recorded_name(conflict: Conflict) -> str:
    """The name under which the history has the values of a field."""
    is_own_text = conflict.name.startswith("text-")
    return f"text “{conflict.label}”" if is_own_text else conflict.name.replace("task-", "task ")


def marked_changes(before: str, after: str) -> SafeString:
    """Mark what a text adds and leaves out against another, word by word.

    >>> marked_changes("five years", "ten years")
    '<del>five </del><ins>ten </ins>years'
    """
    # The comparison takes time that grows with the product of both lengths: long texts go line by line.
    unit = r"\S+\s*|\s+" if len(before) + len(after) < LONGEST_BY_WORDS else r".*\n|.+"
    old, new = (re.findall(unit, text) for text in (before, after))
    pieces: list[tuple[str, str]] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for step, low, high, new_low, new_high in matcher.get_opcodes():
        if step == "equal":
            pieces.append(("", "".join(new[new_low:new_high])))
        else:
            pieces += [("del", "".join(old[low:high])), ("ins", "".join(new[new_low:new_high]))]
    return format_html_join("", "{}", ((_wrap_tag(tag, text),) for tag, text in pieces if text))


def _wrap_tag(tag: str, text: str) -> SafeString | str:
    # The tag is one of the two written above, never data.
    return format_html(f"<{tag}>{{}}</{tag}>", text) if tag else text  # nosemgrep: safe-html


def _fields(forms: Iterable[BaseForm]) -> list[BoundField]:
    return [form[name] for form in forms for name in form.fields]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
