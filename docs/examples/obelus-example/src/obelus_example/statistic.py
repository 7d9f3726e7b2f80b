"""A statistic: a function from judgments to a table."""

import pandas as pd


def answered_share(judgments: pd.DataFrame) -> pd.DataFrame:
    """The share of answered trials of each participant."""
    answered = judgments["value"].notna()
    return answered.groupby(judgments["participant"]).mean().rename("share").reset_index()
