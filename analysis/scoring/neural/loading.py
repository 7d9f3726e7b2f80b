"""Open a model of the hub or of a folder: its exact revision, its tokenizer, its kind of number."""

import hashlib
import logging
from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import ScorerAddress, read_flag
from analysis.scoring.neural.vocabulary import fit_vocabulary, tokenizer_digest

INSTALL = "Run make install-models, or pip install torch transformers."
DTYPES = ("float32", "bfloat16", "float16")
DEVICES = ("auto", "cpu", "cuda")
VOCABULARIES = ("model", "tokenizer")


@dataclass(frozen=True)
class Opened:
    """A model ready to score; ``revision`` names its very weights.

    ``vocabulary`` says over what its probabilities sum to one; ``warnings`` what is odd in it.
    """

    model: Any
    tokenizer: Any
    revision: str
    tokenizer_sha: str
    dtype: str
    vocabulary: str
    warnings: list[str]


def need(module: str) -> Any:
    """Import an optional package.

    Parameters
    ----------
    module : str
        Such as ``transformers``.

    Returns
    -------
    module

    Raises
    ------
    BadInput
        If it is not installed; the remedy is the line that installs it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise BadInput(f"{module.partition('.')[0]} is not installed.", remedy=INSTALL) from error


def open_model(address: ScorerAddress, auto: str) -> Opened:
    """Load a model and its tokenizer.

    Parameters
    ----------
    address : ScorerAddress
        Target is a folder or ``name@revision`` of the hub; options ``dtype``, ``device``, ``trust`` and
        ``vocabulary`` (``model``, or ``tokenizer``: rows of the model that no token has are taken away).
    auto : str
        The class of transformers that loads it, such as ``AutoModelForCausalLM``.

    Returns
    -------
    Opened
        In evaluation mode, whatever it was saved in.

    Raises
    ------
    BadInput, UnknownName
        If packages are missing, there is no such model, its files are broken or a download was cut off.
    """
    torch, transformers = need("torch"), _transformers()
    dtype = _one_of(address, "dtype", DTYPES)
    device = _one_of(address, "device", DEVICES)
    vocabulary = _one_of(address, "vocabulary", VOCABULARIES)
    if device == "cuda" and not torch.cuda.is_available():
        raise BadInput("no accelerator is found.", remedy="Use device=cpu.")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    trust = read_flag(address, "trust", default=False)
    name, _, revision = (
        address.target.partition("@") if not Path(address.target).exists() else (address.target, "", "")
    )
    given: dict[str, Any] = {"trust_remote_code": trust, "revision": revision or None}
    try:
        transformers.AutoConfig.from_pretrained(name, **given)
        exact = _revision(name, revision, transformers)
        if exact.startswith("commit:"):
            given["revision"] = exact.removeprefix("commit:")
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **given)
        loader = getattr(transformers, auto)
        model, read = loader.from_pretrained(
            name, dtype=getattr(torch, dtype), output_loading_info=True, **given
        )
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # files that others wrote make the libraries raise anything
        raise BadInput(
            f"the model {name!r} cannot be opened: {_reason(error)}",
            remedy="Give a folder with config, weights and tokenizer, or a name of the hub; a download "
            "cut off goes on when the command is run again. Models with code of their own need trust=yes.",
        ) from error
    _refuse_invented(name, model, read["missing_keys"])
    warnings = fit_vocabulary(model, tokenizer, vocabulary=vocabulary)
    if dtype != "float32":
        warnings.append(f"{dtype}: a score may change by some hundredths with the sentences beside it")
    return Opened(
        model.to(device).eval(),
        tokenizer,
        exact,
        tokenizer_digest(tokenizer),
        dtype,
        vocabulary,
        warnings,
    )


def open_tokenizer(name: str) -> Any:
    """Load a tokenizer alone.

    Parameters
    ----------
    name : str
        A folder, or ``name@revision`` of the hub.

    Returns
    -------
    transformers tokenizer

    Raises
    ------
    BadInput
        If packages are missing or there is no such tokenizer.
    """
    transformers = _transformers()
    place, _, revision = name.partition("@") if not Path(name).exists() else (name, "", "")
    try:
        return transformers.AutoTokenizer.from_pretrained(place, revision=revision or None)
    except Exception as error:  # files that others wrote make the libraries raise anything
        message = f"the tokenizer {name!r} cannot be opened: {_reason(error)}"
        raise BadInput(message, remedy="Give a folder with a tokenizer, or a name of the hub.") from error


def _transformers() -> Any:
    """The library without progress bars, and without warnings of what we tell in one line or do not do.

    It warns of texts that are too long, which we do not score, and of each try at a download.
    """
    found = need("transformers")
    found.utils.logging.disable_progress_bar()
    found.utils.logging.set_verbosity_error()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return found


def _refuse_invented(name: str, model: Any, missing: Collection[str]) -> None:
    """Refuse a model some of whose weights were drawn at random because its files do not hold them."""
    invented = sorted(set(missing) & {key for key, _ in model.named_parameters()})
    if invented:
        raise BadInput(
            f"the model {name!r} cannot be opened as {type(model).__name__}: its files lack {invented[0]}"
            f"{f' and {len(invented) - 1} other weights' if invented[1:] else ''}.",
            remedy="Name its own kind (hf-causal:, hf-masked:, hf-classifier:); train a classifier first.",
        )


def _revision(name: str, revision: str, transformers: Any) -> str:
    """The commit of a model of the hub; the digest of a folder's files."""
    folder = Path(name)
    if not folder.is_dir():
        config = transformers.utils.cached_file(name, "config.json", revision=revision or None)
        commit = transformers.utils.hub.extract_commit_hash(config, None)  # of the folder it lies in
        if not commit:
            raise BadInput(f"the revision of {name!r} is not known.", remedy="Write name@commit.")
        return f"commit:{commit}"
    digest = hashlib.sha256()
    for file in sorted(one for one in folder.iterdir() if one.is_file()):
        digest.update(file.name.encode())
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return f"sha256:{digest.hexdigest()}"


def _one_of(address: ScorerAddress, name: str, known: tuple[str, ...]) -> str:
    given = address.options.get(name, known[0])
    if given not in known:
        raise UnknownName(name, given, known)
    return given


def _reason(error: BaseException) -> str:
    """What went wrong on the line to the hub, where something did; else what the library says."""
    one: BaseException | None = error
    while one is not None:
        lines = [kind.__name__ for kind in type(one).__mro__]
        if isinstance(one, ConnectionError | TimeoutError) or "TransportError" in lines:
            return f"the download stopped ({_first_line(one)})."
        one = one.__cause__ or one.__context__
    return _first_line(error)


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0][:200]
