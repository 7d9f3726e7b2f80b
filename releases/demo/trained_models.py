"""Small n-gram models of the demo: of three orders, of growing corpora, and of a corpus without "ever"."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.ngrams import token_logprobs, train_model, write_arpa
from analysis.scoring.words.tokens import Tokenization
from experiments.generation import acceptable_sentences
from experiments.models import MaterialSet
from releases.demo.materials import SEED, folder

TOKENS = Tokenization(casing="lower", punctuation="split")
CORPUS_SIZE = 16_000
SIZES, SEEDS = (1_000, 2_000, 4_000, 8_000), (1, 2)
FILTER, FILTERED_WORD = "npi_licensing", "ever"
FAMILY = "trigram"
ORDERS = {"trigram": 3, "bigram": 2, "unigram": 1}


def corpus(materials: MaterialSet) -> list[str]:
    """Generated text without the study's sentences; stored beside the models."""
    path = folder() / "corpus.txt"
    held_out = set(materials.sentences.values_list("text", flat=True))
    lines = acceptable_sentences(CORPUS_SIZE, seed=SEED, without=held_out)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lines


def model_files(materials: MaterialSet) -> dict[str, Path]:
    """One ARPA file per order, trained on the same text."""
    tokens = [TOKENS.tokens(text) for text in corpus(materials)]
    files = {}
    for name, order in ORDERS.items():
        files[name] = folder() / f"{name}.arpa"
        model = replace(train_model(tokens, order=order), tokenization=TOKENS.recorded())
        write_arpa(model, files[name])
    return files


def training_tables(materials: MaterialSet) -> tuple[Path, Path]:
    """Scores and metadata of trigrams of four corpus sizes and of a filtered corpus, two seeds each."""
    lines = (folder() / "corpus.txt").read_text(encoding="utf-8").splitlines()
    tokens = [TOKENS.tokens(text) for text in lines]
    allowed = np.array([FILTERED_WORD not in sentence for sentence in tokens])
    sentences = list(materials.sentences.order_by("pk").values_list("key", "text"))
    test_tokens = [TOKENS.tokens(text) for _, text in sentences]
    scores, models = {"sentence_id": [key for key, _ in sentences]}, []
    plans = [(size, "full", np.arange(len(tokens))) for size in SIZES]
    plans.append((SIZES[-1], FILTER, np.flatnonzero(allowed)))
    for size, part, places in plans:
        for seed in SEEDS:
            sample = np.random.default_rng([SEED, size, seed]).choice(places, size=size, replace=False)
            text = [tokens[place] for place in sample]
            name = f"{FAMILY} {size:,}{'' if part == 'full' else f' without {FILTERED_WORD}'}, seed {seed}"
            logprobs = token_logprobs(train_model(text, order=3), test_tokens)
            sums = np.bincount(logprobs.sentence, weights=logprobs.logprob, minlength=len(test_tokens))
            scores[name] = sums.round(6).tolist()
            n_tokens = sum(len(sentence) for sentence in text)
            models.append((name, name, "lp", f"{FAMILY} by size", n_tokens, seed, part))
    return _written("scores_by_size.csv", pd.DataFrame(scores)), _written(
        "models_by_size.csv",
        pd.DataFrame(
            models, columns=["model", "name", "method", "family", "training_tokens", "seed", "corpus"]
        ),
    )


def _written(name: str, frame: pd.DataFrame) -> Path:
    path = folder() / name
    frame.to_csv(path, index=False, lineterminator="\n")
    return path
