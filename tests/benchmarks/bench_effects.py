"""Time mixed models, alpha and power beside other programs, with equal results, in one run.

Run it as ``python tests/benchmarks/bench_effects.py``; it prints one line for each. The mixed model meets
statsmodels with crossed variance components of one group: the right way to ask it.
"""

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from analysis.aggregation.dawid_skene import one_coin  # noqa: E402
from analysis.agreement.chance_corrected import krippendorff_alpha  # noqa: E402
from analysis.agreement.split_half import split_half  # noqa: E402
from analysis.effects.mixed import mixed_model  # noqa: E402
from analysis.effects.resampling import resampled_power  # noqa: E402


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Give the seconds of one call and what it returned."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def ratings(people: int, items: int, each: int, *, rng: np.random.Generator) -> pd.DataFrame:
    """Simulate a Latin square: every person rates ``each`` of the items in one of two conditions."""
    person = np.repeat(np.arange(people), each)
    item = np.concatenate([rng.permutation(items)[:each] for _ in range(people)])
    condition = (person + item) % 2
    level = rng.normal(0, 0.5, people)[person] + rng.normal(0, 0.3, items)[item]
    value = level + condition + rng.normal(0, 0.7, len(person))
    return pd.DataFrame({"participant": person, "item": item, "condition": condition, "value": value})


def mixed_against_statsmodels(rng: np.random.Generator) -> str:
    """Fit the same rows with both; the estimates must agree."""
    rows = ratings(100, 32, 32, rng=rng)
    ours, fit = timed(lambda: mixed_model(rows))
    parts = {"p": "0 + C(participant)", "i": "0 + C(item)"}
    model = smf.mixedlm("value ~ condition", rows.assign(one=1), groups="one", vc_formula=parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, other = timed(model.fit)
    gap = abs(fit["condition"].se - other.bse["condition"])
    assert abs(fit["condition"].estimate - other.params["condition"]) < 1e-4 and gap < 1e-4
    return f"mixed model, {len(rows)} rows: {ours:.3f} s = {theirs / ours:.0f} x statsmodels ({theirs:.2f} s)"


def mixed_alone(rng: np.random.Generator) -> str:
    """Fit what the other cannot."""
    shapes = [(200, 60, 60), (1000, 100, 100), (2000, 500, 50)]
    lines = []
    for people, items, each in shapes:
        rows = ratings(people, items, each, rng=rng)
        lines.append(f"{len(rows)} rows {timed(lambda rows=rows: mixed_model(rows))[0]:.2f} s")
    return f"mixed model alone: {', '.join(lines)}"


def alpha_against_krippendorff(rng: np.random.Generator) -> str:
    """Compute the same alpha on z-like numbers, of which every one is different."""
    lines = []
    data = np.round(rng.normal(size=(20, 300)) + rng.normal(size=300), 2)
    answers = pd.DataFrame({"unit": np.tile(np.arange(300), 20), "value": data.ravel()})
    for level in ("nominal", "ordinal", "interval"):
        ours, found = timed(lambda level=level: krippendorff_alpha(answers, level=level).value)
        theirs, other = timed(
            lambda level=level: krippendorff.alpha(reliability_data=data, level_of_measurement=level)
        )
        assert abs(found - other) < 1e-9
        lines.append(f"{level} {ours:.4f} s = {theirs / ours:.0f} x")
    return f"alpha, {data.size} answers: {', '.join(lines)} the package krippendorff"


def power_alone(rng: np.random.Generator) -> str:
    """50 phenomena, 20 sizes, 1,000 draws each."""
    pilot = pd.DataFrame(rng.normal(rng.uniform(0.1, 1, 50), 1, size=(144, 50)))
    seconds, table = timed(lambda: resampled_power(pilot, range(5, 105, 5), draws=1000))
    assert len(table) == 1000
    return f"power, 50 phenomena x 20 sizes x 1,000 draws: {seconds:.2f} s"


def others(rng: np.random.Generator) -> str:
    """Split halves and annotators."""
    rows = ratings(300, 400, 60, rng=rng)
    halves = timed(lambda: split_half(rows.assign(list=rows["participant"] % 8), unit="item"))[0]
    labels = rows.assign(value=(rows["value"] > 0.5).astype(int))
    coin = timed(lambda: one_coin(labels))[0]
    return f"{len(rows)} rows: split half, 1,000 splits {halves:.2f} s, one coin {coin:.2f} s"


def main() -> None:
    """Print one line for each."""
    for measure in (mixed_against_statsmodels, mixed_alone, alpha_against_krippendorff, power_alone, others):
        print(measure(np.random.default_rng(1)), flush=True)


if __name__ == "__main__":
    main()
