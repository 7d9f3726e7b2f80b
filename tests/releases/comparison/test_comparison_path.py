"""How many modules a reader passes from a release and stored scores to the ADC."""

import sys
from pathlib import Path

import pytest

from analysis.comparison import criteria, report
from releases.comparison.compare import compare
from releases.models import Comparison
from tests.releases.study import judged_study, ready_release, scored

pytestmark = pytest.mark.django_db
ROOT = Path(report.__file__).parents[2]
SIDES = tuple(f"{ROOT / side}/" for side in ("analysis", "config", "experiments", "judgments", "releases"))
LIMIT = (
    24  # with analysis.pingouin_options, small-sample intervals, media columns (material_frames, table_forms)
)


def modules_entered(comparison):
    """Project modules with a function that runs from the start of ``compare`` to its finished main document.

    The main document holds every ADC: of models, chance, constants, people, with intervals and tests. What
    ``compare`` adds after it (records of the runs, largest disagreements, the in-depth part) is not counted,
    nor are libraries.
    """
    entered, is_finished = set(), False

    def profile(frame, event, argument):
        nonlocal is_finished
        if event == "call" and not is_finished and frame.f_code.co_filename.startswith(SIDES):
            entered.add(frame.f_code.co_filename)
        if event == "return" and frame.f_code is report.comparison_document.__code__:
            is_finished = True

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        compare(comparison)
    finally:
        sys.setprofile(before)
    assert is_finished
    return {str(Path(name).relative_to(ROOT)) for name in entered}


@pytest.mark.parametrize("task", ["forced_choice", "likert", "yes_no"])
def test_a_comparison_passes_few_modules_from_release_and_scores_to_the_adc(task):
    study = judged_study(task=task)
    runs = [scored(study, "bright"), scored(study, "dull")]
    options = {"deltas": [0.5, 1.0], "signs": "strict", "already_standardized": False, "seed": 0}
    comparison = Comparison.objects.create(release=ready_release(study), options=options)
    comparison.runs.set(runs)
    compare(comparison)  # warm: imports and lazy settings are no part of the path
    modules = modules_entered(comparison)
    assert str(Path(criteria.__file__).relative_to(ROOT)) in modules
    assert len(modules) <= LIMIT, sorted(modules)
