"""Time mixed models, alpha and power beside other programs, with equal results, in one run.

Run it as ``python benchmarks/analysis/bench_effects.py``; it prints a line for each: value, bound where
there is one, ratio to the peer, largest difference between results. statsmodels is asked for crossed variance
components of one group: the right way to ask it. crowd-kit is taken from here or from the interpreter that
``BENCH_CROWDKIT_PYTHON`` names. Both sides of a ratio are CPU seconds of one thread, the best of some runs.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from analysis.aggregation.dawid_skene import dawid_skene, one_coin  # noqa: E402
from analysis.mixed_models.linear import MixedFit, mixed_model  # noqa: E402
from analysis.mixed_models.structures import fit_largest  # noqa: E402
from analysis.power.pilot import resampled_power  # noqa: E402
from analysis.reliability.chance_corrected import krippendorff_alpha  # noqa: E402
from analysis.reliability.split_half import split_half  # noqa: E402

STUDIES = 400


def timed(work: Callable[[], object], *, runs: int = 1) -> tuple[float, object]:
    """Give the CPU seconds of the quickest call, as others share the machine, and what the last returned."""
    best, result = float("inf"), None
    for _ in range(runs):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


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
    our_s, fit = timed(lambda: mixed_model(rows), runs=3)
    parts = {"p": "0 + C(participant)", "i": "0 + C(item)"}
    model = smf.mixedlm("value ~ condition", rows.assign(one=1), groups="one", vc_formula=parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        statsmodels_s, other = timed(model.fit)
    estimate = abs(fit["condition"].estimate - other.params["condition"])
    gap = max(estimate, abs(fit["condition"].se - other.bse["condition"]))
    assert gap < 1e-4
    return (
        f"mixed model, {len(rows)} rows: {our_s:.3f} s = {statsmodels_s / our_s:.0f} x statsmodels MixedLM "
        f"({statsmodels_s:.2f} s); estimate and SE differ by at most {gap:.0e}"
    )


def mixed_alone(rng: np.random.Generator) -> str:
    """Fit what the other cannot."""
    shapes = [(200, 60, 60), (1000, 100, 100), (2000, 500, 50)]
    lines = []
    for people, items, each in shapes:
        rows = ratings(people, items, each, rng=rng)
        rows["condition"] -= 0.5
        slopes, fit = timed(lambda rows=rows: largest(rows))
        lines.append(
            f"{len(rows)} rows {timed(lambda rows=rows: mixed_model(rows))[0]:.2f} s, structure chosen "
            f"{slopes:.2f} s ({fit.structure})"
        )
    return f"mixed model alone: {', '.join(lines)}"


def largest(rows: pd.DataFrame) -> MixedFit:
    """Fit the largest structure that the data support."""
    return fit_largest(
        lambda terms, start: mixed_model(rows, random=terms, start=start), rows, slopes=("condition",)
    )


def errors_of_the_first_kind(rng: np.random.Generator) -> str:
    """Count studies without an effect that are significant, by random structure.

    30 people rate 16 items in one condition each (a Latin square); the effect is 0 on average, its SD between
    people 0 or .4, and the residual SD .7.
    """
    lines = []
    for sd in (0.0, 0.4):
        significant = np.zeros(2)
        for _ in range(STUDIES):
            rows = ratings(30, 16, 16, rng=rng)
            effect = rng.normal(0, sd, 30)[rows["participant"]]
            rows["value"] += (effect - 1) * rows["condition"]
            rows["condition"] -= 0.5
            significant += [fit(rows)["condition"].p < 0.05 for fit in (mixed_model, largest)]
        shares = significant / STUDIES
        lines.append(
            f"SD {sd:g}: {shares[0]:.1%} with intercepts alone, {shares[1]:.1%} with what the data allow"
        )
    return f"errors of the first kind at .05 in {STUDIES} studies: {'; '.join(lines)}"


def alpha_against_krippendorff(rng: np.random.Generator) -> str:
    """Compute the same alpha: of z-like numbers, of which nearly every one is different, and of ratings.

    The package is given the matrix of people by units that it wants; making that of the long frame, as its
    users must, is told beside it.
    """
    lines = []
    z = np.round(rng.normal(size=(20, 300)) + rng.normal(size=300), 2)
    points = np.clip(np.round(rng.normal(4, 1, (400, 1000)) + rng.normal(size=1000)), 1, 7)
    for data, words in ((z, "different numbers"), (points, "points of 7")):
        n_people, n_units = data.shape
        answers = pd.DataFrame(
            {
                "participant": np.repeat(np.arange(n_people), n_units),
                "unit": np.tile(np.arange(n_units), n_people),
                "value": data.ravel(),
            }
        )
        wide = timed(lambda rows=answers: rows.pivot(index="participant", columns="unit"), runs=3)[0]
        comparisons = []
        for level in ("nominal", "ordinal", "interval"):
            our_s, our_alpha = timed(
                lambda level=level, answers=answers: krippendorff_alpha(answers, level=level).value, runs=9
            )
            package_s, other = timed(
                lambda level=level, data=data: krippendorff.alpha(
                    reliability_data=data, level_of_measurement=level
                ),
                runs=3,
            )
            gap = abs(our_alpha - other)
            assert gap < 1e-9
            comparisons.append(
                f"{level} {our_s:.4f} s = {package_s / our_s:.1f} x, with the matrix to make "
                f"{(package_s + wide) / our_s:.1f} x (differ by {gap:.0e})"
            )
        lines.append(f"alpha, {data.size} {words}: {', '.join(comparisons)} the package krippendorff")
    return "\n".join(lines)


def annotators_against_crowdkit(rng: np.random.Generator) -> str:
    """Fit full confusion matrices and one coin with both, the same number of steps from the same start.

    crowd-kit's coin estimates the shares of the classes too and knows no prior of skill: ours is told
    none, and the rest of the difference is the shares, which we take as equal.
    """
    python = os.environ.get("BENCH_CROWDKIT_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import crowdkit"], capture_output=True, check=False).returncode:
        return (
            "Dawid-Skene: crowd-kit is not here; python -m venv FOLDER && FOLDER/bin/pip install "
            "crowd-kit==1.4.2, then BENCH_CROWDKIT_PYTHON=FOLDER/bin/python"
        )
    rows = labels_of_items(rng)
    steps, lines = 100, []
    for name, fit, most in (
        ("DawidSkene", lambda: dawid_skene(rows, tol=0, max_steps=steps), 1e-6),
        ("OneCoinDawidSkene", lambda: one_coin(rows, right=0, wrong=0, tol=0, max_steps=steps), 0.05),
    ):
        crowdkit_s, other = _by_crowdkit(python, name, rows, steps)
        our_s, our_fit = timed(fit, runs=3)
        our_posteriors = (
            our_fit.items.assign(item=our_fit.items["item"].astype(int)).set_index("item").sort_index()
        )
        our_posteriors = our_posteriors[[f"p_{label}" for label in range(3)]].to_numpy()
        gap, same = (
            np.abs(our_posteriors - other),
            np.mean(our_posteriors.argmax(axis=1) == other.argmax(axis=1)),
        )
        assert gap.max() < most and same > 0.999, (gap.max(), same)
        lines.append(
            f"{name}, {len(rows)} answers, {steps} steps: {our_s:.2f} s = {crowdkit_s / our_s:.1f} x "
            f"crowd-kit ({crowdkit_s:.2f} s); posteriors differ by at most {gap.max():.0e}, on average "
            f"{gap.mean():.0e}; {same:.2%} of labels alike"
        )
    return "\n".join(lines)


def labels_of_items(rng: np.random.Generator) -> pd.DataFrame:
    """Simulate 60,000 answers of 300 people, of different skill, to 2,000 items of three classes."""
    truth, skill = rng.integers(3, size=2000), rng.uniform(0.5, 0.95, 300)
    person, item = np.repeat(np.arange(300), 200), rng.integers(2000, size=60_000)
    right = rng.random(60_000) < skill[person]
    value = np.where(right, truth[item], (truth[item] + rng.integers(1, 3, 60_000)) % 3)
    rows = pd.DataFrame({"item": item, "participant": person, "value": value})
    return rows.drop_duplicates(["item", "participant"])


def _by_crowdkit(python: str, model: str, rows: pd.DataFrame, steps: int) -> tuple[float, np.ndarray]:
    script = Path(__file__).parents[1] / "peers" / "crowdkit_dawid_skene.py"
    with tempfile.TemporaryDirectory() as folder:
        answers, posterior_file = Path(folder) / "answers.csv", Path(folder) / "posteriors.csv"
        rows.to_csv(answers, index=False)
        command = [python, str(script), model, str(answers), str(steps), str(posterior_file)]
        process = subprocess.run(command, capture_output=True, text=True, check=True)
        posteriors = pd.read_csv(posterior_file, index_col="task").sort_index()
    return float(process.stdout.split()[-1]), posteriors[["0", "1", "2"]].to_numpy()


def power_alone(rng: np.random.Generator) -> str:
    """50 phenomena, 20 sizes, 1,000 draws each."""
    pilot = pd.DataFrame(rng.normal(rng.uniform(0.1, 1, 50), 1, size=(144, 50)))
    seconds, table = timed(lambda: resampled_power(pilot, range(5, 105, 5), draws=1000), runs=3)
    assert len(table) == 1000
    return f"power, 50 phenomena x 20 sizes x 1,000 draws: {seconds:.2f} s (bound 1 s)"


def other_comparisons(rng: np.random.Generator) -> str:
    """Split halves."""
    rows = ratings(300, 400, 60, rng=rng)
    halves = timed(lambda: split_half(rows.assign(list=rows["participant"] % 8), unit="item"))[0]
    return f"{len(rows)} rows: split half, 1,000 splits {halves:.2f} s"


def main() -> None:
    """Print one line for each."""
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for measure in (
        mixed_against_statsmodels,
        mixed_alone,
        errors_of_the_first_kind,
        alpha_against_krippendorff,
        annotators_against_crowdkit,
        power_alone,
        other_comparisons,
    ):
        print(measure(np.random.default_rng(1)), flush=True)


if __name__ == "__main__":
    main()
