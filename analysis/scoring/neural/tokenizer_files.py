"""Tokenizers of models, whose tokens are those of their ``tokenizer.json``."""

import copy
import pickle
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import BadInput

TOKENIZER_FILE = re.compile(
    r"^(tokenizer|vocab|merges|spiece|sentencepiece|bpe)|\.(model|vocab|bpe|tiktoken)$"
)
# What tokenizers change or divide differently: capitals, spaces, accents, ligatures, digits, scripts, emoji.
PROBES = (
    "Dogs sleep.",
    "dogs",
    "The café’s  2,025 ﬁsh didn't co-operate… (naïve!)",
    "ÅNGSTRÖM İzmir ½ ＡＢＣ",
    "我不喜欢这只猫。 猫が好き",
    "Я люблю кошек, أحب القطط",
    "😀 \t e\u0301\u00a0x\u200dy\n",
)
PARTS = ("normalizer", "pre_tokenizer", "model")  # what determines the tokens of a text, beside added tokens
MATCHING = ("content", "single_word", "lstrip", "rstrip", "normalized")  # of an added token


def open_tokenizer(
    transformers: Any, name: str, arguments: Mapping[str, Any]
) -> tuple[Any, Any | None, list[str]]:
    """Open a tokenizer; return it, the one that the library makes if that is another one, and warnings.

    Notes
    -----
    Many tokenizer classes of transformers 5 take only the vocabulary from ``tokenizer.json`` and build
    normalizer and pre-tokenizer anew, as they are in the model of their name. Slow classes do not read the
    file at all. A model was trained with the tokens of its file, so the file decides.
    """
    tokenizer = transformers.AutoTokenizer.from_pretrained(name, **arguments)
    path = _tokenizer_file(transformers, name, arguments.get("revision"))
    if path is None:
        return tokenizer, None, []
    backend = getattr(tokenizer, "backend_tokenizer", None)
    from_file = _read(path)
    if backend is not None and _is_same(backend, from_file):
        return tokenizer, None, []
    library_tokenizer = copy.deepcopy(tokenizer)
    own_tokenizer = _follow(transformers, tokenizer, from_file)
    return own_tokenizer, library_tokenizer, _differences(own_tokenizer, library_tokenizer)


def tokens_differ(own_tokenizer: Any, library_tokenizer: Any, texts: Sequence[str]) -> list[bool]:
    """Return which texts two tokenizers cut into different tokens."""
    if not texts:
        return []
    own, other = (
        tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        for tokenizer in (own_tokenizer, library_tokenizer)
    )
    return [list(first) != list(second) for first, second in zip(own, other, strict=True)]


def refuse_folder_without_tokenizer(name: str) -> None:
    """Refuse a folder without tokenizer files, for which the library would make an empty tokenizer."""
    folder = Path(name)
    if (folder / "config.json").is_file() and not any(
        TOKENIZER_FILE.search(path.name) for path in folder.iterdir()
    ):
        raise BadInput(
            f"the model {name!r} cannot be opened: the folder has no tokenizer.",
            remedy="Copy the tokenizer's files (tokenizer.json, tokenizer_config.json) beside the weights.",
        )


def _tokenizer_file(transformers: Any, name: str, revision: str | None) -> str | None:
    """Return the path of the file that the library would read, None where there is none."""
    auto, base = transformers.models.auto.tokenization_auto, transformers.tokenization_utils_base
    listed = auto.get_tokenizer_config(name, revision=revision).get("fast_tokenizer_files")
    # Some folders have files for versions of the library, such as tokenizer.4.0.0.json.
    file = base.get_fast_tokenizer_file(listed) if listed else "tokenizer.json"
    path: str | None = transformers.utils.cached_file(
        name, file, revision=revision, _raise_exceptions_for_missing_entries=False
    )
    return path


def _read(path: str) -> Any:
    """Read a file without its settings of truncation and padding, which would cut or fill sentences."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _is_same(backend: Any, from_file: Any) -> bool:
    """Return whether two tokenizers give every text the same tokens; one may have further added tokens."""
    added, needed = (
        {(number, *(getattr(token, name) for name in MATCHING)) for number, token in tokens.items()}
        for tokens in (backend.get_added_tokens_decoder(), from_file.get_added_tokens_decoder())
    )
    return needed <= added and all(_state(backend, name) == _state(from_file, name) for name in PARTS)


def _state(backend: Any, name: str) -> bytes:
    """Return all settings of a part of a tokenizer; pickles are faster than JSON of a vocabulary."""
    part = getattr(backend, name)
    return b"" if part is None else pickle.dumps(part)


def _follow(transformers: Any, tokenizer: Any, from_file: Any) -> Any:
    """Return a tokenizer with the tokens of a file and the marks of another one.

    The class is kept where it has the same vocabulary: some know marks of several languages.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None and backend.get_vocab() == from_file.get_vocab():
        for name in (*PARTS, "decoder"):
            setattr(backend, name, getattr(from_file, name))
        if _is_same(backend, from_file):
            return tokenizer
    vocabulary = from_file.get_vocab()
    marks = {name: mark for name, mark in tokenizer.special_tokens_map.items() if mark in vocabulary}
    settings = getattr(tokenizer, "init_kwargs", {})
    own_marks = {name: settings[name] for name in ("add_bos_token", "add_eos_token") if name in settings}
    followed = transformers.PreTrainedTokenizerFast(tokenizer_object=from_file, **marks, **own_marks)
    followed.model_input_names = tokenizer.model_input_names
    followed.chat_template = getattr(tokenizer, "chat_template", None)
    return followed


def _differences(own_tokenizer: Any, library_tokenizer: Any) -> list[str]:
    """Return a warning with the first probe that the library would cut otherwise; none if there is none."""
    class_name = type(library_tokenizer).__name__
    for text, differs in zip(PROBES, tokens_differ(own_tokenizer, library_tokenizer, PROBES), strict=True):
        if differs:
            own, other = (_tokens(tokenizer, text) for tokenizer in (own_tokenizer, library_tokenizer))
            return [
                f"tokens are those of tokenizer.json; transformers' {class_name} would read “{text}” as "
                f"{other} in place of {own}"
            ]
    return []


def _tokens(tokenizer: Any, text: str) -> str:
    return " ".join(tokenizer.convert_ids_to_tokens(tokenizer(text, add_special_tokens=False)["input_ids"]))
