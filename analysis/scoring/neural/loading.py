"""Open a model of the hub or of a folder: its exact revision, its tokenizer, its kind of number."""

import hashlib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import ScorerAddress, read_flag

INSTALL = "Run make install-models, or pip install torch transformers."
DTYPES = ("float32", "bfloat16", "float16")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class Opened:
    """A model ready to score; ``revision`` names its very weights."""

    model: Any
    tokenizer: Any
    revision: str
    tokenizer_sha: str
    dtype: str


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
        Target is a folder or ``name@revision`` of the hub; options ``dtype``, ``device`` and ``trust``.
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
    torch, transformers = need("torch"), need("transformers")
    transformers.utils.logging.disable_progress_bar()
    dtype = _one_of(address, "dtype", DTYPES)
    device = _one_of(address, "device", DEVICES)
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
        config = transformers.AutoConfig.from_pretrained(name, **given)
        exact = _revision(name, config)
        if exact.startswith("commit:"):
            given["revision"] = exact.removeprefix("commit:")
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **given)
        loader = getattr(transformers, auto)
        model = loader.from_pretrained(name, dtype=getattr(torch, dtype), **given)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise BadInput(
            f"the model {name!r} cannot be opened: {_first_line(error)}",
            remedy="Give a folder with config, weights and tokenizer, or a name of the hub; a download "
            "cut off goes on when the command is run again. Models with code of their own need trust=yes.",
        ) from error
    return Opened(model.to(device).eval(), tokenizer, exact, tokenizer_digest(tokenizer), dtype)


def tokenizer_digest(tokenizer: Any) -> str:
    """SHA-256 of everything a tokenizer does.

    Parameters
    ----------
    tokenizer : transformers tokenizer

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    text = backend.to_str() if backend is not None else repr(sorted(tokenizer.get_vocab().items()))
    return hashlib.sha256(text.encode()).hexdigest()


def _revision(name: str, config: Any) -> str:
    """The commit of a model of the hub; the digest of a folder's files."""
    folder = Path(name)
    if not folder.is_dir():
        commit = getattr(config, "_commit_hash", None)
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


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]
