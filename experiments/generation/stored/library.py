"""Find the paradigms that a user may draw from, check their texts, and save versions of own ones."""

import hashlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Max

from analysis.errors import BadInput, UnknownName
from analysis.text import plural
from experiments.accounts.history import deleted_values, record
from experiments.generation.lexicon import Lexicon, read_lexicon
from experiments.generation.paradigms import (
    LintReport,
    Paradigm,
    find_paradigm,
    lint,
    parse_paradigm,
    read_source,
    shipped_paradigms,
)
from experiments.generation.paradigms.language import languages, parse_toml
from experiments.generation.stored.word_lists import lexicon_for
from experiments.models import Experiment, Lab, OwnParadigm, PairSet, ParadigmVersion, WordList
from experiments.models.generation import Shared
from experiments.teams.roles import may_edit

FIGURES = Path(__file__).parents[1] / "paradigms" / "figures.json"
MAX_CHARACTERS = 100_000  # of a text
MAX_OWN = 500  # paradigms of one user
MAX_VERSIONS = 500
CHECKED_PAIRS, SAVED_PAIRS = 200, 1000  # drawn while writing, and on saving
CHECK_SECONDS = 10.0
#: What may be shared, as the history of accounts names it.
SHARED: dict[type[Shared], str] = {OwnParadigm: "own paradigm", PairSet: "pairs", WordList: "own words"}
MAX_SEED = 2**31 - 1
UID = re.compile(r"[A-Za-z]\w{0,79}", re.ASCII)
UID_LINE = re.compile(r"^uid\s*=\s*\"[^\"\n]*\"", re.MULTILINE)
OWN = "own"


@dataclass(frozen=True)
class BuiltIn:
    """A paradigm of the platform with the figures of 1,000 of its pairs, where they are up to date."""

    paradigm: Paradigm
    figures: dict[str, Any]

    @property
    def address(self) -> str:
        """Its key in a selection."""
        return f"{self.paradigm.language.tag}:{self.paradigm.uid}"

    @property
    def possible(self) -> int:
        """Number of possible pairs, to two digits, because it is an estimate."""
        return int(float(f"{self.figures['capacity']:.1e}"))

    @property
    def source(self) -> str:
        """Origin of the paradigm."""
        if self.paradigm.source:
            return self.paradigm.source
        model = {"en": "BLiMP", "zh": "CLiMP"}.get(self.paradigm.language.tag, "")
        if not self.paradigm.counterpart or not model:
            return "the platform"
        return f"templates of the platform, after {model}'s {self.paradigm.counterpart}"


@lru_cache(maxsize=8)
def built_in(language: str) -> tuple[BuiltIn, ...]:
    """Return the paradigms of the platform in a language, by phenomenon and name."""
    stored = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.is_file() else {}
    rows = []
    for uid in shipped_paradigms(language):
        paradigm = find_paradigm(uid, language=language)
        figures = stored.get(f"{language}:{uid}", {})
        is_current = figures.get("sha256") == paradigm.sha256
        rows.append(BuiltIn(paradigm, figures if is_current else {}))
    return tuple(sorted(rows, key=lambda row: (row.paradigm.phenomenon, row.paradigm.uid)))


def languages_with_paradigms() -> list[str]:
    """Return the languages that have paradigms of the platform."""
    return [language for language in languages() if shipped_paradigms(language)]


def built_in_paradigm(language: str, uid: str) -> BuiltIn | None:
    """Return one paradigm of the platform; None where there is none of that name."""
    if language not in languages():
        return None
    return next((row for row in built_in(language) if row.paradigm.uid == uid), None)


# ------------------------------------------------------------------ check and save


def text_document(text: str) -> tuple[str, str, dict[str, Any]]:
    """Return name, language and content of a text that is at least TOML with a name."""
    if len(text) > MAX_CHARACTERS:
        raise BadInput(f"the text has {len(text):,} characters.", remedy=f"At most {MAX_CHARACTERS:,}.")
    document, _ = parse_toml(text.encode("utf-8", "replace"), file="this text")
    uid, language = document.get("uid"), document.get("language", "en")
    if not isinstance(uid, str) or not UID.fullmatch(uid):
        raise BadInput(
            "the paradigm has no name.",
            remedy='Write uid = "my_paradigm": up to 80 letters, digits and underscores, a letter first.',
        )
    if not isinstance(language, str) or language not in languages():
        raise UnknownName("language", str(language), languages())
    return uid, language, document


def read_language(text: str) -> str:
    """Return the language of a text; English where it cannot be read, which the linter then says."""
    try:
        return text_document(text)[1]
    except BadInput:
        return "en"


