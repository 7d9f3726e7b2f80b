"""Words that researchers add to the lexicon: check tables, save versions, find those of a paradigm."""

import hashlib
import re

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Max, Q, QuerySet

from analysis.errors import BadInput, UnknownName
from analysis.text import plural
from experiments.accounts.history import deleted_values, record
from experiments.generation.lexicon import Lexicon, languages, read_lexicon
from experiments.generation.lexicon.extension import Words, extended_lexicon, own_rows, word_faults
from experiments.models import OwnParadigm, WordList, WordListVersion

MAX_CHARACTERS = 1_000_000  # of a table
MAX_LISTS = 20  # of one user in one language
MAX_VERSIONS = 200
NAME = re.compile(r"[A-Za-z][\w-]{0,70}", re.ASCII)


class WordFaults(BadInput):
    """A table of words with faults; each is a line with file, row and remedy."""

    def __init__(self, faults: list[BadInput]) -> None:
        self.faults = faults
        more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(f"{faults[0]}{more}")


def lists_for(place: OwnParadigm | User, language: str) -> QuerySet[WordList]:
    """Return the lists that a paradigm draws from: its owner's, and those that its lab or study shares.

    They depend on the paradigm alone, so that everybody who may draw from it draws the same pairs.
    """
    if isinstance(place, User):
        condition = Q(owner=place)
    else:
        condition = Q(owner=place.owner) if place.owner_id else Q(pk__in=())
        condition |= Q(lab=place.lab) if place.lab_id else Q(pk__in=())
        condition |= Q(study=place.study) if place.study_id else Q(pk__in=())
    return WordList.objects.filter(condition, language=language).order_by("pk")


def lexicon_for(place: OwnParadigm | User, language: str) -> Lexicon:
    """Return the words that an own paradigm, or a new one of a user, draws from."""
    if language not in languages():
        raise UnknownName("language", language, languages())
    return extended_lexicon(language, tuple(read_words(row) for row in lists_for(place, language)))


def read_words(row: WordList) -> Words:
    """Return name and content of a list."""
    return f"{row.name}.csv", row.newest.text


def checked_table(
    user: User, *, name: str, language: str, text: str, word_list: WordList | None = None
) -> tuple[Words, int]:
    """Return a table without faults, and the number of its rows."""
    if not NAME.fullmatch(name):
        raise BadInput(f"{name!r} is no name of a table.", remedy="Write letters, digits, - and _.")
    if language not in languages():
        raise UnknownName("language", language, languages())
    if len(text) > MAX_CHARACTERS:
        raise BadInput(f"the table has {len(text):,} characters.", remedy=f"At most {MAX_CHARACTERS:,}.")
    words = (f"{name}.csv", text.replace("\r\n", "\n"))
    base = read_lexicon(language)
    others = lists_for(word_list.owner if word_list and word_list.owner else user, language)
    beside = [read_words(row) for row in others if word_list is None or row.pk != word_list.pk]
    if faults := word_faults(words, base, beside=beside):
        raise WordFaults(faults)
    return words, len(own_rows(words, base)[0])


def save_words(
    user: User,
    *,
    name: str,
    language: str,
    source: str,
    licence: str,
    text: str,
    word_list: WordList | None = None,
    based_on: int | None = None,
) -> WordListVersion:
    """Save a table as a new list of the user, or as the next version of one that the user may edit."""
    # Before the transaction, because it takes a second.
    (_, text), n_rows = checked_table(user, name=name, language=language, text=text, word_list=word_list)
    with transaction.atomic():
        row = word_list or _new_list(user, name, language)
        locked = WordList.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if not WordList.objects.editable_by(user).filter(pk=locked.pk).exists():
            raise PermissionDenied("Viewers do not change words.")
        newest = locked.versions.aggregate(last=Max("number"))["last"] or 0
        if based_on is not None and newest != based_on:
            raise BadInput(
                f"version {newest} was saved meanwhile by {locked.newest.saved_by or 'somebody'}.",
                remedy="Compare it with yours, then save again.",
            )
        if newest >= MAX_VERSIONS:
            raise BadInput(f"the table has {newest} versions.", remedy="Begin another.")
        if name != locked.name and WordList.objects.filter(owner=locked.owner, name=name).exists():
            raise BadInput(f"another table is named {name}.", remedy="Choose another name.")
        locked.name, locked.source, locked.licence = name, source, licence
        locked.save(update_fields=["name", "source", "licence"])
        digest = hashlib.sha256(text.encode()).hexdigest()
        if newest and locked.newest.sha256 == digest:
            return locked.newest
        return WordListVersion.objects.create(
            word_list=locked, number=newest + 1, text=text, sha256=digest, n_rows=n_rows, saved_by=user
        )


def _new_list(user: User, name: str, language: str) -> WordList:
    if WordList.objects.filter(owner=user, name=name).exists():
        raise BadInput(f"you have a table named {name}.", remedy="Choose another name, or edit that one.")
    if lists_for(user, language).count() >= MAX_LISTS:
        raise BadInput(f"you have {MAX_LISTS} tables.", remedy="Put words into one of them.")
    return WordList.objects.create(owner=user, name=name, language=language)


@transaction.atomic
def delete_words(word_list: WordList, user: User) -> None:
    """Delete a list with its versions; sets that were drawn with its words stay."""
    if not (user.is_staff or word_list.owner_id == user.pk):
        raise PermissionDenied("Only its owner deletes words.")
    with transaction.atomic():
        record(
            word_list.owner or user,
            "own words deleted",
            **deleted_values(word_list.name, plural(word_list.versions.count(), "version")),
        )
        word_list.delete()
