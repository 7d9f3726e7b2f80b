import pandas as pd

from obelus_example.statistic import answered_share


def test_the_share_counts_answered_trials_of_each_participant():
    judgments = pd.DataFrame({"participant": ["a", "a", "b"], "value": [1.0, None, 2.0]})
    assert answered_share(judgments).to_dict("list") == {"participant": ["a", "b"], "share": [0.5, 1.0]}
