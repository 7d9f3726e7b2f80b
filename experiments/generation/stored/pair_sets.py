"""Sets of pairs: draw them once, edit pairs by hand with a trace, make materials of them.

1. :func:`create_pair_set` stores what is drawn: paradigms at their versions, number and seed. A small set is
   drawn at once, a large one by a job.
2. :func:`edit_pair`, :func:`strike_pair` and :func:`restore_pair` change how a pair reads now; the row as it
   was drawn stays, and each change is a row of its own.
3. :func:`make_materials` stores a material set; from then on the pairs do not change, because judgments refer
   to materials. Struck pairs are in it, marked as discarded with the reason.
"""

import json
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from analysis.errors import BadInput
from analysis.text import plural
from experiments.accounts.history import deleted_values, record
from experiments.generation.paradigms import Sampler, sample_pairs
from experiments.generation.paradigms.language import read_language
from experiments.generation.paradigms.sampling import Pair, comparable, edited_row
from experiments.generation.paradigms.templates import REFUSED
from experiments.generation.stored.library import (
    MAX_SEED,
    Choice,
    build_choice,
    built_in_choice,
    select_paradigms,
    share,
)
from experiments.intake.bulk_insert import insert_rows
from experiments.intake.store import MaterialSetInfo, store_materials
from experiments.materials.collection import Materials
from experiments.materials.readers.blimp import materials_of_rows
from experiments.models import (
    Experiment,
    GeneratedPair,
    Job,
    Lab,
    MaterialSet,
    PairEdit,
    PairSet,
    ParadigmVersion,
)
from experiments.operation.job_runner import Run, enqueue, job

DRAW, MATERIALS = "paradigms.draw", "paradigms.materials"
MAX_EACH = 10_000  # pairs of a paradigm
MAX_PAIRS = 100_000  # of a set
MAX_IMMEDIATE = 2_000  # pairs that a request draws or stores; more are a job
MAX_SETS = 200  # of one user
MAX_TEXT = 300  # characters of a sentence
MAX_REASON = 200
SECONDS_EACH = 60.0  # for the draws of one paradigm; those of the platform take less than one
PREVIEW_SECONDS = 10.0
Report = Callable[[int, int, str], None]


def preview(choices: list[Choice], *, n: int, seed: int) -> list[tuple[Choice, list[Pair], str]]:
    """Return the first pairs of each paradigm, or why there are none; how many are possible is not asked."""
    rows: list[tuple[Choice, list[Pair], str]] = []
    for choice in choices:
        try:
            sampler = Sampler(choice.paradigm, lexicon=choice.lexicon, seed=seed, seconds=PREVIEW_SECONDS)
            rows.append((choice, list(islice(sampler.pairs(), n)), ""))
        except BadInput as error:
            rows.append((choice, [], str(error)))
    return rows


def create_pair_set(
    user: User,
    *,
    name: str,
    addresses: list[str],
    n: int,
    seed: int,
    lab: Lab | None = None,
    study: Experiment | None = None,
) -> PairSet:
    """Store a set of n pairs of each paradigm; a large one is drawn by a job."""
    choices = select_paradigms(user, addresses)
    if not 1 <= n <= MAX_EACH:
        raise BadInput(f"{n:,} pairs of each paradigm.", remedy=f"Take 1 to {MAX_EACH:,}.")
    if n * len(choices) > MAX_PAIRS:
        raise BadInput(
            f"{n * len(choices):,} pairs in all.", remedy=f"A set has at most {MAX_PAIRS:,}; draw two."
        )
    if not 0 <= seed <= MAX_SEED:
        raise BadInput(f"the seed is {seed}.", remedy="Give a whole number from 0.")
    if PairSet.objects.filter(owner=user).count() >= MAX_SETS:
        raise BadInput(f"you have {MAX_SETS} sets of pairs.", remedy="Delete some.")
    is_immediate = n * len(choices) <= MAX_IMMEDIATE
    # Before the transaction, because it takes a while and an error leaves nothing behind.
    draws = _draw(choices, n=n, seed=seed) if is_immediate else []
    with transaction.atomic():
        pair_set = PairSet.objects.create(
            owner=user,
            name=name.strip() or "Pairs",
            language=choices[0].paradigm.language.tag,
            n_each=n,
            seed=seed,
            recipe=[choice.entry for choice in choices],
        )
        if lab is not None or study is not None:
            share(pair_set, user, lab=lab, study=study)
        if is_immediate:
            _store(pair_set, draws)
        else:
            pair_set.job = enqueue(DRAW, {"pair_set": pair_set.pk}, user=user, key=f"{DRAW}:{pair_set.pk}")
            pair_set.save(update_fields=["job"])
    return pair_set


