"""Coverage of the 95 % intervals of MORCELA's β and γ, and of abilities in Rasch's model.

Run ``python -m benchmarks.analysis.bench_linking [STUDIES]``. Linking: ten pairs in each phenomenon; human
scores follow log p − .6 log p_u + 2 per token (weight 2 a nat), with an SD of .4 between phenomena and .4
between sentences. Abilities: people answer 20 or 60 pairs with difficulties N(0, 1); the fit takes their
answers, and a model of ability 1.5 takes the test after the fit. The scale of the fit is that of its people,
so that truth is standardized by their mean and SD (ddof 0).
"""

import sys

import numpy as np
import pandas as pd

from analysis.aggregation.item_response import estimate_abilities, fit_item_response
from analysis.comparison.in_depth.linking import LINKS, _link_row

PAIRS, BETA, GAMMA = 10, 0.6, 2.0


def linking_study(n_clusters: int, *, rng: np.random.Generator) -> dict[str, float]:
    """Simulate sentences of a model and fit MORCELA."""
    n = n_clusters * PAIRS * 2
    tokens = rng.integers(5, 16, n)
    rare, surprise = rng.normal(8, 0.8, n), rng.normal(4, 1, n)  # nats per token
    rows = pd.DataFrame(
        {"n_tokens": tokens, "logprob": -surprise * tokens, "unigram_logprob": -rare * tokens}
    )
    rows["cluster"] = np.repeat([f"c{number}" for number in range(n_clusters)], PAIRS * 2)
    rows["item"] = np.repeat([f"i{number}" for number in range(n_clusters * PAIRS)], 2)
    linked = (rows["logprob"] - BETA * rows["unigram_logprob"] + GAMMA) / tokens
    between = np.repeat(rng.normal(0, 0.4, n_clusters), PAIRS * 2)
    rows["human"] = 2 * linked + between + rng.normal(0, 0.4, n)
    return _link_row(rows, LINKS["morcela"])[0]


def linking_coverage(n_clusters: int, *, studies: int) -> dict[str, float]:
    """Return how often the intervals of β and γ contain them, of the studies that have one."""
    rng = np.random.default_rng(n_clusters)
    fits = [linking_study(n_clusters, rng=rng) for _ in range(studies)]
    kept = [fit for fit in fits if fit["beta_low"] is not None and fit["gamma_low"] is not None]
    return {
        "clusters": n_clusters,
        "with an interval": round(len(kept) / studies, 3),
        "beta": round(float(np.mean([fit["beta_low"] <= BETA <= fit["beta_high"] for fit in kept])), 3),
        "gamma": round(float(np.mean([fit["gamma_low"] <= GAMMA <= fit["gamma_high"] for fit in kept])), 3),
    }


def ability_coverage(people: int, pairs: int, *, studies: int) -> dict[str, float]:
    """Return how often the intervals of people's abilities, and of a model's, contain them."""
    rng = np.random.default_rng([people, pairs])
    covered, of_model = [], []
    for _ in range(studies):
        difficulty, ability = rng.normal(0, 1, pairs), np.append(rng.normal(0, 1, people), 1.5)
        chance = 1 / (1 + np.exp(-1.2 * (ability[:, None] - difficulty)))
        answers = (rng.random(chance.shape) < chance).astype(float)
        varied = (answers[:-1].mean(axis=0) % 1) > 0
        fit = fit_item_response(answers[:-1, varied])
        estimate, error = estimate_abilities(answers[:, varied], fit)
        truth = (ability - ability[:-1].mean()) / ability[:-1].std()
        inside = np.abs(estimate - truth) <= 1.96 * error
        covered.append(inside[:-1].mean())
        of_model.append(inside[-1])
    names = {"participants": people, "pairs": pairs}
    return names | {"people": round(float(np.mean(covered)), 3), "model": round(float(np.mean(of_model)), 3)}


if __name__ == "__main__":
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    for n_clusters in (5, 8, 12, 30):
        print(linking_coverage(n_clusters, studies=studies), flush=True)
    for people, pairs in ((20, 20), (20, 60), (60, 20), (60, 60)):
        print(ability_coverage(people, pairs, studies=max(studies // 5, 2)), flush=True)
