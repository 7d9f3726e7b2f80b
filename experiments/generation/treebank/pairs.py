"""Minimal pairs from treebanks: agreement with one value changed, balanced by condition."""

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from analysis.errors import BadInput, NotEnoughData, UnknownName
from experiments.generation.treebank.inflections import InflectionTable, read_inflections
from experiments.generation.treebank.instances import Collected, Instance, collect
from experiments.generation.treebank.relations import SHIPPED, Relation, read_relations
from experiments.generation.treebank.swapping import swap_value

AGREES, LEVEL = 0.9, 0.05  # of instances agree, one-sided
MIN_PAIRS = 5  # of a phenomenon, to be written
MIN_REPORTED = 10  # of a condition, to be reported by itself
MAX_QUOTED = 5  # conflicting cells in the report
DEFAULT_RELATIONS = ("subject_verb", "subject_participle")
ACCEPTED, LIKELY = "yes", "~"


@dataclass(frozen=True)
class Candidate:
    """A pair before the balance."""

    instance: Instance
    wrong: str
    form: str
    agreement: str

    @property
    def condition(self) -> str:
        """Value and wrong value, order, and where the agreement shows."""
        instance = self.instance
        return f"{instance.value}>{self.wrong}.{instance.order}.{instance.carrier}"

    @property
    def bad(self) -> str:
        """The text with the wrong form."""
        instance = self.instance
        return instance.text[: instance.start] + self.form + instance.text[instance.end :]


@dataclass(frozen=True)
class Origin:
    """Source of the sentences."""

    language: str
    treebank: str
    licence: str