def check(text: str, *, lexicon: Lexicon | None = None, n: int | None = None, seed: int = 0) -> LintReport:
    """Check a text as the linter checks a file of its name; what is wrong is in the report."""
    if len(text) > MAX_CHARACTERS:
        raise BadInput(f"the text has {len(text):,} characters.", remedy=f"At most {MAX_CHARACTERS:,}.")
    content = text.encode("utf-8", "replace")
    match = re.search(r"^uid\s*=\s*\"(\w{1,80})\"", text, re.MULTILINE | re.ASCII)
    file = f"{match[1] if match else 'paradigm'}.toml"
    return lint(
        file, content=content, lexicon=lexicon, n=n or CHECKED_PAIRS, seed=seed, seconds=CHECK_SECONDS
    )


def copy_text(text: str, taken: set[str]) -> str:
    """Return a text under a name that is not taken, as a beginning of an own paradigm."""
    uid, _, _ = text_document(text)
    base = f"{uid[:70]}_own"
    names = (base if number == 1 else f"{base}_{number}" for number in range(1, len(taken) + 3))
    new = next(name for name in names if name not in taken)
    return UID_LINE.sub(f'uid = "{new}"', text, count=1)


def own_names(user: User) -> set[str]:
    """Return the names of the user's own paradigms."""
    return set(OwnParadigm.objects.filter(owner=user).values_list("uid", flat=True))


def save_paradigm(
    user: User, text: str, *, paradigm: OwnParadigm | None = None, based_on: int | None = None
) -> ParadigmVersion:
    """Save a text as a new paradigm of the user, or as the next version of one that the user may edit.

    A text with errors of the linter is saved, too; it cannot be drawn from. The same text as that of the
    newest version makes no further one.
    """
    text = text.replace("\r\n", "\n")
    uid, language, document = text_document(text)
    if uid in shipped_paradigms(language):
        raise BadInput(f"the platform has a paradigm named {uid}.", remedy="Choose another uid.")
    # Before the transaction, because it takes a second.
    report = check(text, lexicon=lexicon_for(paradigm or user, language), n=SAVED_PAIRS)
    n_errors = sum(finding.level == "error" for finding in report.findings)
    with transaction.atomic():
        row = paradigm or _new_paradigm(user, uid, language)
        return _store_version(row, user, text, document, n_errors=n_errors, based_on=based_on)


def _store_version(
    paradigm: OwnParadigm,
    user: User,
    text: str,
    document: dict[str, Any],
    *,
    n_errors: int,
    based_on: int | None,
) -> ParadigmVersion:
    """Store the next version; the texts of document are checked."""
    uid, language = document["uid"], document.get("language", "en")
    # Race: two editors save at once; the second finds the version of the first.
    locked = OwnParadigm.objects.select_for_update(of=("self",)).get(pk=paradigm.pk)
    if not OwnParadigm.objects.editable_by(user).filter(pk=locked.pk).exists():
        raise PermissionDenied("Viewers do not change a paradigm.")
    newest = locked.versions.aggregate(last=Max("number"))["last"] or 0
    if based_on is not None and newest != based_on:
        last = locked.newest
        raise BadInput(
            f"version {newest} was saved meanwhile by {last.saved_by or 'somebody'}.",
            remedy="Compare it with yours, then save again.",
        )
    digest = hashlib.sha256(text.encode()).hexdigest()
    if newest and locked.newest.sha256 == digest:
        return locked.newest
    if newest >= MAX_VERSIONS:
        raise BadInput(f"the paradigm has {newest} versions.", remedy="Go on with a copy of it.")
    if uid != locked.uid and _has_name(locked.owner, uid):
        raise BadInput(f"another paradigm is named {uid}.", remedy="Choose another uid.")
    locked.uid, locked.language = uid, language
    locked.phenomenon = str(document.get("phenomenon", ""))[:80]
    locked.save(update_fields=["uid", "language", "phenomenon"])
    return ParadigmVersion.objects.create(
        paradigm=locked,
        number=newest + 1,
        text=text,
        sha256=digest,
        n_errors=n_errors,
        saved_by=user,
    )


def _new_paradigm(user: User, uid: str, language: str) -> OwnParadigm:
    if _has_name(user, uid):
        raise BadInput(f"you have a paradigm named {uid}.", remedy="Choose another uid, or edit that one.")
    if OwnParadigm.objects.filter(owner=user).count() >= MAX_OWN:
        raise BadInput(f"you have {MAX_OWN} paradigms.", remedy="Delete some.")
    return OwnParadigm.objects.create(owner=user, uid=uid, language=language)


def _has_name(owner: User | None, uid: str) -> bool:
    return OwnParadigm.objects.filter(owner=owner, uid=uid).exists()


