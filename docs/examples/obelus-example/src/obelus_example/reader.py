"""A reader: it renames the columns of a file and leaves the checks to the reader of tables."""

from pathlib import Path

from judgments.imports.readers import JudgmentFile, SourceOptions, read_judgments

COLUMNS = {"participant": "who", "sentence": "what", "value": "points"}


def read_export(path: Path, options: SourceOptions) -> JudgmentFile:
    """Read ratings on a scale; the options of the command or the page come first."""
    table = SourceOptions(
        mapping={**COLUMNS, **options.mapping},
        task=options.task or "likert",
        scale_low=options.scale_low,
        scale_high=options.scale_high,
        encoding=options.encoding,
    )
    return read_judgments(path, "table", options=table)
