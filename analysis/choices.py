"""Values of the reports' options, as commands, pages and the API offer them.

Imports nothing: the help of a command and a form need no numerical library.
"""

TIES = ("strict", "half", "drop")
INTERVAL_METHODS = {
    "auto": "below 40 participants Wilson with the effective number of judgments, else percentile bootstrap",
    "wilson": "Wilson with the effective number of judgments",
    "percentile": "percentile bootstrap",
    "bootstrap-t": "bootstrap-t",
    "bca": "BCa bootstrap",
}
"""Methods of intervals over participants."""

PROGRESS_RULE = "blimp"
MORE, MAX_MORE = 5, 100
"""Further judgments of every item to look ahead, in a running study."""

TRANSFORMS = ("z", "z-log", "raw", "robust-z", "rank-normal")
ZEROS = ("keep", "leave-out")
"""What becomes of estimates of zero: kept in raw numbers and z, or left out; logarithms never have them."""

BY = ("phenomenon", "paradigm")
SLOPES = ("auto", "none", "participant", "item", "participant,item")
CORRECTION_NAMES = {"holm": "Holm", "bh": "Benjamini–Hochberg"}
"""Corrections for several tests; the adjusted p value has the column ``p_`` and the key."""

CODINGS = ("label_blind", "expected")

MULTIVERSE_EFFECTS = ("contrast", "interaction")
MULTIVERSE_MODELS = {
    "participants": "t by participants",
    "items": "t by items",
    "mixed": "mixed model, intercepts",
    "mixed-slopes": "mixed model, largest supported slopes",
}

STOPPING_THRESHOLD, STOPPING_PARTICIPANTS = 10.0, 20
"""Bayes factor at which a sequential design stops, from the least number of participants on."""

POWER_TARGET = 0.8
POWER_SIZES = (10, 15, 20, 25, 30, 40, 50, 75, 100)
POWER_MODELS = {
    "forced_choice": "forced_choice",
    "likert": "likert",
    "slider": "likert",
    "magnitude_estimation": "likert",
    "best_worst": "likert",
    "yes_no": "yes_no",
}
"""Simulation model of each task: choices, continuous ratings, or ratings cut in the middle."""
POWER_TESTS = ("t", "interaction", "inclusion", "anova", "anova_between")
POWER_ANALYSES = ("mixed", "participants")

SCORE_SIGNS = ("higher", "lower")
"""Which scores mean a better sentence."""
LEADERBOARD_SORT = "blimp"
