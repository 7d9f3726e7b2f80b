"""Vocabulary and marks of a model and its tokenizer, and whether they match."""

import hashlib
from collections.abc import Sequence
from typing import Any

from ...errors import BadInput


def begin_marks(tokenizer: Any, option: str) -> tuple[list[int], str]:
    """Return the marks before a sentence and their description; ``option`` is the value of ``bos``.

    ``auto`` is what the tokenizer itself writes before a sentence, with which the model was trained (XGLM
    begins with its end mark, GLM with two marks); where it writes none, its bos token, else its eos token.
    """
    marks: dict[str, Any] = {"bos": tokenizer.bos_token_id, "eos": tokenizer.eos_token_id}
    if option in marks and marks[option] is None:
        raise BadInput(f"the model has no {option} token.", remedy="Use bos=auto or bos=none.")
    written = outer_marks(tokenizer)[0] if option == "auto" else []
    if written and written not in ([mark] for mark in marks.values()):
        return written, f"tokenizer:{'+'.join(map(str, written))}"
    for name in ("bos", "eos") if option == "auto" else (option,):
        if marks.get(name) is not None and written in ([], [marks[name]]):
            return [int(marks[name])], f"{name}:{marks[name]}"
    return [], "none"


def begin_warning(tokenizer: Any, marks: Sequence[int]) -> list[str]:
    """Return a warning where sentences begin with other marks than the tokenizer's bos token."""
    bos = tokenizer.bos_token_id
    if not marks or bos is None or list(marks) == [bos] or outer_marks(tokenizer)[0] != list(marks):
        return []
    written = " ".join(map(str, tokenizer.convert_ids_to_tokens(list(marks))))
    return [
        f"sentences begin with {written}, as the tokenizer writes them; bos=bos takes {tokenizer.bos_token}"
    ]


def outer_marks(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the marks that the tokenizer adds before and after a sentence."""
    bare = list(tokenizer("a", add_special_tokens=False)["input_ids"])
    marked: list[int] = list(tokenizer("a")["input_ids"])
    for start in range(len(marked) - len(bare) + 1):
        if marked[start : start + len(bare)] == bare:
            return marked[:start], marked[start + len(bare) :]
    return [], []


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


def n_target_rows(model: Any) -> int:
    """Return the number of tokens that an encoder-decoder predicts, which may be another vocabulary's."""
    head = getattr(model.get_output_embeddings(), "weight", None)
    return n_rows(model) if head is None else int(head.shape[0])


class TargetSide:
    """The target side of an encoder-decoder's tokenizer: texts become the pieces of the decoder."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def __call__(self, text: Any, **options: Any) -> Any:
        """Tokenize targets."""
        return self._tokenizer(text_target=text, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    @property
    def unk_token_id(self) -> int | None:
        """The unknown token of the target's vocabulary."""
        vocabulary = getattr(self._tokenizer, "target_encoder", {})
        unknown = vocabulary.get(self._tokenizer.unk_token, self._tokenizer.unk_token_id)
        return None if unknown is None else int(unknown)


def target_side(tokenizer: Any) -> Any:
    """Return what tokenizes the targets of an encoder-decoder.

    FSMT's tokenizer has the target's vocabulary for decoding only, and reads ``text_target`` as a source; the
    same class with both sides exchanged reads targets.
    """
    if not hasattr(tokenizer, "tgt_vocab_file"):
        return TargetSide(tokenizer)
    settings = {
        **tokenizer.init_kwargs,
        "langs": [tokenizer.tgt_lang, tokenizer.src_lang],
        "src_vocab_file": tokenizer.tgt_vocab_file,
        "tgt_vocab_file": tokenizer.src_vocab_file,
        "merges_file": tokenizer.merges_file,
    }
    return type(tokenizer)(**settings)


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
