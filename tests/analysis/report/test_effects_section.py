"""The section on contrasts names each method once, and the sentence names every method that was used."""

import numpy as np
import pandas as pd

from analysis.effects.report import effects_report
from analysis.report.findings import effects_sentence, joint_cost_sentence
from analysis.report.sections.effects import effects_section
from tests.analysis.figures import examples


def choices(n_paradigms: int = 4) -> pd.DataFrame:
    """Give 24 participants; the first paradigm has one choice each, the others four."""
    rng = np.random.default_rng(5)
    people = rng.normal(0, 1, 24)
    rows = [
        (f"p{p}", f"paradigm {g}", f"{g}-{i}", float(rng.random() < 1 / (1 + np.exp(-0.8 - people[p]))))
        for p in range(24)
        for g in range(n_paradigms)
        for i in range(1 if g == 0 else 4)
    ]
    frame = pd.DataFrame(rows, columns=["participant", "paradigm", "item", "value"])
    return frame.assign(task="forced_choice", kind="target")


def numbers() -> dict:
    effects = effects_report(choices(), by="paradigm")
    return {"effects": effects, "by": "paradigm", "task": "forced_choice"}


def test_the_note_has_one_line_for_the_method_of_many_fits():
    document = numbers()
    assert len({row["logit_estimate"] for row in document["effects"]["effects"]}) >= 2
    section, _ = effects_section(document, [])
    note = next(
        block.note for block in section.blocks if getattr(block, "caption", "").startswith("The five")
    )
    assert note.count("choice ~ 1") == 1 and "optimum" not in note
    assert (
        "t of participants' shares against 1/2 (3 contrasts); exact sign test, participants (1 contrast)"
        in note
    )


def test_the_sentence_names_every_test_that_was_used():
    text = effects_sentence(numbers())
    assert "(t of participants' shares against 1/2 or exact sign test, participants)" in text
    assert text.index("over participants and items it was significant") < text.index("over these items only")


def test_a_single_contrast_of_choices_leads_with_the_mixed_model():
    rows = choices()
    effects = effects_report(rows[rows["paradigm"] == "paradigm 1"], by="paradigm")
    text = effects_sentence({"effects": effects, "by": "paradigm", "task": "forced_choice"})
    [mixed] = [row for row in effects["analyses"] if row["analysis"] == "mixed_model"]
    assert text.startswith(f"The expected contrast was {mixed['estimate']:.2f} (mixed model with crossed")
    assert "; over these items only, " in text


def test_an_interaction_whose_interval_contains_zero_is_left_open():
    mixed = {"estimate": 0.02, "ci_low": -0.3, "ci_high": 0.34, "p": 0.9}
    row = {"phenomenon": "", "first": {"marked": "island"}, "second": {"marked": "long"}, "mixed": mixed}
    row |= {"participants": mixed, "items": {"estimate": 0.02, "n": 12, "above_zero": 6}}
    text = joint_cost_sentence(row, by="phenomenon", transform="z")
    assert text.startswith("Whether island and long together cost more or less than the two predict")
    assert "is open: 0.02 z more (95 % CI −0.30 to 0.34, p = .900)" in text
    row["mixed"] = mixed | {"ci_low": 0.01}
    assert joint_cost_sentence(row, by="phenomenon", transform="z").startswith(
        "Island and long together cost"
    )


def test_a_design_without_contrast_is_not_explained_by_a_constant_rater():
    rows = examples.factorial()
    rows.loc[rows["participant"] == "p0", "value"] = 4.0
    effects = effects_report(rows.assign(paradigm=""), by="paradigm", factors=examples.FACTORS)
    document = {"effects": effects, "by": "paradigm", "task": "likert"}
    first, second, *_ = effects_section(document, [])[0].blocks
    assert first.text.startswith("Not estimable: no contrast of acceptable and unacceptable sentences")
    assert "The difference of differences of structure × distance, the cost of " in second.text
    assert second.text.endswith("; 11 participants and 8 items).")