def _draw(
    choices: list[Choice], *, n: int, seed: int, report: Report = lambda done, total, message: None
) -> list[tuple[str, str, str, str, str]]:
    """Draw n pairs of each paradigm: key, paradigm, both sentences, and the row as JSON, which is small."""
    draws = []
    for place, choice in enumerate(choices):
        report(place, len(choices), choice.paradigm.uid)
        pairs = sample_pairs(choice.paradigm, n, seed=seed, lexicon=choice.lexicon, seconds=SECONDS_EACH)
        uid = choice.paradigm.uid
        draws += [
            (
                f"{uid}:{row['pairID']}",
                uid,
                row["sentence_good"],
                row["sentence_bad"],
                json.dumps(row, ensure_ascii=False),
            )
            for row in pairs
        ]
    return draws


def _store(pair_set: PairSet, draws: list[tuple[str, str, str, str, str]]) -> None:
    columns = ["pair_set", "key", "paradigm", "good", "bad", "fields", "is_struck"]
    insert_rows(GeneratedPair, columns, [(pair_set.pk, *row, False) for row in draws])
    pair_set.drawn_at = timezone.now()
    pair_set.save(update_fields=["drawn_at"])


@job(DRAW)
def draw_pairs(run: Run) -> None:
    """Draw outside the transaction; store in the transaction that finishes the job."""
    pair_set = _existing(run.arguments["pair_set"])
    choices = [_recorded_choice(entry) for entry in pair_set.recipe]
    draws = _draw(choices, n=pair_set.n_each, seed=pair_set.seed, report=run.progress)
    run.progress(len(choices), len(choices), "storing")
    with run.finishing() as result:
        _store(pair_set, draws)
        result.update({"pair_set": pair_set.pk, "name": pair_set.name, "pairs": len(draws)})


def _existing(pk: int) -> PairSet:
    pair_set = PairSet.objects.filter(pk=pk).first()
    if pair_set is None:
        raise BadInput("the set was deleted.")
    return pair_set


def _recorded_choice(entry: dict[str, Any]) -> Choice:
    """Return a paradigm at the version that the set recorded."""
    if "own" in entry:
        version = ParadigmVersion.objects.filter(paradigm=entry["own"], number=entry["version"]).first()
        if version is None:
            raise BadInput(f"the paradigm {entry['uid']} was deleted.", remedy="Draw a set without it.")
        choice = build_choice(version)
        if choice.lexicon.version != entry["lexicon"]:
            raise BadInput(f"the words of {entry['uid']} have changed since.", remedy="Draw a new set.")
        return choice
    choice = built_in_choice(entry["language"], entry["uid"])
    if choice.paradigm.sha256 != entry["sha256"]:
        raise BadInput(f"the paradigm {entry['uid']} has changed since.", remedy="Draw a new set.")
    return choice


# ------------------------------------------------------------------ changes by hand


def edit_pair(pair: GeneratedPair, user: User, *, good: str, bad: str, reason: str = "") -> bool:
    """Change the sentences of a pair; False where they read so already."""
    good, bad = (unicodedata.normalize("NFC", " ".join(text.split())) for text in (good, bad))
    for name, text in (("acceptable", good), ("unacceptable", bad)):
        if not text:
            raise BadInput(f"the {name} sentence is empty.", remedy="Write it, or strike the pair.")
        if len(text) > MAX_TEXT:
            raise BadInput(f"the {name} sentence has more than {MAX_TEXT} characters.", remedy="Shorten it.")
        if REFUSED.search(text):
            raise BadInput(f"the {name} sentence has control characters or markup.", remedy="Delete < and >.")
    if comparable(good) == comparable(bad):
        raise BadInput("the two sentences are equal.", remedy="Let them differ, or strike the pair.")
    with transaction.atomic():
        locked = _lock_pair(pair, user)
        others = locked.pair_set.pairs.exclude(pk=locked.pk).filter(is_struck=False)
        for text in (good, bad):
            twin = others.filter(good=text).first() or others.filter(bad=text).first()
            if twin is not None:
                raise BadInput(f"{text!r} is a sentence of {twin.key} already.", remedy="Write another.")
        if (locked.good, locked.bad) == (good, bad):
            return False
        _note(locked, user, PairEdit.Kind.EDITED, good=good, bad=bad, reason=reason)
        locked.good, locked.bad = good, bad
        locked.save(update_fields=["good", "bad"])
    return True


