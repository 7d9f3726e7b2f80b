"""Programs in R and pandas that read the judgments of a release or a download and run a first analysis."""

import json
from collections.abc import Mapping, Sequence

TEXTS = (
    *("participant", "session", "trial", "item", "condition", "sentence_id"),
    *("response", "shown_first", "list", "kind", "paradigm", "phenomenon", "expected"),
)
"""Columns whose cells are texts, whatever they look like: 01, true, NA."""
R_WORDS = frozenset(
    {
        *("if", "else", "repeat", "while", "function", "for", "next", "break", "in", "TRUE", "FALSE"),
        *("NULL", "Inf", "NaN", "NA", "NA_integer_", "NA_real_", "NA_character_", "NA_complex_"),
    }
)
EXCLUSION = "exclusion"  # column of the download that names the step; the file of a release has another
RELEASE_EXCLUSION = "excluded_by"


def r_judgments(
    task: str, levels: Mapping[str, Sequence[str]], file: str, *, is_release: bool = False
) -> str:
    """R: lme4, for scales with points also ordinal."""
    terms = [_r_name(name) for name in levels]
    fixed = " * ".join(terms) or "1"
    packages = ["lme4", *(["ordinal"] if task == "likert" else [])]
    texts = list(dict.fromkeys([*TEXTS, *levels]))
    characters = _wrap([f'{name if name in TEXTS else quote(name)} = "character"' for name in texts], 29)
    lines = [
        *(f"library({package})  # install.packages({quote(package)})" for package in packages),
        "",
        f'd <- read.csv({quote(file)}, na.strings = "", encoding = "UTF-8", check.names = FALSE,',
        f"              colClasses = c({characters}))",
        *(_r_standardized(task) if is_release else ()),
        f'd <- subset(d, kind == "target" & is.na({_exclusion(is_release)}) & !is.na(value))',
    ]
    for name, labels in levels.items():
        column = f"d[[{quote(name)}]]"
        lines.append(f"{column} <- factor({column}, levels = c({', '.join(map(quote, labels))}))")
        if len(labels) == 2:  # an estimate is then the second level minus the first, averaged over others
            lines.append(
                f"contrasts({column}) <- matrix(c(-0.5, 0.5), 2, dimnames = list(NULL, {quote(labels[1])}))"
            )
    value = _outcome(task)
    lines += ["", "# means by condition" if terms else "# overall mean"]
    lines.append(
        f"print(aggregate({value} ~ {' + '.join(terms)}, data = d, FUN = mean))"
        if terms
        else f"print(mean(d${value}, na.rm = TRUE))"
    )
    lines.append("")
    lines += _r_models(task, fixed, value)
    if terms:
        lines.append(
            f"# random slopes that the design allows: (1 + {fixed} | participant), likewise for item"
        )
    return "\n".join(lines) + "\n"


def _r_standardized(task: str) -> list[str]:
    """Compute z as the pages do; tasks without points need none."""
    value = _outcome(task)
    if value == "value":
        return []
    number = "ifelse(value > 0, log10(value / modulus), NA)" if value == "z_log" else "value"
    return [
        f'd <- subset(d, kind %in% c("target", "filler") & is.na({RELEASE_EXCLUSION}))',
        *(["d$modulus[is.na(d$modulus)] <- 1"] if value == "z_log" else []),
        f"d${value} <- with(d, ave({number}, participant,",
        "                 FUN = function(x) (x - mean(x, na.rm = TRUE)) / sd(x, na.rm = TRUE)))",
    ]


def _r_models(task: str, fixed: str, value: str) -> list[str]:
    by_both = f"{fixed} + (1 | participant) + (1 | item)"
    if task in ("forced_choice", "yes_no"):
        meaning = "the expected member was chosen" if task == "forced_choice" else "yes"
        return [
            f"# 1: {meaning}",
            "m <- glmer(value ~ " + by_both + ", data = subset(d, value %in% 0:1), family = binomial)",
            "print(summary(m))",
        ]
    lines = [
        f"# {value} has no differences between participants' means, so they have no random intercept",
        f"m <- lmer({value} ~ {fixed} + (1 | item), data = d)",
        "print(summary(m))",
    ]
    if task == "likert":
        lines += [
            "",
            "# ratings as ordered categories",
            f"o <- clmm(factor(value, ordered = TRUE) ~ {by_both}, data = d)",
            "print(summary(o))",
        ]
    return lines


