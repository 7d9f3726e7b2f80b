"""Which models a page may name, and where they lie: MODELS_DIR, the hub, addresses of the administrator.

A model of MODELS_DIR is written ``kind:./path``, so that no page, row or answer tells where the folder is.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlencode

from django.conf import settings

from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import ScorerAddress, parse_address
from analysis.scoring.frames import model_name
from analysis.scoring.options import check_options

HUB_KINDS = ("hf-causal", "hf-masked", "hf-classifier")
NEURAL = (*HUB_KINDS, "lstm")
HUB_NAME = re.compile(
    r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?(@[A-Za-z0-9][\w./-]{0,99})?", re.ASCII
)
NOT_NAMED = ("device", "trust")  # the first is chosen by queue, the second runs what others wrote
UNIGRAMS = ".unigrams.txt"
ARCHITECTURES = {"ForCausalLM": "hf-causal", "LMHeadModel": "hf-causal", "ForMaskedLM": "hf-masked"}
CLASSIFIERS = "ForSequenceClassification"
ARPA = (".arpa", ".arpa.gz")
DEEP, MOST = 3, 500
INSTALL = "make install-models"


@dataclass(frozen=True)
class Offered:
    """A model that a page offers: its address without the folder, and a name to show."""

    uri: str
    label: str


def has_models_extra() -> bool:
    """Whether neural models can be run here; nothing is imported to find out."""
    return find_spec("torch") is not None and find_spec("transformers") is not None


def offered_models() -> list[Offered]:
    """The models of MODELS_DIR by their path, then the addresses that the administrator named."""
    root = _root()
    local = [Offered(f"{kind}:./{path}", str(path)) for path, kind in _found(root, root)] if root else []
    return sorted(local, key=lambda one: one.label)[:MOST] + [
        Offered(uri, uri) for uri in settings.MODEL_URIS
    ]


def offered_unigrams() -> list[str]:
    """Files of single tokens' probabilities that lie in MODELS_DIR, as ``./path``."""
    root = _root()
    found = sorted(root.glob(f"*{UNIGRAMS}"))[:MOST] if root else []
    return [f"./{one.name}" for one in found if one.resolve().is_relative_to(root or "")]


def checked_uri(text: str) -> str:
    """A model's address as a page may name it; no path of this machine, no code of the model's own."""
    uri = text.strip()
    if uri in settings.MODEL_URIS:
        return uri
    address = parse_address(uri)
    is_local = address.target.startswith("./")
    if is_local and uri.partition("?")[0] not in {one.uri for one in offered_models()}:
        raise BadInput(f"{address.target} is no model of MODELS_DIR.", remedy="Choose one of the list.")
    if not is_local and address.kind not in HUB_KINDS:
        raise UnknownName("kind of model of the hub", address.kind, HUB_KINDS)
    check_options(address, without=NOT_NAMED)
    unigrams = address.options.get("unigram", "")
    if unigrams and unigrams not in offered_unigrams():
        raise UnknownName("file of single tokens in MODELS_DIR", unigrams, offered_unigrams())
    if is_local:
        return uri
    if not HUB_NAME.fullmatch(address.target) or ".." in address.target:
        raise BadInput(
            f"{address.target!r} is no name of the hub.",
            remedy="Write name, owner/name or owner/name@commit.",
        )
    return uri


def opened_address(uri: str, *, device: str) -> str:
    """The scorer's address: the folder put in, the device said."""
    address = parse_address(uri)
    options = dict(address.options)
    if address.kind in NEURAL:
        options["device"] = "cuda" if device == "gpu" else "cpu"
    if options.get("unigram", "").startswith("./"):
        options["unigram"] = str(_inside(options["unigram"]))
    target = str(_inside(address.target)) if address.target.startswith("./") else address.target
    is_of_hub = address.kind in HUB_KINDS and target == address.target and uri not in settings.MODEL_URIS
    if is_of_hub and Path(target.partition("@")[0]).exists():
        raise BadInput(f"{target!r} names a file of the server, no model of the hub.")
    return written(ScorerAddress(address.kind, target, options))


def pinned(uri: str, revision: str) -> str:
    """The address with the commit that was found, so that every shard is scored by the same weights."""
    address = parse_address(uri)
    if address.kind not in HUB_KINDS or not revision.startswith("commit:"):
        return uri
    name = address.target.partition("@")[0]
    target = f"{name}@{revision.removeprefix('commit:')}"
    return written(ScorerAddress(address.kind, target, address.options))


def is_pinned(uri: str) -> bool:
    """Whether the address names a commit in full."""
    return re.fullmatch(r"[0-9a-f]{40}", parse_address(uri).target.partition("@")[2]) is not None


def shown_name(uri: str) -> str:
    """A short name for tables, without options and revision."""
    return model_name(uri.partition("?")[0].partition("@")[0])


def written(address: ScorerAddress) -> str:
    """An address in one piece."""
    return f"{address.uri}?{urlencode(address.options)}" if address.options else address.uri


def stamp(uri: str) -> tuple[object, ...]:
    """What tells that a local model has changed: names, sizes and times of its files."""
    address = parse_address(uri)
    files: list[Path] = []
    for target in (address.target, address.options.get("unigram", "")):
        if target.startswith("./"):
            place = _inside(target)
            files += sorted(one for one in place.iterdir() if one.is_file()) if place.is_dir() else [place]
    return tuple((one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in files)


def without_root(text: str) -> str:
    """A message that does not tell where the folder of models is."""
    root = _root()
    return text.replace(str(root), "MODELS_DIR") if root else text


def _root() -> Path | None:
    root = Path(settings.MODELS_DIR)
    return root.resolve() if root.is_dir() else None


def _inside(target: str) -> Path:
    root = _root()
    place = (root / target).resolve() if root else None
    if root is None or place is None or not place.is_relative_to(root) or not place.exists():
        raise BadInput(f"{target} is no model of MODELS_DIR.", remedy="Put it there, or choose another.")
    return place


def _found(folder: Path, root: Path, deep: int = DEEP) -> Iterator[tuple[Path, str]]:
    """Paths and kinds of the models below a folder; links that lead out of the root are not followed."""
    for place in sorted(folder.iterdir()):
        if place.name.startswith(".") or not place.resolve().is_relative_to(root):
            continue
        kind = _kind(place)
        if kind:
            yield place.relative_to(root), kind
        elif place.is_dir() and deep > 1:
            yield from _found(place, root, deep - 1)


def _kind(place: Path) -> str:
    if place.is_file():
        return "arpa" if place.name.lower().endswith(ARPA) else ""
    if (place / "model.pt").is_file() and (place / "vocab.txt").is_file():
        return "lstm"
    try:
        said = json.loads((place / "config.json").read_text(encoding="utf-8")).get("architectures") or [""]
    except (OSError, ValueError, AttributeError):
        return ""
    if str(said[0]).endswith(CLASSIFIERS):
        return "hf-classifier"
    return next((kind for end, kind in ARCHITECTURES.items() if str(said[0]).endswith(end)), "")
