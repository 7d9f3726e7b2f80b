"""Models that a page may name: those of ``MODELS_DIR``, of the hub, and of the administrator's list.

A model of ``MODELS_DIR`` is written ``kind:./path``, so that no page, row or response reveals the folder.
"""

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from django.conf import settings

from analysis.errors import BadInput, UnknownName
from analysis.scoring.frames import model_name
from analysis.scoring.model_uri import parse_model_uri, with_revisions
from analysis.scoring.registry import check_options

HUB_KINDS = ("hf-causal", "hf-masked", "hf-classifier", "hf-seq2seq", "hf-mntp", "hf-diffusion")
NEURAL = (*HUB_KINDS, "lstm")
HUB_NAME = re.compile(
    r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?(@[A-Za-z0-9][\w./-]{0,99})?", re.ASCII
)
# A page may not set these: the queue decides the device, trust runs code from a model's repository, and an
# adapter may name a path of the server.
FORBIDDEN_OPTIONS = ("device", "trust", "adapter")
UNIGRAMS = ".unigrams.txt"
ARCHITECTURES = {
    "ForCausalLM": "hf-causal",
    "LMHeadModel": "hf-causal",
    "ForMaskedLM": "hf-masked",
    "ForConditionalGeneration": "hf-seq2seq",
}
CLASSIFIERS = "ForSequenceClassification"
ARPA = (".arpa", ".arpa.gz")
MAX_DEPTH, MAX_MODELS = 3, 500  # folders searched below MODELS_DIR, models listed
INSTALL = "make install-models"
MAX_URI = 500  # characters of the column


@dataclass(frozen=True)
class OfferedModel:
    """A model that a page offers: its model URI without the folder, and its label."""

    uri: str
    label: str


def has_models_extra() -> bool:
    """Return whether neural models can be run here, without importing the packages."""
    return find_spec("torch") is not None and find_spec("transformers") is not None


def offered_models() -> list[OfferedModel]:
    """Return the models of MODELS_DIR by path, then those of the setting MODEL_URIS."""
    root = _root()
    local = [
        OfferedModel(f"{kind}:./{path}", str(path))
        for path, kind in (_models_below(root, root) if root else ())
    ]
    return sorted(local, key=lambda model: model.label)[:MAX_MODELS] + [
        OfferedModel(uri, uri) for uri in settings.MODEL_URIS
    ]


def offered_unigrams() -> list[str]:
    """Return the files of unigram probabilities in MODELS_DIR, as ``./path``."""
    root = _root()
    paths = sorted(root.glob(f"*{UNIGRAMS}"))[:MAX_MODELS] if root else []
    return [f"./{path.name}" for path in paths if path.resolve().is_relative_to(root or "")]


def checked_uris(text: str) -> list[str]:
    """Validate what a page or the API names, ``name@one,two`` included; only MODELS_DIR is read."""
    uri = text.strip()
    is_single = uri in settings.MODEL_URIS or parse_model_uri(uri).target.startswith("./")
    return [checked_uri(name) for name in ([uri] if is_single else with_revisions(uri, on_disk=False))]


def checked_uri(text: str) -> str:
    """Validate a model URI from a page; it may name no path of the server and run no code of a model."""
    uri = text.strip()
    if len(uri) > MAX_URI:
        raise BadInput(f"{uri[:60]}… has {len(uri)} characters.", remedy=f"Write at most {MAX_URI}.")
    if uri in settings.MODEL_URIS:
        return uri
    parsed = parse_model_uri(uri)
    is_local = parsed.target.startswith("./")
    if is_local and uri.partition("?")[0] not in {model.uri for model in offered_models()}:
        raise BadInput(f"{parsed.target} is no model of MODELS_DIR.", remedy="Choose one from the list.")
    if not is_local and parsed.kind not in HUB_KINDS:
        raise UnknownName("kind of model of the hub", parsed.kind, HUB_KINDS)
    check_options(parsed, without=FORBIDDEN_OPTIONS)
    unigrams = parsed.options.get("unigram", "")
    if unigrams and unigrams not in offered_unigrams():
        raise UnknownName("file of unigram probabilities in MODELS_DIR", unigrams, offered_unigrams())
    if is_local:
        return uri
    if not HUB_NAME.fullmatch(parsed.target) or ".." in parsed.target:
        raise BadInput(
            f"{parsed.target!r} is no name of the hub.",
            remedy="Write name, owner/name or owner/name@commit.",
        )
    return uri


