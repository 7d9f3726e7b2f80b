"""False alarms and detection of the signal of answers that go with language models.

Run ``python -m benchmarks.analysis.bench_delegation PATH/human_responses.csv`` with BLiMP's raw batch (kept,
not rejected assignments; 345 participants, most with few answers).

Models are simulated on the batch's pairs: the logit of preferring the expected sentence is 1.5, plus the
participants' own logit of the pair (centred, times .8), a part shared by all models and one of its own,
both N(0, 1.5): right in about 80 %, and alike beyond what participants explain. False alarms: the share of
real participants with at least 20 answers who are flagged, over sets of models. Delegates judge n pairs of
the batch and answer as a model, with 5 % slips; the model is one of the k, or another of the same kind that
the researcher does not have.

``python -m benchmarks.analysis.bench_delegation ratings`` simulates ratings from 1 to 7 instead: people who
use the scale differently judge n sentences, which vary by their status and by .5 SD beside it; models follow
them (.8) and deviate by .5 SD shared by all models and .5 of their own. Delegates answer as one of the k
models, on their own use of the scale.
"""

import sys

import numpy as np
import pandas as pd

from analysis.quality.model_agreement import LEVEL, MIN_TRIALS, delegation_test, model_agreement

SETS, DELEGATES, SPREAD = 5, 40, 1.5


def read_batch(path: str) -> pd.DataFrame:
    """Read the choices of the batch: participant, pair and 1 for the expected sentence."""
    raw = pd.read_csv(path)
    raw = raw[raw["AssignmentStatus"] != "Rejected"]
    parts = []
    for k in range(1, 6):
        cell = raw[f"Input.item_{k}_condition"].str.extract(r"^(?P<paradigm>.*)ans(?P<good>[12])$")
        chosen = raw[f"Answer.Choice{k}"].str.extract(r"^([12])\.")[0]
        pair = raw[f"Input.field_{k}_1"] + " | " + raw[f"Input.field_{k}_2"]
        value = (chosen == cell["good"]).astype(float).where(chosen.notna())
        part = {"participant": raw["anonCode"].astype(str), "pair_id": pair, "value": value}
        parts.append(pd.DataFrame(part)[cell["paradigm"] != "attnchk"])
    return pd.concat(parts, ignore_index=True).assign(task="forced_choice")


def draw_models(share: pd.Series, n: int, *, rng: np.random.Generator) -> np.ndarray:
    """Draw the preferences of n models for each pair: 1 the expected sentence, 0 the other."""
    logit = np.log(share / (1 - share)).to_numpy()
    base = 1.5 + 0.8 * (logit - logit.mean()) + rng.normal(0, SPREAD, len(share))
    chance = base[:, None] + rng.normal(0, SPREAD, (len(share), n)) + rng.logistic(size=(len(share), n))
    return (chance > 0).astype(float)


def false_alarms(
    batch: pd.DataFrame, share: pd.Series, k: int, *, rng: np.random.Generator, sets: int = SETS
) -> float:
    """Return the share of participants with enough answers who are flagged."""
    pairs = pd.DataFrame({"pair_id": share.index, "good_id": [f"g{i}" for i in range(len(share))]})
    pairs["bad_id"] = pairs["good_id"].str.replace("g", "b")
    flagged = []
    for _ in range(sets):
        models = draw_models(share, k, rng=rng)
        scores = pd.DataFrame({"sentence_id": [*pairs["good_id"], *pairs["bad_id"]]})
        for place in range(k):
            scores[f"model {place}"] = [*models[:, place], *(1 - models[:, place])]
        flagged.append(model_agreement(batch, scores, pairs=pairs)["flagged"].astype(bool).mean())
    return float(np.mean(flagged))


def detection(
    share: pd.Series,
    k: int,
    n: int,
    *,
    is_known: bool,
    rng: np.random.Generator,
    delegates: int = DELEGATES,
) -> float:
    """Return the share of delegates with n answers who are flagged."""
    hits = []
    for number in range(delegates):
        models = draw_models(share, k + 1, rng=rng)
        source = models[:, 0] if is_known else models[:, k]
        seen = rng.choice(len(share), n, replace=False)
        answers = np.where(rng.random(n) < 0.05, 1 - source[seen], source[seen])
        tested = delegation_test(
            answers, share.to_numpy()[seen], models[seen, :k], is_choice=True, seed=number
        )
        hits.append(tested is not None and tested[3] < LEVEL and tested[1] > tested[2])
    return float(np.mean(hits))


def rate(rng: np.random.Generator, *, people: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate ratings of people, the last of them a delegate of the first of k models, and scores."""
    quality = np.where(np.arange(n) % 2, -0.8, 0.8) + rng.normal(0, 0.5, n)
    models = 0.8 * quality[:, None] + rng.normal(0, 0.5, (n, 1)) + rng.normal(0, 0.5, (n, k))
    latent = quality + rng.normal(0, 0.3, (people, n))
    latent[-1] = models[:, 0]
    latent += rng.normal(0, 0.7, latent.shape)
    center, width = rng.normal(4, 0.5, (people, 1)), 1.3 * rng.uniform(0.7, 1.3, (people, 1))
    return np.clip(np.round(center + width * latent), 1, 7), models


def rating_rates(people: int, n: int, k: int, *, studies: int) -> dict[str, float]:
    """Return the shares of flagged people and of flagged delegates over simulated studies."""
    rng = np.random.default_rng([people, n, k])
    flagged = np.zeros((studies, people + 1))
    for study in range(studies):
        ratings, models = rate(rng, people=people + 1, n=n, k=k)
        z = (ratings - ratings.mean(axis=1, keepdims=True)) / ratings.std(axis=1, ddof=1, keepdims=True)
        for person in range(people + 1):
            others = np.delete(z, [person, people], axis=0).mean(axis=0)
            tested = delegation_test(z[person], others, models, is_choice=False)
            flagged[study, person] = tested is not None and tested[3] < LEVEL and tested[1] > tested[2]
    rates = {"false alarms": flagged[:, :-1].mean(), "delegates": flagged[:, -1].mean()}
    return {name: round(float(rate), 4) for name, rate in rates.items()}


def main_of_ratings() -> None:
    """Print a line for each design of ratings."""
    for people in (12, 30):
        for n in (20, 40, 80):
            for k in (1, 5):
                print(f"{people} people, {n} sentences, {k} models:", rating_rates(people, n, k, studies=200))


if __name__ == "__main__":
    if sys.argv[1] == "ratings":
        main_of_ratings()
        sys.exit()
    batch = read_batch(sys.argv[1])
    answers = batch.dropna(subset=["value"]).groupby("pair_id")["value"]
    share = (answers.sum() + 0.5) / (answers.count() + 1)
    enough = (batch.groupby("participant")["value"].count() >= MIN_TRIALS).sum()
    print(f"{enough} participants with at least {MIN_TRIALS} answers, {len(share)} pairs")
    for k in (1, 3, 5):
        generator = np.random.default_rng(k)
        row = {"models": k, "false alarms": round(false_alarms(batch, share, k, rng=generator), 4)}
        for n in (20, 40):
            for is_known in (True, False):
                name = f"{n} answers, {'one of them' if is_known else 'another model'}"
                row[name] = round(detection(share, k, n, is_known=is_known, rng=generator), 2)
        print(row, flush=True)
