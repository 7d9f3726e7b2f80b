"""Dataset folders of Hugging Face, or ZIPs of them: tables by the card, by file names, or as saved to disk.

``datasets`` need not be installed. A configuration and a split are chosen like the sheet of a spreadsheet:
``pairs`` or ``pairs/test``.
"""

import json
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from analysis.errors import BadInput
from experiments.materials.encoding import max_unpacked_bytes

CARD = "README.md"
SAVED_SPLITS, SAVED_STATE = "dataset_dict.json", "state.json"  # of DatasetDict and Dataset .save_to_disk
KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".arrow": "arrow",
}
TRAIN = "train"
MAX_MEMBERS = 10_000  # of a ZIP
#: Words in names of files and folders by which ``datasets`` finds splits.
SPLIT_WORDS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
SHARD = re.compile(r"(?:^|.*/)([\w.]+)-\d{5}-of-\d{5}(?:-\w+)?\.\w+")
Splits = dict[str, list[Path]]


@dataclass(frozen=True)
class Configuration:
    """A table of a dataset: its data files by split."""

    name: str
    splits: Splits
    is_default: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class DatasetFiles:
    """The data files of a chosen table, and the folder that has them."""

    folder: Path
    name: str
    splits: Splits
    notes: tuple[str, ...] = ()


def is_dataset(path: Path) -> bool:
    """Whether a path is a ZIP, or a folder that the tools of Hugging Face read as one dataset."""
    if path.is_dir():
        has_mark = any((path / name).is_file() for name in (SAVED_SPLITS, SAVED_STATE))
        return has_mark or bool(_card_configurations(path)) or not _has_data(path) and bool(_data_files(path))
    return path.suffix.lower() == ".zip" and path.is_file()


def dataset_names(path: Path) -> list[str]:
    """Return the names by which the tables of a dataset are chosen: configurations, and splits of each."""
    with _unpack_zip(path) as folder:
        names = []
        for configuration in _configurations(folder, path.name):
            names.append(configuration.name)
            if len(configuration.splits) > 1:
                names += [f"{configuration.name}/{split}" for split in configuration.splits]
        return names


@contextmanager
def dataset_files(path: Path, *, name: str = "") -> Iterator[DatasetFiles]:
    """Yield the data files of a table; a ZIP is unpacked meanwhile."""
    with _unpack_zip(path) as folder:
        configuration, splits = _select_splits(_configurations(folder, path.name), name, file=path.name)
        yield DatasetFiles(folder, configuration.name, splits, configuration.notes)


def _select_splits(
    configurations: list[Configuration], name: str, *, file: str
) -> tuple[Configuration, Splits]:
    """Return the named configuration and splits; without a name, the default one with all its splits."""
    names = [configuration.name for configuration in configurations]
    listed = ", ".join(names)
    wanted, _, split = name.partition("/")
    if not name:
        default = [configuration for configuration in configurations if configuration.is_default]
        if len(configurations) > 1 and not default:
            raise BadInput(
                f"the dataset has several configurations: {listed}.",
                file=file,
                remedy="Choose one (--sheet NAME, or Sheet on the page).",
            )
        chosen = (default or configurations)[0]
        return chosen, chosen.splits
    by_name = {configuration.name: configuration for configuration in configurations}
    if (
        wanted not in by_name
        and not split
        and len(configurations) == 1
        and wanted in configurations[0].splits
    ):
        wanted, split = names[0], wanted
    if wanted not in by_name:
        raise BadInput(
            f"the dataset has no configuration {wanted!r}.", file=file, remedy=f"Choose one of {listed}."
        )
    chosen = by_name[wanted]
    if split and split not in chosen.splits:
        raise BadInput(
            f"{wanted} has no split {split!r}.",
            file=file,
            remedy=f"Choose one of {', '.join(chosen.splits)}.",
        )
    return chosen, {split: chosen.splits[split]} if split else chosen.splits