def treebank_pairs(
    treebanks: Sequence[Path], tables: Sequence[Path], *, origin: Origin, relations: Path = SHIPPED,
    names: Collection[str] = (), proper_names: bool = False, per_condition: int = 100, seed: int = 0,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:  # fmt: skip
    """Return the pairs, with BLiMP's fields and ours, and the report."""
    if per_condition < 0 or seed < 0:
        raise BadInput("--per-condition and --seed are numbers from 0.", remedy="0 pairs a condition is all.")
    language = origin.language.partition("-")[0]
    phenomena = _select_relations(
        read_relations(relations, language=language, proper_names=proper_names), names, relations == SHIPPED
    )
    collected = collect(treebanks, phenomena, language=language)
    words = [
        word
        for instances in collected.instances.values()
        for instance in instances
        for word in (instance.agreeing, instance.controller)
    ]
    table = read_inflections(tables, lemmas={word.lemma for word in words}, language=language)
    rows: list[dict[str, Any]] = []
    summaries = []
    for phenomenon, (relation, _) in phenomena.items():
        drops = collected.drops[phenomenon]
        agreement = _agreement(phenomenon, collected)
        candidates = _candidates(collected, phenomenon, agreement, table, language)
        n_candidates = len(candidates)
        if candidates and n_candidates < MIN_PAIRS:
            drops[f"fewer than {MIN_PAIRS} pairs of the phenomenon"] += n_candidates
            candidates = []
        selection = _draw_balanced(candidates, per_condition, seed, phenomenon)
        if len(selection) < len(candidates):
            drops["balance"] += len(candidates) - len(selection)
        rows += [
            _row(candidate, weight, number, relation, origin, seed)
            for number, (candidate, weight) in enumerate(selection)
        ]
        conditions = Counter(candidate.condition for candidate, _ in selection)
        summaries.append({
            "phenomenon": phenomenon, "title": relation.title, "pairs": len(selection), "found": n_candidates,
            "dropped": dict(drops.most_common()), "agreement": list(agreement.values()),
            "conditions": [
                {"condition": condition, "pairs": number, "reported": number >= MIN_REPORTED}
                for condition, number in sorted(conditions.items())
            ],
        })  # fmt: skip
    report = _report(origin, collected, table, summaries, treebanks)
    if not rows:
        raise NotEnoughData(f"no pair is left: {_reasons(summaries)}.", file=str(treebanks[0]))
    return rows, report


def _select_relations(
    relations: Sequence[Relation], names: Collection[str], is_shipped: bool
) -> dict[str, tuple[Relation, str]]:
    phenomena = {
        f"{relation.name}_{feature.lower()}": (relation, feature)
        for relation in relations
        for feature in relation.features
    }
    for name in names:
        if name not in phenomena:
            raise UnknownName("phenomenon", name, list(phenomena))
    if names:
        return {name: phenomena[name] for name in phenomena if name in names}
    return {
        name: phenomenon
        for name, phenomenon in phenomena.items()
        if not is_shipped or phenomenon[0].name in DEFAULT_RELATIONS
    }


def _agreement(phenomenon: str, collected: Collected) -> dict[tuple[str, str], dict[str, Any]]:
    """Test for each value and order whether the treebank shows agreement at all.

    Accepted where a binomial test rejects a share of .9 or less; marked ~ where the share is higher on too
    few instances for that.
    """
    tested = {}
    for (name, value, order), (agreeing, instances) in sorted(collected.agreement.items()):
        if name != phenomenon:
            continue
        p = float(binomtest(agreeing, instances, AGREES, alternative="greater").pvalue)
        status = ACCEPTED if p < LEVEL else LIKELY if agreeing > AGREES * instances else "no"
        tested[value, order] = {
            "value": value, "order": order, "agree": agreeing, "instances": instances, "p": p,
            "status": status,
        }  # fmt: skip
    return tested


def _candidates(
    collected: Collected, phenomenon: str, agreement: Mapping[tuple[str, str], Mapping[str, Any]],
    table: InflectionTable, language: str,
) -> list[Candidate]:  # fmt: skip
    drops = collected.drops[phenomenon]
    instances = collected.instances[phenomenon]
    values = sorted({instance.value for instance in instances})
    candidates: list[Candidate] = []
    sentences_so_far: set[tuple[str, str]] = set()
    for instance in instances:
        status = agreement[instance.value, instance.order]["status"]
        if status == "no":
            drops["no agreement in this condition"] += 1
            continue
        if len(values) == 1:
            drops["no other value in the treebank"] += 1
        for wrong in values:
            if wrong == instance.value:
                continue
            swap = swap_value(instance, wrong, table=table, collected=collected, language=language)
            if swap.reason:
                drops[swap.reason] += 1
                continue
            candidate = Candidate(instance, wrong, swap.form, status)
            if (instance.text, candidate.bad) in sentences_so_far:
                drops["repeated pair"] += 1
                continue
            sentences_so_far.add((instance.text, candidate.bad))
            candidates.append(candidate)
    return candidates


def _draw_balanced(
    candidates: Sequence[Candidate], per_condition: int, seed: int, phenomenon: str
) -> list[tuple[Candidate, float]]:
    """Draw at most so many of each condition, the rarer its words and surroundings the rather.

    The weight is 1 / ∏ frequency of the controller's form, the agreeing form, the distance, the
    attractors and the sentence. Gumbel keys draw without replacement, so more pairs contain those of fewer.
    """
    counts: defaultdict[int, Counter[Any]] = defaultdict(Counter)
    for candidate in candidates:
        for place, trait in enumerate(_traits(candidate)):
            counts[place][trait] += 1
    log_weights = np.array([
        -sum(np.log(counts[place][trait]) for place, trait in enumerate(_traits(candidate)))
        for candidate in candidates
    ])  # fmt: skip
    rng = np.random.default_rng([seed, zlib.crc32(phenomenon.encode())])
    keys = log_weights + rng.gumbel(size=len(candidates))
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place in np.argsort(-keys, kind="stable"):
        places[candidates[place].condition].append(int(place))
    selection = sorted(place for some in places.values() for place in some[: per_condition or None])
    return [(candidates[place], float(np.exp(log_weights[place]))) for place in selection]


def _traits(candidate: Candidate) -> tuple[Any, ...]:
    instance = candidate.instance
    return (
        instance.controller.form.lower(), instance.agreeing.form.lower(), instance.distance,
        instance.attractors, (instance.file, instance.sent_id),
    )  # fmt: skip


def _row(
    candidate: Candidate, weight: float, number: int, relation: Relation, origin: Origin, seed: int
) -> dict[str, Any]:
    instance = candidate.instance
    # The evidence precedes the word only where the controller does.
    is_prefixed = instance.order[0] == relation.controller[0].upper()
    prefix = instance.text[: instance.start].rstrip()
    row: dict[str, Any] = {
        "sentence_good": instance.text,
        "sentence_bad": candidate.bad,
        "field": "morphology",
        "linguistics_term": relation.linguistics_term,
        "UID": f"{origin.language}_{instance.phenomenon}",
        "simple_LM_method": True,
        "one_prefix_method": is_prefixed,
        "two_prefix_method": False,
        "lexically_identical": True,
        "pairID": str(number),
    }
    if is_prefixed:
        row |= {
            "one_prefix_prefix": prefix,
            "one_prefix_word_good": instance.text[instance.start : instance.end],
            "one_prefix_word_bad": candidate.form,
        }
    return row | {
        "critical_good": [instance.start, instance.end],
        "critical_bad": [instance.start, instance.start + len(candidate.form)],
        "frame": instance.order,
        "values": {instance.feature: instance.value, f"wrong_{instance.feature}": candidate.wrong},
        "lexemes": {relation.controller: instance.controller.lemma, relation.swap: instance.agreeing.lemma},
        "condition": candidate.condition,
        "agreement": candidate.agreement,
        "distance": instance.distance,
        "attractors": instance.attractors,
        "weight": weight,
        "language": origin.language,
        "treebank": origin.treebank or Path(instance.file).stem,
        "file": instance.file,
        "sent_id": instance.sent_id,
        "licence": origin.licence,
        "seed": seed,
    }


def _report(
    origin: Origin, collected: Collected, table: InflectionTable, summaries: list[dict[str, Any]],
    treebanks: Sequence[Path],
) -> dict[str, Any]:  # fmt: skip
    notes = []
    if not origin.licence:
        notes.append("No licence is given: state the treebank's with --licence before you publish pairs.")
    elif re.search(r"\bNC\b|non-?commercial", origin.licence, re.IGNORECASE):
        notes.append(f"{origin.licence} forbids commercial use: it holds for the pairs, too.")
    return {
        "language": origin.language, "treebank": origin.treebank, "licence": origin.licence,
        "files": [path.name for path in treebanks], "sentences": collected.sentences,
        "long_sentences": collected.long_sentences, "table_rows": table.rows,
        "conflicting_cells": len(table.conflicts), "conflicts": table.conflicts[:MAX_QUOTED],
        "pairs": sum(summary["pairs"] for summary in summaries), "phenomena": summaries, "notes": notes,
    }  # fmt: skip


def _reasons(summaries: list[dict[str, Any]]) -> str:
    total: Counter[str] = Counter()
    for summary in summaries:
        total.update(summary["dropped"])
    listed = ", ".join(f"{reason} {number:,}" for reason, number in total.most_common(4))
    return listed or "no word has such a dependent"
