"""Compare planned power with the share of simulated studies that the default analysis detects.

Run ``python -m benchmarks.analysis.bench_power [STUDIES]``; one line per design. Judgments are simulated one
by one with the variation of the plan and analysed as pages and reports do it, ratings as z among 16 fillers:
the mixed model of a contrast, of choices, of yes-no answers and of a 2×2 design, and inclusion of paradigms.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys

import numpy as np
import pandas as pd

from analysis.agreement.report import agreement_report
from analysis.effects.contrast_models import contrast_model
from analysis.effects.factorial import difference_of_differences
from analysis.effects.factors import Factor
from analysis.effects.five_analyses import choice_tests, contrast_rows
from analysis.effects.report import scored_targets
from analysis.power.simulation import Design, Noise, choices, prospective_power

FACTORS = {name: Factor(name, "plain", "marked") for name in ("first", "second")}
FILLERS = 16
DESIGNS = (
    # task, test, participants, items, lists, effect, SD between participants, SD between items
    ("likert", "t", 20, 8, 2, 0.35, 0.0, 0.0),
    ("likert", "t", 20, 8, 2, 0.35, 0.2, 0.3),
    ("likert", "t", 30, 8, 2, 0.30, 0.0, 0.0),
    ("likert", "t", 20, 4, 2, 0.50, 0.2, 0.3),
    ("likert", "t", 8, 12, 2, 0.50, 0.35, 0.3),
    ("likert", "t", 40, 12, 2, 0.30, 0.35, 0.3),
    ("likert", "t", 30, 16, 4, 0.40, 0.35, 0.3),
    ("forced_choice", "t", 20, 4, 1, 0.40, 0.2, 0.3),
    ("forced_choice", "t", 20, 12, 1, 0.20, 0.2, 0.3),
    ("forced_choice", "t", 40, 12, 1, 0.15, 0.2, 0.3),
    ("forced_choice", "t", 24, 8, 8, 0.50, 0.2, 0.3),
    ("yes_no", "t", 20, 12, 2, 0.40, 0.2, 0.3),
    ("yes_no", "t", 30, 8, 2, 0.40, 0.2, 0.3),
    ("likert", "interaction", 24, 16, 4, 0.60, 0.4, 0.45),
    ("likert", "interaction", 40, 12, 4, 0.50, 0.4, 0.45),
    ("forced_choice", "inclusion", 20, 5, 1, 0.20, 0.2, 0.3),
    ("forced_choice", "inclusion", 20, 5, 1, 0.40, 0.2, 0.3),
)


def ratings(design: tuple, rng: np.random.Generator) -> pd.DataFrame:
    """Simulate ratings of a Latin square of two conditions or of four cells; yes-no: above the middle."""
    task, test, people, items, lists, effect, person_sd, item_sd = design
    n_cells = 4 if test == "interaction" else 2
    person, item, cell = (axis.ravel() for axis in np.indices((people, items, n_cells)))
    shown = (item + cell * lists // n_cells) % lists == person % lists
    person, item, cell = person[shown], item[shown], cell[shown]
    sign = np.array([1, -1] if n_cells == 2 else [1, -1, -1, 1])[cell]
    own = effect + rng.normal(0, person_sd, people)[person] + rng.normal(0, item_sd, items)[item]
    value = rng.normal(0, 0.25, items)[item] + sign * own / n_cells + rng.normal(0, 0.68, len(sign))
    rows = pd.DataFrame(
        {
            "participant": "p" + pd.Series(person.astype(str)),
            "item": "i" + pd.Series(item.astype(str)),
            "value": (value > 0).astype(float) if task == "yes_no" else value,
            "expected": np.where(cell % 2, "unacceptable", "acceptable"),
            # (plain, marked) - (marked, marked) - ((plain, plain) - (marked, plain)) is the effect
            "first": np.array(["plain", "marked", "plain", "marked"])[cell],
            "second": np.array(["marked", "marked", "plain", "plain"])[cell],
            "task": task,
            "phenomenon": "a",
            "condition": cell.astype(str),
            "kind": "target",
        }
    )
    if task == "yes_no":
        return rows
    person = np.repeat(np.arange(people), FILLERS)
    fillers = pd.DataFrame(
        {"participant": [f"p{number}" for number in person], "kind": "filler", "item": "f"}
    )
    fillers["value"] = rng.normal(0, 0.9, len(person))
    return pd.concat([rows, fillers.assign(task=task)], ignore_index=True)


def forced_choices(design: tuple, rng: np.random.Generator) -> pd.DataFrame:
    """Simulate choices, by the model of the plan."""
    _, _, people, items, lists, effect, person_sd, item_sd = design
    noise = Noise(item_effect=item_sd, participant_effect=person_sd)
    right = choices(Design("forced_choice", effect, people, items, lists), noise, size=1, rng=rng)[0]
    person, item = np.nonzero(np.arange(items) % lists == np.arange(people)[:, None] % lists)
    frame = pd.DataFrame({"participant": person, "item": item}).astype(str)
    return frame.assign(
        value=right[person, item].astype(float), task="forced_choice", phenomenon="a", paradigm="a"
    )


def is_detected(design: tuple, rng: np.random.Generator) -> bool:
    """Simulate a study and analyse it as pages and reports do."""
    task, test = design[:2]
    if test == "inclusion":
        report = agreement_report(forced_choices(design, rng), rule="blimp", draws=0)
        return bool(report["paradigms"][0]["included"])
    rows = forced_choices(design, rng) if task == "forced_choice" else ratings(design, rng)
    if test == "interaction":
        scored = scored_targets(rows, "z")
        model = difference_of_differences(scored, **FACTORS, value="score", random=None).estimate
        return bool(model.p is not None and model.p < 0.05 and model.estimate > 0)
    scored = next(contrast_rows(rows, by="phenomenon", transform="z"))[2]
    if task == "forced_choice":
        result = choice_tests(scored, task=task, random=None)[0][-1]
    else:
        result = contrast_model(
            scored, (scored["expected"] == "acceptable").to_numpy(), task=task, random=None
        )
    return bool(result["p"] is not None and result["p"] < 0.05 and result["estimate"] > 0)


def main() -> None:
    """Print planned and realized power of every design, and the simulation error of the latter."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for design in DESIGNS:
        task, test, people, items, lists, effect, person_sd, item_sd = design
        noise = Noise(item_effect=item_sd, participant_effect=person_sd)
        plan = prospective_power(
            task, effect, participants=[people], items=[items], lists=lists, noise=noise, test=test
        )
        rng = np.random.default_rng([people, items, lists])
        realized = np.mean([is_detected(design, rng) for _ in range(studies)])
        error = np.sqrt(realized * (1 - realized) / studies)
        plan_words = f"{task} {test}, {people} x {items}, {lists} lists, effect {effect:g}"
        print(
            f"{plan_words}, SD {person_sd:g} {item_sd:g}: planned {plan['designs'][0]['power']:.3f}, "
            f"realized {realized:.3f} (error {error:.3f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