def pandas_judgments(
    task: str, levels: Mapping[str, Sequence[str]], file: str, *, is_release: bool = False
) -> str:
    """pandas: means with errors over participants; of a 2×2 the difference of differences."""
    value = _outcome(task)
    texts = list(dict.fromkeys([*TEXTS, *levels]))
    lines = [
        *(["import numpy as np"] if is_release and value == "z_log" else []),
        "import pandas as pd",
        "",
        f'd = pd.read_csv({quote(file)}, keep_default_na=False, na_values=[""],',
        f"                dtype=dict.fromkeys([{_wrap(list(map(quote, texts)), 37)}], str))",
        *(_pandas_standardized(task) if is_release else ()),
        f'd = d[(d["kind"] == "target") & d["{_exclusion(is_release)}"].isna() & d["value"].notna()]',
    ]
    for name, labels in levels.items():
        order = ", ".join(map(quote, labels))
        lines.append(f"d[{quote(name)}] = pd.Categorical(d[{quote(name)}], [{order}], ordered=True)")
    by = f"[{', '.join(map(quote, levels))}]"
    if not levels:
        lines += [
            "",
            "# means by participant, and their mean and standard error",
            f'by_participant = d.groupby("participant")["{value}"].mean()',
            'means = by_participant.agg(["mean", "sem", "count"])',
            "print(means)",
        ]
        return "\n".join(lines) + "\n"
    lines += [
        "",
        "# means by participant and condition, and their mean and standard error",
        f'cells = d.pivot_table(values="{value}", index="participant", columns={by}, observed=True)',
        'means = cells.agg(["mean", "sem", "count"]).T',
        "print(means)",
    ]
    if [len(labels) for labels in levels.values()] == [2, 2]:
        (plain_1, marked_1), (plain_2, marked_2) = (
            [quote(label) for label in labels] for labels in levels.values()
        )
        lines += [
            "",
            "# difference of differences by participant, as on the page Effects",
            f"dd = ((cells[({plain_1}, {marked_2})] - cells[({marked_1}, {marked_2})])",
            f"      - (cells[({plain_1}, {plain_2})] - cells[({marked_1}, {plain_2})]))",
            'print(dd.agg(["mean", "sem", "count"]))',
        ]
    return "\n".join(lines) + "\n"


def _wrap(parts: Sequence[str], indent: int) -> str:
    """A list in lines of four, the later ones indented."""
    lines = [", ".join(parts[first : first + 4]) for first in range(0, len(parts), 4)]
    return f",\n{' ' * indent}".join(lines)


def _pandas_standardized(task: str) -> list[str]:
    """Compute z as the pages do; tasks without points need none."""
    value = _outcome(task)
    if value == "value":
        return []
    lines = [f'd = d[d["kind"].isin(["target", "filler"]) & d["{RELEASE_EXCLUSION}"].isna()]']
    if value == "z_log":
        lines += [
            'ratio = d["value"] / d["modulus"].fillna(1)',
            "d = d.assign(log10=np.log10(ratio.where(ratio > 0)))",
        ]
    number = "log10" if value == "z_log" else "value"
    return [
        *lines,
        f'by_person = d.groupby("participant")["{number}"]',
        f'd = d.assign({value}=(d["{number}"] - by_person.transform("mean")) / by_person.transform("std"))',
    ]


def _exclusion(is_release: bool) -> str:
    return RELEASE_EXCLUSION if is_release else EXCLUSION


def _outcome(task: str) -> str:
    """The column that a first analysis averages."""
    return {"magnitude_estimation": "z_log", "likert": "z", "slider": "z"}.get(task, "value")


def _r_name(name: str) -> str:
    """A column's name in a formula; backticks allow any character but themselves."""
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    is_plain = name.isidentifier() and name.isascii() and not name.startswith("_") and name not in R_WORDS
    return name if is_plain else f"`{escaped}`"


def quote(text: str) -> str:
    """A string literal that R and Python read alike: JSON's escapes are valid in both."""
    return json.dumps(text, ensure_ascii=False)