@contextmanager
def _unpack_zip(path: Path) -> Iterator[Path]:
    """Unpack a ZIP into a temporary folder; yield the folder that has the dataset."""
    if path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory() as place:
        try:
            with zipfile.ZipFile(path) as archive:
                members = [member for member in archive.infolist() if not _is_hidden(member.filename)]
                n_bytes = sum(member.file_size for member in members)
                if len(members) > MAX_MEMBERS:
                    raise BadInput(
                        f"has {len(members):,} files, more than are read.",
                        file=path.name,
                        remedy="Give single files of it.",
                    )
                if n_bytes > max_unpacked_bytes(path):
                    raise BadInput(
                        f"unpacks to {n_bytes / 1e6:,.0f} MB, more than is read.",
                        file=path.name,
                        remedy="Give single files of it.",
                    )
                # No name leads out (".." counts as hidden), and zipfile reads no more than file_size.
                archive.extractall(place, members)  # nosemgrep: archive-unpacked
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
            raise BadInput(f"is no ZIP that can be unpacked ({error}).", file=path.name) from error
        folder = Path(place)
        while not _has_data(folder) and not (folder / CARD).exists() and not _is_saved(folder):
            folders = [inner for inner in folder.iterdir() if inner.is_dir()]
            if len(folders) != 1 or folders[0].name == "data":
                break
            folder = folders[0]
        yield folder


def _configurations(folder: Path, file: str) -> list[Configuration]:
    """Return the tables of a dataset: as saved to disk, else by the card, else by the names of the files."""
    if _is_saved(folder):
        return [Configuration("default", _saved_splits(folder, file))]
    rows = _card_configurations(folder)
    if rows:
        return [_card_configuration(folder, row, file) for row in rows]
    files = _data_files(folder)
    if not files:
        raise BadInput(
            "the folder has no data files of a dataset.",
            file=file,
            remedy=f"Give a folder with {', '.join(KINDS)}, or one that save_to_disk wrote.",
        )
    return [_by_names(folder, files, "default", file)]


def _is_saved(folder: Path) -> bool:
    return (folder / SAVED_SPLITS).is_file() or (folder / SAVED_STATE).is_file()


def _saved_splits(folder: Path, file: str) -> Splits:
    if not (folder / SAVED_SPLITS).is_file():
        return {TRAIN: _saved_files(folder, file)}
    splits = _document(folder / SAVED_SPLITS, file).get("splits")
    if not isinstance(splits, list) or not all(isinstance(split, str) for split in splits):
        raise BadInput(
            f"{SAVED_SPLITS} names no splits.", file=file, remedy="Write it again with save_to_disk."
        )
    return {split: _saved_files(_inside(folder, split, file), file) for split in splits}


def _saved_files(folder: Path, file: str) -> list[Path]:
    state = _document(folder / SAVED_STATE, file)
    if state.get("_indices_data_files"):
        raise BadInput(
            "the dataset was saved with a selection of its rows beside all of them.",
            file=file,
            remedy="Save dataset.flatten_indices() instead.",
        )
    listed = state.get("_data_files")
    names = (
        [row.get("filename") for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    )
    files = [_inside(folder, str(name), file) for name in names]
    absent = [path.name for path in files if not path.is_file()]
    if absent or not files:
        raise BadInput(
            f"the data file {absent[0]} of {SAVED_STATE} is not there."
            if absent
            else "there are no data files.",
            file=file,
            remedy="Give the whole folder that save_to_disk wrote.",
        )
    return files


def _document(path: Path, file: str) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{path.name} cannot be read ({error}).", file=file, remedy="Write it again with save_to_disk."
        ) from error
    return document if isinstance(document, dict) else {}


def _card_configurations(folder: Path) -> list[Any]:
    """Return the ``configs`` of the card's YAML; none where there is no card or no such key."""
    card = folder / CARD
    if not card.is_file():
        return []
    text = card.read_text(encoding="utf-8-sig", errors="replace")
    match = re.match(r"---\s*\n(.*?)\n---\s*(?:\n|$)", text, re.DOTALL)
    if not match:
        return []
    try:
        metadata = yaml.safe_load(match[1])
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise BadInput(
            "the metadata of the card is no YAML.",
            file=CARD,
            row=mark.line + 2 if mark else None,  # the first line is the ---
            remedy="Correct it, or remove it.",
        ) from None
    configs = metadata.get("configs") if isinstance(metadata, dict) else None
    return configs if isinstance(configs, list) else []


