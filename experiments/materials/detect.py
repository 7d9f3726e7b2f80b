"""Which form is a file in? Seen from its first lines, never from its name alone."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from analysis.errors import BadInput, UnknownName
from experiments.materials import climp, li_adger
from experiments.materials.blimp import BAD, GOOD, read_blimp
from experiments.materials.collection import Materials
from experiments.materials.encoding import read_text, table_from
from experiments.materials.sheets import read_sheet
from experiments.materials.table import read_tables

FORMATS = ("auto", "blimp", "table", "climp", "li-adger")
SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet", ".gz")


def read_materials(
    paths: Sequence[Path],
    *,
    format: str = "auto",
    mapping: Mapping[str, str] | None = None,
    encoding: str = "",
) -> Materials:
    """Read material files of any supported form.

    Parameters
    ----------
    paths : sequence of Path
        Files, or folders whose files are taken in the order of their names.
    format : str
        One of :data:`FORMATS`; ``auto`` looks at each file.
    mapping : mapping of str to str, optional
        Our column → the file's column; for tables only, and it makes ``auto`` a table.
    encoding : str
        Taken instead of the detection.

    Returns
    -------
    Materials

    Raises
    ------
    UnknownName
        For an unknown format.
    BadInput
        If there is no file, the files are of different forms, or a reader refuses one.
    """
    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    if mapping and format not in ("auto", "table"):
        raise BadInput("a mapping of columns goes with the format table only.", remedy="Use --format table.")
    files = material_files(paths)
    chosen = format
    if format == "auto":
        chosen = "table" if mapping else common_format(files, encoding=encoding)
    if chosen == "blimp":
        return read_blimp(files, encoding=encoding)
    if chosen == "climp":
        return climp.read_climp(files, encoding=encoding)
    if chosen == "li-adger":
        return li_adger.read_li_adger(files, encoding=encoding)
    return read_tables(files, mapping=mapping, encoding=encoding)


def material_files(paths: Sequence[Path]) -> list[Path]:
    """List the files meant by paths.

    Parameters
    ----------
    paths : sequence of Path
        A folder stands for its files with a suffix of :data:`SUFFIXES`, by name; if some are JSON lines,
        for those.

    Returns
    -------
    list of Path

    Raises
    ------
    BadInput
        If a path does not exist, or a folder has no such file.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                file for file in path.iterdir() if file.is_file() and file.suffix.lower() in SUFFIXES
            )
            json_lines = [file for file in inside if ".jsonl" in file.suffixes]
            if not inside:
                raise BadInput(
                    "the folder has no material file.", file=path.name, remedy="Give CSV, TSV or JSONL."
                )
            files += json_lines or inside
        elif path.is_file():
            files.append(path)
        else:
            raise BadInput("there is no such file.", file=str(path))
    if not files:
        raise BadInput("no file given.", remedy="Name one or more files or folders.")
    return files


def common_format(files: Sequence[Path], *, encoding: str = "") -> str:
    """Name the one form of several files.

    Parameters
    ----------
    files : sequence of Path
    encoding : str
        Taken instead of the detection.

    Returns
    -------
    str
        One of :data:`FORMATS` but ``auto``.

    Raises
    ------
    BadInput
        If the files are of different forms.
    """
    found = {file.name: file_format(file, encoding=encoding) for file in files}
    if len(set(found.values())) > 1:
        named = ", ".join(f"{name} is {form}" for name, form in list(found.items())[:5])
        raise BadInput(f"files of different forms: {named}.", remedy="Import them apart, or name the format.")
    return next(iter(found.values()))


def file_format(path: Path, *, encoding: str = "") -> str:
    """Name the form of one file from its first lines.

    Parameters
    ----------
    path : Path
    encoding : str
        Taken instead of the detection.

    Returns
    -------
    str
        ``blimp``, ``climp``, ``li-adger``, or ``table`` for every other table.
    """
    if ".parquet" in path.suffixes:
        return "table"
    decoded = read_text(path, encoding=encoding)
    first = decoded.text.lstrip()[:100_000].replace("\r", "\n").split("\n", 1)[0]
    if first.startswith("{"):
        try:
            fields = json.loads(first)
        except json.JSONDecodeError:
            return "table"
        return "blimp" if GOOD in fields and BAD in fields else "table"
    columns = [str(name) for name in table_from(decoded).frame.columns]
    if columns in (climp.LABELLED, climp.UNLABELLED):
        return "climp"
    forms = (li_adger.PAIR_COLUMNS, li_adger.HUMAN_COLUMNS, li_adger.SENTENCE_COLUMNS)
    if any(set(form) <= set(columns) for form in forms) and {"id", "gramm_id"} & set(columns):
        return "li-adger"
    return "table"


def file_columns(path: Path, *, encoding: str = "") -> list[str]:
    """List the columns of a file, so that they can be mapped.

    Parameters
    ----------
    path : Path
    encoding : str
        Taken instead of the detection.

    Returns
    -------
    list of str

    Raises
    ------
    BadInput
        If the file cannot be read as a table.
    """
    return list(read_sheet(path, encoding=encoding).source.columns)
