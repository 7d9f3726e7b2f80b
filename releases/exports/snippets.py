"""Snippets for R and pandas that read a download and run a first analysis; pages show them beside it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.models import Experiment, Sentence

MAX_LEVELS = 6  # conditions up to which they are a predictor; above, the expected status is
IDS = ("participant", "session", "trial", "item", "condition", "sentence_id")
R, PANDAS = "R", "pandas"


EXCLUSION = "exclusion"  # column of the download that names the step; the file of a release has another
RELEASE_EXCLUSION = "excluded_by"


@dataclass(frozen=True)
class Snippet:
    """A program that runs in the folder of the downloaded file."""

    language: str
    code: str


def judgment_snippets(experiment: Experiment, file: str) -> list[Snippet]:
    """Means by condition and mixed models of the download of judgments for analysis."""
    levels = predictors(experiment)
    return [
        Snippet(R, r_judgments(experiment.task, levels, file)),
        Snippet(PANDAS, pandas_judgments(experiment.task, levels, file)),
    ]


def release_snippets(experiment: Experiment, file: str) -> list[Snippet]:
    """The same of the judgments of a release, whose file has values as given and no z."""
    levels = predictors(experiment)
    return [
        Snippet(R, r_judgments(experiment.task, levels, file, is_release=True)),
        Snippet(PANDAS, pandas_judgments(experiment.task, levels, file, is_release=True)),
    ]


def predictors(experiment: Experiment) -> dict[str, list[str]]:
    """Levels of each column that explains the answers: factors, else conditions, else expected status."""
    if experiment.materials is None or experiment.task == "forced_choice":
        return {}
    if levels := experiment.materials.levels:
        return levels
    sentences = Sentence.objects.filter(material_set=experiment.materials_id, is_filler=False)
    for name, most in (("condition", MAX_LEVELS), ("expected", 2)):
        values = sentences.exclude(**{name: ""}).exclude(**{name: Sentence.Expected.UNKNOWN})
        labels = sorted(values.order_by().values_list(name, flat=True).distinct())
        if 2 <= len(labels) <= most:
            return {name: labels}
    return {}


def r_judgments(
    task: str, levels: Mapping[str, Sequence[str]], file: str, *, is_release: bool = False
) -> str:
    """R: lme4, for scales with points also ordinal."""
    terms = [_r_name(name) for name in levels]
    fixed = " * ".join(terms) or "1"
    packages = ["lme4", *(["ordinal"] if task == "likert" else [])]
    characters = ", ".join(f'{name} = "character"' for name in IDS)
    lines = [
        *(f"library({package})  # install.packages({_quoted(package)})" for package in packages),
        "",
        f'd <- read.csv({_quoted(file)}, na.strings = "", encoding = "UTF-8", check.names = FALSE,',
        f"              colClasses = c({characters}))",
        *(_r_standardized(task) if is_release else ()),
        f'd <- subset(d, kind == "target" & is.na({_exclusion(is_release)}) & !is.na(value))',
    ]
    for name, labels in levels.items():
        column = f"d[[{_quoted(name)}]]"
        lines.append(f"{column} <- factor({column}, levels = c({', '.join(map(_quoted, labels))}))")
        if len(labels) == 2:  # an estimate is then the second level minus the first, averaged over others
            lines.append(
                f"contrasts({column}) <- matrix(c(-0.5, 0.5), 2, dimnames = list(NULL, {_quoted(labels[1])}))"
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
    ids = ", ".join(f"{_quoted(name)}: str" for name in IDS)
    lines = [
        *(["import numpy as np"] if is_release and value == "z_log" else []),
        "import pandas as pd",
        "",
        f'd = pd.read_csv({_quoted(file)}, keep_default_na=False, na_values=[""],',
        f"                dtype={{{ids}}})",
        *(_pandas_standardized(task) if is_release else ()),
        f'd = d[(d["kind"] == "target") & d["{_exclusion(is_release)}"].isna() & d["value"].notna()]',
    ]
    for name, labels in levels.items():
        order = ", ".join(map(_quoted, labels))
        lines.append(f"d[{_quoted(name)}] = pd.Categorical(d[{_quoted(name)}], [{order}], ordered=True)")
    by = f"[{', '.join(map(_quoted, levels))}]"
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
            [_quoted(label) for label in labels] for labels in levels.values()
        )
        lines += [
            "",
            "# difference of differences by participant, as on the page Effects",
            f"dd = ((cells[({plain_1}, {marked_2})] - cells[({marked_1}, {marked_2})])",
            f"      - (cells[({plain_1}, {plain_2})] - cells[({marked_1}, {plain_2})]))",
            'print(dd.agg(["mean", "sem", "count"]))',
        ]
    return "\n".join(lines) + "\n"


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


def table_snippets(file: str, *, value: str) -> list[Snippet]:
    """Read a table of results and summarize one of its numbers."""
    read_r = f'd <- read.csv({_quoted(file)}, na.strings = "", encoding = "UTF-8", check.names = FALSE)'
    read_pandas = f'd = pd.read_csv({_quoted(file)}, keep_default_na=False, na_values=[""])'
    return [
        Snippet(R, f"{read_r}\nprint(summary(d${value}))\n"),
        Snippet(PANDAS, f"import pandas as pd\n\n{read_pandas}\nprint(d[{_quoted(value)}].describe())\n"),
    ]


def surprisal_snippets(file: str, *, has_regions: bool) -> list[Snippet]:
    """Read a table of surprisals and average it by region, or by the position of words."""
    unit, group = ("region", "region") if has_regions else ("word", "position")
    # Words such as NA and None are texts, and only empty surprisals are missing.
    texts = ("sentence_id", "unit", "region", "text", "note")
    characters = ", ".join(f'{name} = "character"' for name in texts)
    strings = ", ".join(f'"{name}": str' for name in texts)
    r_lines = [
        f'd <- read.csv({_quoted(file)}, na.strings = "", encoding = "UTF-8", check.names = FALSE,',
        f"              colClasses = c({characters}))",
        "",
        f"# mean surprisal in bits by {group}",
        f'{unit}s <- subset(d, unit == "{unit}" & !is.na(surprisal_bits))',
        f"means <- aggregate(surprisal_bits ~ {group}, data = {unit}s, FUN = mean)",
        "print(means)",
    ]
    pandas_lines = [
        "import pandas as pd",
        "",
        f'd = pd.read_csv({_quoted(file)}, keep_default_na=False, na_values=[""],',
        f"                dtype={{{strings}}})",
        "",
        f"# mean surprisal in bits by {group}",
        f'{unit}s = d[d["unit"] == "{unit}"]',
        f'means = {unit}s.groupby("{group}")["surprisal_bits"].mean()',
        "print(means)",
    ]
    return [Snippet(R, "\n".join(r_lines) + "\n"), Snippet(PANDAS, "\n".join(pandas_lines) + "\n")]


def _exclusion(is_release: bool) -> str:
    return RELEASE_EXCLUSION if is_release else EXCLUSION


def _outcome(task: str) -> str:
    """The column that a first analysis averages."""
    return {"magnitude_estimation": "z_log", "likert": "z", "slider": "z"}.get(task, "value")


def _r_name(name: str) -> str:
    """A column's name in a formula; backticks allow any character but themselves."""
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{escaped}`" if not name.isidentifier() or not name.isascii() or name.startswith("_") else name


def _quoted(text: str) -> str:
    """A string literal that R and Python read alike: JSON's escapes are valid in both."""
    return json.dumps(text, ensure_ascii=False)
