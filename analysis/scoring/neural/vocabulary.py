"""Vocabulary and marks of a model and its tokenizer, and whether they match."""

import hashlib
from typing import Any

from ...errors import BadInput


def begin_mark(tokenizer: Any, option: str) -> tuple[int | None, str]:
    """Return the mark before a sentence and its description; ``option`` is the value of ``bos``."""
    marks: dict[str, Any] = {"bos": tokenizer.bos_token_id, "eos": tokenizer.eos_token_id}
    if option in marks and marks[option] is None:
        raise BadInput(f"the model has no {option} token.", remedy="Use bos=auto or bos=none.")
    for name in ("bos", "eos") if option == "auto" else (option,):
        if marks.get(name) is not None:
            return int(marks[name]), f"{name}:{marks[name]}"
    return None, "none"


def n_types(tokenizer: Any) -> int:
    """Return the size of a tokenizer's vocabulary: its highest number plus one."""
    return 1 + max(tokenizer.get_vocab().values(), default=-1)


def n_rows(model: Any) -> int:
    """Return the number of tokens of a model: the rows of its input embeddings."""
    weight = getattr(model.get_input_embeddings(), "weight", None)
    if weight is None:
        raise BadInput(
            f"{type(model).__name__} has no table of token embeddings, so its tokens cannot be checked.",
            remedy="Use a model that reads tokens of text.",
        )
    return int(weight.shape[0])


def tokenizer_digest(tokenizer: Any) -> str:
    """Return the SHA-256 of everything that determines a tokenizer's output."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    text = backend.to_str() if backend is not None else repr(sorted(tokenizer.get_vocab().items()))
    return hashlib.sha256(text.encode()).hexdigest()


def fit_vocabulary(model: Any, tokenizer: Any, *, vocabulary: str) -> list[str]:
    """Return warnings where model and tokenizer differ; remove rows without a token if requested."""
    types, rows = n_types(tokenizer), n_rows(model)
    warnings: list[str] = []
    if model.get_output_embeddings() is None:
        return warnings
    if types > rows:
        warnings.append(f"the tokenizer has {types} tokens, the model {rows} rows: is it another model's?")
    if rows > types and vocabulary == "tokenizer":
        model.resize_token_embeddings(types)
    elif rows > types:
        warnings.append(
            f"the model has {rows} rows, the tokenizer {types} tokens: the remaining rows are part of every "
            "probability; vocabulary=tokenizer removes them"
        )
    for mark in ("bos", "eos"):
        configured, token = (getattr(owner, f"{mark}_token_id", None) for owner in (model.config, tokenizer))
        allowed = {configured} if isinstance(configured, int) else set(configured or ())
        if token is not None and allowed and token not in allowed:
            warnings.append(f"{mark}: the tokenizer has {token}, the model's settings {sorted(allowed)}")
    return warnings
