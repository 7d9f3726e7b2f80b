"""Human scores of sentences from a release's tables, for comparison with models."""

import pandas as pd

from ..aggregation.proportions import share_sd
from ..rows import RATING_TASKS
from .writers import round_computed


def human_table(sentences: pd.DataFrame, pairs: pd.DataFrame, *, task: str) -> pd.DataFrame:
    """Compute one human score per sentence, the content of the ``human`` file.

    Notes
    -----
    ``sentence_id``, ``score``, ``n``, ``sd`` (in units of the score), judged sentences only, ordered by
    ``sentence_id``; empty if all shares are equal.

    A share p becomes (p - mean) / SD (ddof 0), because an acceptability delta criterion compares
    standardized differences; sd is divided by the same SD.
    """
    if task == "yes_no" or task in RATING_TASKS:
        frame = sentences[["sentence_id", "human_mean", "human_n", "human_sd"]]
        frame = frame.set_axis(["sentence_id", "score", "n", "sd"], axis=1)
    else:
        frame = _chosen_shares(pairs)
    judged = frame[frame["score"].notna()].sort_values("sentence_id", ignore_index=True)
    return judged if task in RATING_TASKS else _standardized_shares(judged)


def _chosen_shares(pairs: pd.DataFrame) -> pd.DataFrame:
    judged = pairs[pairs["human_n"].fillna(0) > 0]
    n, k = judged["human_n"].astype(int), judged["human_k"].astype(int)
    halves = (judged["human_share"].astype(float) * n - k).round(
        1
    )  # "both" and "neither" counted as one half
    against = judged["human_k_bad"].astype(int) if "human_k_bad" in judged.columns else n - k
    good = pd.DataFrame({"sentence_id": judged["good_id"], "k": k + halves, "n": n})
    bad = pd.DataFrame({"sentence_id": judged["bad_id"], "k": against + halves, "n": n})
    totals = pd.concat([good, bad]).groupby("sentence_id", observed=True)[["k", "n"]].sum().reset_index()
    share = (totals["k"] / totals["n"]).astype(float)
    sd = pd.Series(share_sd(share.to_numpy(), totals["n"].to_numpy()))
    return pd.DataFrame(
        {
            "sentence_id": totals["sentence_id"],
            "score": round_computed(share),
            "n": totals["n"],
            "sd": round_computed(sd),
        }
    )


def _standardized_shares(judged: pd.DataFrame) -> pd.DataFrame:
    score = judged["score"].astype(float)
    spread = float(score.std(ddof=0)) if len(score) else 0.0
    if spread == 0:
        return judged.iloc[:0]
    standardized = round_computed((score - score.mean()) / spread)
    return judged.assign(score=standardized, sd=round_computed(judged["sd"].astype(float) / spread))
