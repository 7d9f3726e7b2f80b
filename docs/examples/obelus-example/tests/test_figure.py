import pandas as pd

from analysis.figures import Evidence
from obelus_example.figure import FIGURE, draw


def test_the_figure_has_a_bar_for_each_participant():
    judgments = pd.DataFrame({"participant": ["a", "a", "b"], "value": [1.0, 2.0, 3.0], "task": "likert"})
    evidence = Evidence(judgments=judgments)
    assert FIGURE.lacking(evidence) == ""
    assert draw(evidence).data["answers"].tolist() == [2, 1]


def test_without_judgments_it_says_what_is_missing():
    assert FIGURE.lacking(Evidence()) == "There are no judgments yet."
