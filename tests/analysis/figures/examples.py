"""Small made-up studies for the figures' tests: every task, catch trials, times, models."""

import numpy as np
import pandas as pd

PEOPLE, ITEMS = 12, 8


def ratings(seed: int = 0) -> pd.DataFrame:
    """Give Likert ratings of two phenomena, both sides of every item, with two catch trials each."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(PEOPLE):
        position = 0
        for phenomenon in ("islands", "binding"):
            for item in range(ITEMS):
                for expected, centre in (("acceptable", 5.5), ("unacceptable", 2.5)):
                    position += 1
                    value = float(np.clip(round(rng.normal(centre, 1.2)), 1, 7))
                    name = f"{phenomenon}-{item}"
                    rows.append((person, position, "target", phenomenon, name, expected, value, None))
        for right in (True, person != 0):
            position += 1
            rows.append((person, position, "catch", "", "catch", "", 7.0 if right else 1.0, right))
    columns = ["participant", "position", "kind", "phenomenon", "item", "expected", "value", "correct"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(
        participant="p" + frame["participant"].astype(str), task="likert", paradigm=frame["phenomenon"],
        condition=frame["phenomenon"] + " " + frame["expected"], scale_low=1, scale_high=7,
        sentence_id=frame["item"] + "-" + frame["expected"],
        rt_ms=np.round(np.exp(rng.normal(8, 0.5, len(frame)))),
    )  # fmt: skip


FACTORS = {"structure": ["non-island", "island"], "distance": ["short", "long"]}


def factorial(seed: int = 0) -> pd.DataFrame:
    """Give ratings of a 2×2 design in a Latin square, its factors as columns."""
    rng = np.random.default_rng(seed)
    cells = [(structure, distance) for structure in FACTORS["structure"] for distance in FACTORS["distance"]]
    rows = []
    for person in range(PEOPLE):
        for item in range(ITEMS):
            structure, distance = cells[(person + item) % 4]
            cost = (structure == "island") + (distance == "long") * (2 if structure == "island" else 1)
            value = float(np.clip(round(rng.normal(6 - cost, 1)), 1, 7))
            rows.append((f"p{person}", f"i{item}", structure, distance, value))
    frame = pd.DataFrame(rows, columns=["participant", "item", "structure", "distance", "value"])
    return frame.assign(
        task="likert", kind="target", expected="", condition=frame["structure"] + ":" + frame["distance"]
    )


def magnitudes(seed: int = 0) -> pd.DataFrame:
    """Give the same as magnitude estimates, with a modulus of 100."""
    frame = ratings(seed)
    return frame.assign(task="magnitude_estimation", value=100 * 2 ** (frame["value"] - 4), modulus=100.0)


def choices(seed: int = 0) -> pd.DataFrame:
    """Give forced choices of three paradigms, with both sides and a catch trial."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(PEOPLE):
        for paradigm, share in (("a1", 0.95), ("a2", 0.8), ("b1", 0.5)):
            for item in range(ITEMS):
                rows.append(
                    (person, "target", paradigm, f"{paradigm}-{item}", float(rng.random() < share), None)
                )
        rows.append((person, "catch", "", "catch", 1.0, person != 0))
    columns = ["participant", "kind", "paradigm", "item", "value", "correct"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(
        participant="p" + frame["participant"].astype(str), task="forced_choice",
        phenomenon=frame["paradigm"].str[:1], expected_first=rng.random(len(frame)) < 0.5,
        rt_ms=np.round(np.exp(rng.normal(8, 0.5, len(frame)))), status="answered",
    )  # fmt: skip


def divided() -> pd.DataFrame:
    """Give choices of two dialects, each by twice as many participants."""
    parts = [
        choices(seed).assign(
            participant=lambda rows, seed=seed: f"{seed}" + rows["participant"],
            dialect="north" if seed % 2 else "south",
        )
        for seed in range(4)
    ]
    return pd.concat(parts, ignore_index=True)


def models(seed: int = 0) -> dict[str, pd.DataFrame]:
    """Give people's scores, pairs of four paradigms and two models."""
    rng = np.random.default_rng(seed)
    good, bad = [f"g{i}" for i in range(60)], [f"b{i}" for i in range(60)]
    pairs = pd.DataFrame({
        "pair_id": [f"p{i}" for i in range(60)], "good_id": good, "bad_id": bad,
        "paradigm": [f"paradigm {i % 4}" for i in range(60)], "phenomenon": [f"f{i % 2}" for i in range(60)],
    })  # fmt: skip
    score = np.concatenate([rng.normal(0.6, 0.4, 60), rng.normal(-0.6, 0.4, 60)])
    human = pd.DataFrame({"sentence_id": good + bad, "score": score, "n": 10, "sd": 0.5})
    noisy = {"bright": score + rng.normal(size=120), "dull": score + rng.normal(0, 4, size=120)}
    return {"human": human, "pairs": pairs, "scores": pd.DataFrame({"sentence_id": good + bad, **noisy})}


def pair_choices(seed: int = 0) -> pd.DataFrame:
    """Give choices of people of different ability between the members of the pairs of :func:`models`."""
    person, pair = (axis.ravel() for axis in np.indices((PEOPLE, 60)))
    rng = np.random.default_rng(seed)
    chance = 1 / (1 + np.exp(-rng.normal(0.5, 1, PEOPLE)[person] + rng.normal(0, 1, 60)[pair]))
    names = {"participant": [f"q{k}" for k in person], "pair_id": [f"p{k}" for k in pair]}
    value = (rng.random(len(pair)) < chance).astype(float)
    return pd.DataFrame(names).assign(item=lambda rows: rows["pair_id"], value=value, task="forced_choice")


def rated_models(seed: int = 0) -> dict[str, pd.DataFrame]:
    """Give people's scores, eight clusters of pairs, one model's measures, and ratings of every sentence."""
    rng = np.random.default_rng(seed)
    good, bad = [f"g{i}" for i in range(24)], [f"b{i}" for i in range(24)]
    pairs = pd.DataFrame({
        "pair_id": [f"p{i}" for i in range(24)], "good_id": good, "bad_id": bad,
        "paradigm": [f"paradigm {i % 8}" for i in range(24)], "phenomenon": [f"f{i % 8}" for i in range(24)],
    })  # fmt: skip
    tokens, score = rng.integers(5, 12, 48), np.repeat([0.6, -0.6], 24) + rng.normal(0, 0.3, 48)
    lp = -tokens * (3 - 0.5 * score + rng.normal(0, 0.2, 48))
    scores = pd.DataFrame({
        "sentence_id": good + bad, "near:lp": lp, "near:meanlp": lp / tokens,
        "near:slor": (lp + tokens * rng.uniform(6, 8, 48)) / tokens,
    })  # fmt: skip
    person, sentence = (axis.ravel() for axis in np.indices((PEOPLE, 48)))
    judgments = pd.DataFrame({
        "participant": [f"q{k}" for k in person], "sentence_id": [(good + bad)[k] for k in sentence],
        "item": [f"i{k % 24}" for k in sentence], "task": "slider", "position": rng.permutation(len(person)),
        "value": 50 + 20 * score[sentence] + rng.normal(0, 8, len(person)),
    })  # fmt: skip
    human = pd.DataFrame({"sentence_id": good + bad, "score": score, "n": PEOPLE, "sd": 0.5})
    return {"human": human, "pairs": pairs, "scores": scores, "judgments": judgments}


def learning() -> pd.DataFrame:
    """Give accuracies of models of four sizes on two phenomena."""
    rows = [
        (f"m{size}", size * 1e6, name, 0.5 + slope * np.log2(size) + 0.01 * (size % 3))
        for size in (1, 2, 4, 8)
        for name, slope in (("islands", 0.01), ("binding", 0.08))
    ]
    return pd.DataFrame(rows, columns=["model", "tokens", "phenomenon", "accuracy"])


def designs() -> pd.DataFrame:
    """Give the power of six planned designs."""
    rows = [(n, items, min(0.99, n * items / 300), 0.01, 0.5) for items in (4, 8) for n in (10, 20, 30)]
    return pd.DataFrame(rows, columns=["participants", "items", "power", "mc_error", "effect"])


def sessions():
    """Six people who came every ten minutes; the last one is still at it."""
    started = pd.date_range("2026-11-02T09:00", periods=6, freq="10min", tz="UTC")
    completed = pd.Series(started + pd.to_timedelta([5, 6, 7, 8, 30, 9], unit="min"))
    return pd.DataFrame({"started_at": started, "completed_at": completed.where(completed.index < 5)})