def _card_configuration(folder: Path, row: Any, file: str) -> Configuration:
    name = str(row.get("config_name") or "default") if isinstance(row, dict) else ""
    if not name or not (row.get("data_files") or row.get("data_dir")):
        raise BadInput(
            "a configuration of the card has no data_files.",
            file=CARD,
            column="configs",
            remedy="Write config_name and data_files, or remove configs.",
        )
    is_default = bool(row.get("default")) or name == "default"
    place = _inside(folder, str(row.get("data_dir") or "."), file)
    patterns = row.get("data_files")
    if not patterns:
        return _by_names(folder, _data_files(place), name, file, is_default=is_default)
    splits: Splits = {}
    for split, pattern in _patterns(patterns):
        files = _matching(place, pattern, file)
        if not files:
            raise BadInput(
                f"no file of the folder is {pattern!r}, of the configuration {name}.",
                file=CARD,
                column="data_files",
                remedy="Give the whole folder, with its data files.",
            )
        splits.setdefault(split, []).extend(files)
    _refuse_other_kinds(splits, folder, file)
    return Configuration(name, splits, is_default)


def _patterns(stated: Any) -> Iterator[tuple[str, str]]:
    """Yield split and pattern of ``data_files``: a pattern, a list, splits with paths, or a mapping."""
    if isinstance(stated, Mapping):
        stated = [{"split": split, "path": path} for split, path in stated.items()]
    for entry in stated if isinstance(stated, list) else [stated]:
        split, paths = (
            (str(entry.get("split") or TRAIN), entry.get("path"))
            if isinstance(entry, Mapping)
            else (TRAIN, entry)
        )
        for path in paths if isinstance(paths, list) else [paths]:
            yield split, str(path or "")


def _matching(place: Path, pattern: str, file: str) -> list[Path]:
    _inside(place, pattern, file)
    return sorted(
        path for path in place.glob(pattern or " ") if path.is_file() and path.suffix.lower() in KINDS
    )


def _inside(folder: Path, name: str, file: str) -> Path:
    """Return a path below the folder; refuse addresses and names that lead out of it."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "://" in name:
        raise BadInput(
            f"{name!r} is not in the folder.",
            file=file,
            remedy="Download the dataset, and give the folder with its files.",
        )
    return folder / path


def _by_names(
    folder: Path, files: list[Path], name: str, file: str, *, is_default: bool = True
) -> Configuration:
    """Find the splits by shards or words in the names of the files; without either, all are one split."""
    labels = {path: path.relative_to(folder).as_posix() for path in files}
    splits: Splits = {}
    for path, label in labels.items():
        if split := _split_name(label):
            splits.setdefault(split, []).append(path)
    unread = sorted(set(labels.values()) - {labels[path] for paths in splits.values() for path in paths})
    notes: tuple[str, ...] = ()
    if not splits:
        splits = {TRAIN: files}
    elif unread:
        notes = (f"files of no split, not read: {', '.join(unread)}",)
    order = {split: number for number, split in enumerate(SPLIT_WORDS)}
    splits = dict(sorted(splits.items(), key=lambda entry: (order.get(entry[0], len(order)), entry[0])))
    _refuse_other_kinds(splits, folder, file)
    return Configuration(name, splits, is_default, notes)


def _split_name(label: str) -> str:
    shard = SHARD.fullmatch(label)
    if shard and label.startswith("data/"):
        return shard[1]
    words = re.split(r"[/._ -]+", label.lower())[:-1]  # without the suffix
    return next((split for split, names in SPLIT_WORDS.items() if set(names) & set(words)), "")


def _refuse_other_kinds(splits: Splits, folder: Path, file: str) -> None:
    files = [path for paths in splits.values() for path in paths]
    kinds = {KINDS[path.suffix.lower()]: path for path in reversed(files)}
    if len(kinds) > 1:
        examples = ", ".join(sorted(path.relative_to(folder).as_posix() for path in kinds.values()))
        raise BadInput(
            f"the data files are of several kinds: {examples}.",
            file=file,
            remedy="Give one of the files, or name the files of each table under configs in README.md.",
        )


def _has_data(folder: Path) -> bool:
    """Whether there are data files directly in a folder."""
    return any(path.is_file() and path.suffix.lower() in KINDS for path in folder.iterdir())


def _data_files(folder: Path) -> list[Path]:
    """Return the data files of a folder and those below it, without hidden ones."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix.lower() in KINDS
        and not _is_hidden(path.relative_to(folder).as_posix())
    )


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__")) for part in PurePosixPath(name).parts if part not in ("", "."))