@transaction.atomic
def delete_paradigm(paradigm: OwnParadigm, user: User) -> None:
    """Delete an own paradigm with its versions; sets that were drawn from it stay."""
    if not (user.is_staff or paradigm.owner_id == user.pk):
        raise PermissionDenied("Only its owner deletes a paradigm.")
    with transaction.atomic():
        record(
            paradigm.owner or user,
            "own paradigm deleted",
            **deleted_values(paradigm.uid, plural(paradigm.versions.count(), "version")),
        )
        paradigm.delete()


# ------------------------------------------------------------------ sharing


def share(row: Shared, user: User, *, lab: Lab | None = None, study: Experiment | None = None) -> None:
    """Share a row with a lab or with the team of a study, or with neither; only its owner does."""
    if not (user.is_staff or row.owner_id == user.pk):
        raise PermissionDenied("Only its owner shares it.")
    if lab is not None and not Lab.objects.open_to_studies_by(user).filter(pk=lab.pk).exists():
        raise PermissionDenied("Only a manager or an editor of a lab shares with it.")
    if study is not None and not may_edit(user, study):
        raise PermissionDenied("Only an editor of a study shares with its team.")
    before = row.shared_with
    row.lab, row.study = lab, study
    with transaction.atomic():
        row.save(update_fields=["lab", "study"])
        if row.shared_with != before:
            values = {str(row): {"old": before or "nobody", "new": row.shared_with or "nobody"}}
            record(row.owner or user, f"{SHARED[type(row)]} shared", values=values)


def may_change(user: User, row: OwnParadigm | PairSet | WordList) -> bool:
    """Whether the user may change a row."""
    return type(row).objects.editable_by(user).filter(pk=row.pk).exists()


def owns(user: User, row: Shared) -> bool:
    """Whether the user may share or delete a row."""
    return user.is_staff or row.owner_id == user.pk


# ------------------------------------------------------------------ selections


@dataclass(frozen=True)
class Choice:
    """A paradigm that was chosen, at the version that it has now, with its words."""

    paradigm: Paradigm
    lexicon: Lexicon
    version: ParadigmVersion | None = None

    @property
    def entry(self) -> dict[str, Any]:
        """Its record in a set."""
        origin = {"own": self.version.paradigm_id, "version": self.version.number} if self.version else {}
        return {
            "uid": self.paradigm.uid,
            "language": self.paradigm.language.tag,
            "sha256": self.paradigm.sha256,
            "lexicon": self.lexicon.version,
            **origin,
        }


def select_paradigms(user: User, addresses: list[str]) -> list[Choice]:
    """Return the paradigms of a selection: ``en:wh_island``, or ``own:17`` for a researcher's own."""
    choices = [_choice(user, address) for address in dict.fromkeys(addresses)]
    names = [choice.paradigm.uid for choice in choices]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"two of the paradigms are named {name}.", remedy="Rename one of them.")
    if len({choice.paradigm.language.tag for choice in choices}) > 1:
        raise BadInput("the paradigms are of several languages.", remedy="Draw a set for each.")
    if not choices:
        raise BadInput("no paradigm is chosen.", remedy="Tick at least one.")
    return choices


def _choice(user: User, address: str) -> Choice:
    kind, _, name = address.partition(":")
    if kind == OWN:
        own_paradigm = (
            OwnParadigm.objects.visible_to(user).filter(pk=int(name) if name.isdecimal() else 0).first()
        )
        if own_paradigm is None:
            raise BadInput(f"there is no paradigm {address!r} for you.")
        return build_choice(own_paradigm.newest)
    return built_in_choice(kind, name)


def built_in_choice(language: str, uid: str) -> Choice:
    """Return a paradigm of the platform, ready to be drawn from."""
    row = built_in_paradigm(language, uid)
    if row is None:
        raise UnknownName("paradigm", uid, shipped_paradigms(language) if language in languages() else ())
    return Choice(row.paradigm, read_lexicon(language))


def build_choice(version: ParadigmVersion) -> Choice:
    """Return a version of an own paradigm, ready to be drawn from."""
    uid, language, _ = text_document(version.text)
    lexicon = lexicon_for(version.paradigm, language)
    paradigm = parse_paradigm(version.text.encode(), file=f"{uid}.toml", lexicon=lexicon)
    return Choice(paradigm, lexicon, version)


def starting_text(address: str, user: User) -> str:
    """Return the text of a paradigm that an own one begins with."""
    kind, _, name = address.partition(":")
    if kind == OWN:
        own_paradigm = (
            OwnParadigm.objects.visible_to(user).filter(pk=int(name) if name.isdecimal() else 0).first()
        )
        return own_paradigm.newest.text if own_paradigm else ""
    row = built_in_paradigm(kind, name)
    return read_source(name, language=kind).decode() if row else ""
