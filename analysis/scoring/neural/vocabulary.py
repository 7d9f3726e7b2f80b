"""What a model and its tokenizer know: their tokens, marks and longest text, and whether they fit."""

import hashlib
from typing import Any

from analysis.errors import BadInput

LONGEST = 4_096
"""Most tokens of a sentence; what is longer is a text, and the memory of attention grows with its square."""
_COUNT_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "roberta-prelayernorm")


def begin_mark(tokenizer: Any, wanted: str) -> tuple[int | None, str]:
    """The mark that stands before a sentence.

    Parameters
    ----------
    tokenizer : transformers tokenizer
    wanted : {"auto", "bos", "eos", "none"}
        ``auto``: the beginning mark, else the end mark, else none.

    Returns
    -------
    tuple
        Its number, or None, and its name with the number.

    Raises
    ------
    BadInput
        If a mark is asked for by name that the tokenizer has not.
    """
    marks: dict[str, Any] = {"bos": tokenizer.bos_token_id, "eos": tokenizer.eos_token_id}
    if wanted in marks and marks[wanted] is None:
        raise BadInput(f"the model has no {wanted} token.", remedy="Use bos=auto or bos=none.")
    for name in ("bos", "eos") if wanted == "auto" else (wanted,):
        if marks.get(name) is not None:
            return int(marks[name]), f"{name}:{marks[name]}"
    return None, "none"


def n_types(tokenizer: Any) -> int:
    """Size of a tokenizer's vocabulary: its highest number and one.

    Parameters
    ----------
    tokenizer : transformers tokenizer

    Returns
    -------
    int
    """
    return 1 + max(tokenizer.get_vocab().values(), default=-1)


def n_rows(model: Any) -> int:
    """How many tokens a model knows: the rows of its input embeddings.

    Parameters
    ----------
    model : transformers model

    Returns
    -------
    int
    """
    return int(model.get_input_embeddings().weight.shape[0])


def longest(config: Any) -> int:
    """Most tokens that a model takes at once, with its marks; never more than a sentence may have.

    Parameters
    ----------
    config : transformers configuration

    Returns
    -------
    int
        RoBERTa and its kin count positions from their padding on.
    """
    most = int(getattr(config, "max_position_embeddings", 0) or 0)
    if most and getattr(config, "model_type", "") in _COUNT_FROM_PADDING:
        most -= (getattr(config, "pad_token_id", 0) or 0) + 1
    return min(most, LONGEST) if most > 0 else LONGEST


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


def fit_vocabulary(model: Any, tokenizer: Any, *, vocabulary: str) -> list[str]:
    """Say what does not quite fit between model and tokenizer, or mend it where asked for.

    Parameters
    ----------
    model : transformers model
    tokenizer : transformers tokenizer
    vocabulary : {"model", "tokenizer"}
        ``tokenizer`` takes rows of the model away that no token has.

    Returns
    -------
    list of str
        Warnings; empty where all fits.
    """
    known, rows = n_types(tokenizer), n_rows(model)
    warnings: list[str] = []
    if model.get_output_embeddings() is None:
        return warnings
    if known > rows:
        warnings.append(f"the tokenizer has {known} tokens, the model {rows} rows: is it another model's?")
    if rows > known and vocabulary == "tokenizer":
        model.resize_token_embeddings(known)
    elif rows > known:
        warnings.append(
            f"the model has {rows} rows, the tokenizer {known} tokens: the rows left over share in every "
            "probability; vocabulary=tokenizer takes them away"
        )
    for mark in ("bos", "eos"):
        said, used = (getattr(one, f"{mark}_token_id", None) for one in (model.config, tokenizer))
        said = {said} if isinstance(said, int) else set(said or ())
        if used is not None and said and used not in said:
            warnings.append(f"{mark}: the tokenizer has {used}, the model's settings {sorted(said)}")
    return warnings