def resolved_uri(uri: str, *, device: str) -> str:
    """Return the model URI for the scorer, with the absolute path and the device."""
    parsed = parse_model_uri(uri)
    options = dict(parsed.options)
    if parsed.kind in NEURAL:
        options["device"] = "cuda" if device == "gpu" else "cpu"
    if options.get("unigram", "").startswith("./"):
        options["unigram"] = str(_inside(options["unigram"]))
    target = str(_inside(parsed.target)) if parsed.target.startswith("./") else parsed.target
    return str(parsed._replace(target=target, options=options))


@contextmanager
def without_local_files(uri: str) -> Iterator[None]:
    """Open a model of the hub in an empty folder where the working directory has a file of its name.

    transformers would load that file. Refusing the name would reveal that the file exists.
    """
    parsed = parse_model_uri(uri)
    is_of_hub = parsed.kind in HUB_KINDS and HUB_NAME.fullmatch(parsed.target) is not None
    if not is_of_hub or uri in settings.MODEL_URIS or not Path(parsed.target.partition("@")[0]).exists():
        yield
        return
    with tempfile.TemporaryDirectory(prefix="obelus-hub-") as folder, chdir(folder):
        yield


def pin_revision(uri: str, revision: str) -> str:
    """Return the model URI with its commit, so that every shard is scored by the same weights."""
    parsed = parse_model_uri(uri)
    if parsed.kind not in HUB_KINDS or not revision.startswith("commit:"):
        return uri
    name = parsed.target.partition("@")[0]
    return str(parsed._replace(target=f"{name}@{revision.removeprefix('commit:')}"))


def is_pinned(uri: str) -> bool:
    """Return whether the model URI names a full commit hash."""
    return re.fullmatch(r"[0-9a-f]{40}", parse_model_uri(uri).target.partition("@")[2]) is not None


def shown_name(uri: str) -> str:
    """Return a short name for tables, without options and revision."""
    return model_name(uri.partition("?")[0].partition("@")[0])


def stamp(uri: str) -> tuple[object, ...]:
    """Return the names, sizes and times of a local model's files, which change when the model does."""
    parsed = parse_model_uri(uri)
    files: list[Path] = []
    for target in (parsed.target, parsed.options.get("unigram", "")):
        if target.startswith("./"):
            path = _inside(target)
            files += sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path]
    return tuple((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files)


def without_root(text: str) -> str:
    """Return a message with the path of MODELS_DIR replaced by its name."""
    root = _root()
    return text.replace(str(root), "MODELS_DIR") if root else text


def _root() -> Path | None:
    root = Path(settings.MODELS_DIR)
    return root.resolve() if root.is_dir() else None


def _inside(target: str) -> Path:
    root = _root()
    path = (root / target).resolve() if root else None
    if root is None or path is None or not path.is_relative_to(root) or not path.exists():
        raise BadInput(f"{target} is no model of MODELS_DIR.", remedy="Put it there, or choose another.")
    return path


def _models_below(folder: Path, root: Path, depth: int = MAX_DEPTH) -> Iterator[tuple[Path, str]]:
    """Yield paths and kinds of the models below a folder; links out of the root are not followed."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or not path.resolve().is_relative_to(root):
            continue
        kind = _kind(path)
        if kind:
            yield path.relative_to(root), kind
        elif path.is_dir() and depth > 1:
            yield from _models_below(path, root, depth - 1)


def _kind(path: Path) -> str:
    if path.is_file():
        return "arpa" if path.name.lower().endswith(ARPA) else ""
    if (path / "model.pt").is_file() and (path / "vocab.txt").is_file():
        return "lstm"
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        architecture = str((config.get("architectures") or [""])[0])
    except (OSError, ValueError, AttributeError):
        return ""
    if architecture.endswith(CLASSIFIERS):
        return "hf-classifier"
    return next((kind for end, kind in ARCHITECTURES.items() if architecture.endswith(end)), "")
