"""Texts that a run scores: each sentence, or its critical word after a prefix.

Each text is one string, whose bytes are the key in the cache and in shards.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import Q, QuerySet

from analysis.comparison.in_depth.models import PREFIX_METHODS
from analysis.comparison.in_depth.prefixes import sentence_regions
from analysis.errors import BadInput
from analysis.scoring import Scorer
from analysis.scoring.judgment_prompts import FORCED_CHOICE, PROMPT_METHODS, PromptScorer, prompt_question
from analysis.scoring.measures import MEASURES, measure
from analysis.scoring.words.contexts import ContextScorer, context_question, model_context_rule
from analysis.scoring.words.critical_words import WordScorer, word_question
from experiments.materials.schema import CONTEXT
from experiments.models import MaterialSet, MinimalPair, Sentence
from releases.material_frames import pair_frame

PAIR_TEXTS = ("good_id", "bad_id", "sentence_good", "sentence_bad")


def are_in_context(model: Scorer, materials: MaterialSet) -> bool:
    """Return whether a model scores the sentences of a material set after a context or prompt.

    One answer holds for the whole set, so that every shard of a run has the same specification.
    """
    has_contexts = Sentence.objects.filter(material_set=materials, attributes__has_key=CONTEXT).exists()
    return model_context_rule(model).applies(["has one"] if has_contexts else [])


def reader(method: str, model: Scorer, *, is_in_context: bool = False) -> Scorer:
    """Return the scorer of a method; raise an error before scoring if the model does not support it."""
    if method in PREFIX_METHODS:
        return WordScorer(model, method, template=model_context_rule(model).template if is_in_context else "")
    if method in PROMPT_METHODS:
        return PromptScorer(model, method)
    if is_in_context:
        model = ContextScorer(model)
    if method in MEASURES:
        sample = np.ones(1)  # computing the measure once raises if an input of it is missing
        unigram = sample if "unigram" in model.capabilities else None
        measure(method, sample, n_tokens=sample, unigram_logprob=unigram, n_chars=sample, n_bytes=sample)
    return model


def scored_texts(
    method: str,
    sentences: Sequence[Sentence],
    *,
    model: Scorer,
    is_in_context: bool,
    materials: MaterialSet | None = None,
) -> dict[int, str]:
    """Return the text to score of each sentence, by primary key; prefix methods skip pairs without a prefix.

    With ``materials`` the sentences are those of the whole set; without it their pairs are queried.
    """
    if method in PROMPT_METHODS:
        return _prompt_questions(method, sentences, materials=materials)
    rule = model_context_rule(model)
    leads = {
        sentence.pk: rule.lead(sentence.context, sentence_id=sentence.key) if is_in_context else ""
        for sentence in sentences
    }
    if method not in PREFIX_METHODS and is_in_context:
        return {sentence.pk: context_question(leads[sentence.pk], sentence.words) for sentence in sentences}
    if method not in PREFIX_METHODS:
        return {sentence.pk: sentence.words for sentence in sentences}
    regions = prefix_regions(pair_frame(_select_pairs(sentences, materials)), method)
    return {
        sentence.pk: word_question(*regions[sentence.key], sentence=sentence.words, lead=leads[sentence.pk])
        for sentence in sentences
        if sentence.key in regions
    }


def _select_pairs(sentences: Sequence[Sentence], materials: MaterialSet | None) -> QuerySet[MinimalPair]:
    if materials is not None:
        return MinimalPair.objects.filter(material_set=materials)
    pks = [sentence.pk for sentence in sentences]
    return MinimalPair.objects.filter(Q(good__in=pks) | Q(bad__in=pks))


def _prompt_questions(
    method: str, sentences: Sequence[Sentence], *, materials: MaterialSet | None
) -> dict[int, str]:
    """Return what is asked about each sentence; forced choice skips sentences without a pair."""
    alternatives: dict[int, list[str]] = {sentence.pk: [] for sentence in sentences}
    if method == FORCED_CHOICE:
        pairs = _select_pairs(sentences, materials).select_related("good", "bad").order_by("pk")
        for pair in pairs.filter(discard=False):
            for member, other in ((pair.good, pair.bad), (pair.bad, pair.good)):
                alternatives.setdefault(member.pk, []).append(other.words)
    return {
        sentence.pk: prompt_question(
            sentence.words, context=sentence.context, others=alternatives[sentence.pk]
        )
        for sentence in sentences
        if method != FORCED_CHOICE or alternatives[sentence.pk]
    }


def refuse_without_words(method: str, questions: Collection[Any], *, materials: object) -> None:
    """Raise BadInput if no pair is made for the prefix method, or there is none to choose from."""
    if method == FORCED_CHOICE and not questions:
        raise BadInput(f"{materials} has no pairs to choose from.", column="method")
    if method in PREFIX_METHODS and not questions:
        raise BadInput(
            f"no pair of {materials} is made for the {method} method.",
            column="method",
            remedy=f"Pairs need the flag {method}_method, or its prefix and words.",
        )


def prefix_regions(pairs: pd.DataFrame, method: str) -> dict[str, tuple[str, str]]:
    """Return prefix and critical word of each sentence, from the source fields of the stored pairs."""
    return sentence_regions(pair_fields(pairs), method)


def pair_fields(pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the source fields of stored pairs with the ids and texts of their members."""
    return [
        {**(row["fields"] or {}), **{name: row[name] for name in PAIR_TEXTS}}
        for row in pairs.to_dict("records")
    ]
