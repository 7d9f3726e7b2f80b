"""Snippets for R and pandas that read a download and run a first analysis; pages show them beside it."""

from dataclasses import dataclass

from analysis.gold.programs import pandas_judgments, quote, r_judgments
from experiments.models import Experiment
from releases.gold.describe import predictors

R, PANDAS = "R", "pandas"


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


def table_snippets(file: str, *, value: str) -> list[Snippet]:
    """Read a table of results and summarize one of its numbers."""
    read_r = f'd <- read.csv({quote(file)}, na.strings = "", encoding = "UTF-8", check.names = FALSE)'
    read_pandas = f'd = pd.read_csv({quote(file)}, keep_default_na=False, na_values=[""])'
    return [
        Snippet(R, f"{read_r}\nprint(summary(d${value}))\n"),
        Snippet(PANDAS, f"import pandas as pd\n\n{read_pandas}\nprint(d[{quote(value)}].describe())\n"),
    ]


def surprisal_snippets(file: str, *, has_regions: bool) -> list[Snippet]:
    """Read a table of surprisals and average it by region, or by the position of words."""
    unit, group = ("region", "region") if has_regions else ("word", "position")
    # Words such as NA and None are texts, and only empty surprisals are missing.
    texts = ("sentence_id", "unit", "region", "text", "note")
    characters = ", ".join(f'{name} = "character"' for name in texts)
    strings = ", ".join(f'"{name}": str' for name in texts)
    r_lines = [
        f'd <- read.csv({quote(file)}, na.strings = "", encoding = "UTF-8", check.names = FALSE,',
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
        f'd = pd.read_csv({quote(file)}, keep_default_na=False, na_values=[""],',
        f"                dtype={{{strings}}})",
        "",
        f"# mean surprisal in bits by {group}",
        f'{unit}s = d[d["unit"] == "{unit}"]',
        f'means = {unit}s.groupby("{group}")["surprisal_bits"].mean()',
        "print(means)",
    ]
    return [Snippet(R, "\n".join(r_lines) + "\n"), Snippet(PANDAS, "\n".join(pandas_lines) + "\n")]