def strike_pair(pair: GeneratedPair, user: User, *, reason: str = "") -> bool:
    """Take a pair out of what is used; False where it is out already."""
    return _set_struck(pair, user, PairEdit.Kind.STRUCK, reason=reason)


def restore_pair(pair: GeneratedPair, user: User, *, reason: str = "") -> bool:
    """Take a struck pair in again; False where it is in."""
    return _set_struck(pair, user, PairEdit.Kind.RESTORED, reason=reason)


@transaction.atomic
def _set_struck(pair: GeneratedPair, user: User, kind: PairEdit.Kind, *, reason: str) -> bool:
    locked = _lock_pair(pair, user)
    is_struck = kind == PairEdit.Kind.STRUCK
    if locked.is_struck == is_struck:
        return False
    _note(locked, user, kind, good=locked.good, bad=locked.bad, reason=reason)
    locked.is_struck = is_struck
    locked.save(update_fields=["is_struck"])
    return True


def _lock_pair(pair: GeneratedPair, user: User) -> GeneratedPair:
    """Return the pair, locked with its set, so that no change comes between pairs and their materials."""
    pair_set = PairSet.objects.select_for_update(of=("self",)).get(pk=pair.pair_set_id)
    if not PairSet.objects.editable_by(user).filter(pk=pair_set.pk).exists():
        raise PermissionDenied("Viewers do not change a set.")
    if pair_set.materials_id:
        raise BadInput(
            "the set has become materials, which do not change.", remedy="Draw a new set to edit pairs."
        )
    return GeneratedPair.objects.select_for_update(of=("self",)).select_related("pair_set").get(pk=pair.pk)


def _note(pair: GeneratedPair, user: User, kind: PairEdit.Kind, *, good: str, bad: str, reason: str) -> None:
    if len(reason) > MAX_REASON:
        raise BadInput(f"the reason has more than {MAX_REASON} characters.", remedy="Shorten it.")
    PairEdit.objects.create(
        pair=pair,
        kind=kind,
        user=user,
        good_before=pair.good,
        bad_before=pair.bad,
        good_after=good,
        bad_after=bad,
        reason=reason.strip(),
    )


# ------------------------------------------------------------------ rows and materials


def current_rows(pair_set: PairSet) -> Iterator[dict[str, Any]]:
    """Yield the pairs as they read now, with BLiMP's fields; changed ones also as drawn, with the trace."""
    language = read_language(pair_set.language)
    edits: dict[int, list[dict[str, Any]]] = {}
    for edit in PairEdit.objects.filter(pair__pair_set=pair_set).select_related("user"):
        edits.setdefault(edit.pair_id, []).append(described_edit(edit))
    for pair in pair_set.pairs.iterator(chunk_size=2000):
        row = dict(pair.fields)
        original = (row["sentence_good"], row["sentence_bad"])
        if (pair.good, pair.bad) != original:
            row = edited_row(row, pair.good, pair.bad, language)
            row |= {"drawn_good": original[0], "drawn_bad": original[1]}
        if pair.pk in edits:
            row |= {"edits": edits[pair.pk]}
        if pair.is_struck:
            row |= {"struck": True}
        yield row


def described_edit(edit: PairEdit) -> dict[str, Any]:
    """Return a change as plain data: by whom, when, from what, to what."""
    return {
        "kind": edit.kind,
        "by": str(edit.user or ""),
        "at": f"{edit.at:%Y-%m-%dT%H:%M:%SZ}",
        "from": [edit.good_before, edit.bad_before],
        "to": [edit.good_after, edit.bad_after],
        "reason": edit.reason,
    }


def build_materials(pair_set: PairSet, *, keys: set[str] | None = None) -> Materials:
    """Return the pairs, or those of some keys, as materials; struck ones are discarded with the reason."""
    rows = [row for row in current_rows(pair_set) if keys is None or f"{row['UID']}:{row['pairID']}" in keys]
    materials = materials_of_rows(rows, file=pair_set.name)
    reasons = [
        _reason(row["edits"]) if row.get("struck") else "" for row in materials.pairs["fields"].tolist()
    ]
    pairs = materials.pairs.assign(discard=[bool(reason) for reason in reasons], discard_reason=reasons)
    return replace(materials, pairs=pairs)


def _reason(edits: list[dict[str, Any]]) -> str:
    last = [edit for edit in edits if edit["kind"] == PairEdit.Kind.STRUCK][-1]
    text = f"struck by {last['by']}" + (f": {last['reason']}" if last["reason"] else "")
    return text[:200]


def source_text(pair_set: PairSet) -> str:
    """Return the origin of the materials in a sentence."""
    versions = sorted({entry["lexicon"] for entry in pair_set.recipe})
    names = pair_set.paradigms
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    text = f"Drawn from paradigms ({listed}), seed {pair_set.seed}, lexicon {', '.join(versions)}."
    return text[:500]


def make_materials(pair_set: PairSet, user: User, *, name: str, licence: str = "") -> MaterialSet | Job:
    """Make materials of a set; a large one by a job. A repeated request returns the same."""
    if not PairSet.objects.editable_by(user).filter(pk=pair_set.pk).exists():
        raise PermissionDenied("Viewers do not make materials of a set.")
    if pair_set.materials is not None:
        return pair_set.materials
    info = _info(pair_set, name=name, licence=licence)
    if pair_set.drawn_at is None:
        raise BadInput("the pairs are still being drawn.", remedy="Wait for the job.")
    if not pair_set.pairs.filter(is_struck=False).exists():
        raise BadInput("every pair is struck.", remedy="Restore one.")
    if MaterialSet.objects.filter(name=info.name).exists():
        raise BadInput(f"there is a material set named {info.name!r}.", remedy="Choose another name.")
    if pair_set.pairs.count() <= MAX_IMMEDIATE:
        with transaction.atomic():
            return _store_materials(pair_set, user, info)
    arguments = {"pair_set": pair_set.pk, "user": user.pk, "name": info.name, "licence": info.licence}
    failed = Job.objects.filter(
        kind=MATERIALS, arguments__pair_set=pair_set.pk, state=Job.State.FAILED
    ).count()
    pair_set.job = enqueue(MATERIALS, arguments, user=user, key=f"{MATERIALS}:{pair_set.pk}:{failed}")
    pair_set.save(update_fields=["job"])
    return pair_set.job


def _info(pair_set: PairSet, *, name: str, licence: str) -> MaterialSetInfo:
    return MaterialSetInfo(
        name=name.strip(), language=pair_set.language, source=source_text(pair_set), licence=licence.strip()
    )


def _store_materials(pair_set: PairSet, user: User, info: MaterialSetInfo) -> MaterialSet:
    """Store the materials under a lock of the set, so that no pair changes meanwhile."""
    locked = PairSet.objects.select_for_update(of=("self",)).get(pk=pair_set.pk)
    if locked.materials is not None:
        return locked.materials
    stored = store_materials(build_materials(locked), info, owner=user)
    locked.materials = pair_set.materials = stored.material_set
    locked.save(update_fields=["materials"])
    return stored.material_set


@job(MATERIALS)
def store_pair_set(run: Run) -> None:
    """Make materials of a large set."""
    pair_set = _existing(run.arguments["pair_set"])
    user = User.objects.get(pk=run.arguments["user"])
    info = _info(pair_set, name=run.arguments["name"], licence=run.arguments["licence"])
    with run.finishing() as result:
        materials = _store_materials(pair_set, user, info)
        result.update({"material_set": materials.name, "slug": materials.slug})


@transaction.atomic
def delete_pair_set(pair_set: PairSet, user: User) -> None:
    """Delete a set with its edits; materials that were made of it stay."""
    if not (user.is_staff or pair_set.owner_id == user.pk):
        raise PermissionDenied("Only its owner deletes a set.")
    with transaction.atomic():
        record(
            pair_set.owner or user,
            "pairs deleted",
            **deleted_values(pair_set.name, plural(pair_set.pairs.count(), "pair")),
        )
        pair_set.delete()
