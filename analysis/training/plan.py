"""Settings of training: kind of model, sizes, tokenization, duration and seed."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..errors import BadInput, UnknownName
from ..scoring.words.tokens import Tokenization

KINDS = ("lstm", "transformer")
UNITS = ("space", "chars", "jieba", "bpe")
DTYPES = ("float32", "bfloat16")
SIZES: dict[str, dict[str, dict[str, int]]] = {
    "lstm": {
        "tiny": {"layers": 1, "width": 64},
        "small": {"layers": 1, "width": 256},
        "medium": {"layers": 2, "width": 650},
        "large": {"layers": 2, "width": 1024},
    },
    "transformer": {
        "tiny": {"layers": 2, "width": 64, "heads": 2, "context": 128},
        "small": {"layers": 4, "width": 256, "heads": 4, "context": 256},
        "medium": {"layers": 8, "width": 512, "heads": 8, "context": 512},
        "base": {"layers": 12, "width": 768, "heads": 12, "context": 1024},
    },
}
TINY = "tiny"  # in place of a pre-trained model: a small encoder with random weights
RATES = {"lstm": 3e-3, "transformer": 1e-3}


@dataclass(frozen=True)
class Plan:
    """Everything that determines what a training run learns.

    ``width`` is that of embeddings and states; ``heads`` and ``context`` (tokens, with the mark of the
    beginning) apply to the transformer only; ``vocabulary`` is the maximum number of types, without ``<unk>``
    and ``<eos>``. ``epochs`` and ``patience`` decide when to stop and may grow when a run is resumed.
    """

    kind: str = "lstm"
    layers: int = 1
    width: int = 64
    heads: int = 1
    context: int = 0
    tokens: str = "space"
    casing: str = "as-is"
    punctuation: str = "keep"
    vocabulary: int = 50_000
    seed: int = 1
    epochs: int = 20
    patience: int = 3
    batch: int = 32
    lr: float = 3e-3
    dropout: float = 0.1
    dtype: str = "float32"

    def __post_init__(self) -> None:
        for setting, value, values in (
            ("kind of model", self.kind, KINDS),
            ("token unit", self.tokens, UNITS),
            ("dtype", self.dtype, DTYPES),
        ):
            if value not in values:
                raise UnknownName(setting, value, values)
        _check_unit(self)
        Tokenization("space" if self.tokens == "bpe" else self.tokens, self.casing, self.punctuation)
        for name in ("layers", "width", "heads", "vocabulary", "epochs", "patience", "batch"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} is {getattr(self, name)}.", remedy="It must be 1 or more.")
        if not 0 < self.lr < 1:
            raise BadInput(f"lr is {self.lr}.", remedy="It must be between 0 and 1, such as 0.001.")
        if not 0 <= self.dropout < 1:
            raise BadInput(f"dropout is {self.dropout}.", remedy="It must be at least 0 and below 1.")
        if self.seed < 0:
            raise BadInput(f"seed is {self.seed}.", remedy="It must be 0 or more.")
        _check_kind(self)

    @property
    def learns(self) -> str:
        """SHA-256 of the settings that must not change when a run is resumed."""
        fixed = {name: value for name, value in asdict(self).items() if name not in ("epochs", "patience")}
        return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Tuning:
    """Settings of fine-tuning, by default those of BERT's authors; random weights need a higher rate."""

    restarts: int = 5
    seed: int = 1
    epochs: int = 4
    patience: int = 2
    batch: int = 32
    lr: float = 2e-5

    def __post_init__(self) -> None:
        for name in ("restarts", "epochs", "patience", "batch"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} is {getattr(self, name)}.", remedy="It must be 1 or more.")
        if self.seed < 0:
            raise BadInput(f"seed is {self.seed}.", remedy="It must be 0 or more.")
        if not 0 < self.lr < 1:
            raise BadInput(f"lr is {self.lr}.", remedy="It must be between 0 and 1, such as 0.00002.")


def make_plan(kind: str, size: str = "tiny", **settings: Any) -> Plan:
    """Make a plan from a named size; settings that are not None replace its values.

    Notes
    -----
    ``medium`` of the LSTM has the sizes of Gulordava et al. (2018): two layers of 650.

    Examples
    --------
    >>> plan = make_plan("transformer", "tiny", heads=4)
    >>> plan.layers, plan.width, plan.heads, plan.lr
    (2, 64, 4, 0.001)
    """
    if kind not in KINDS:
        raise UnknownName("kind of model", kind, KINDS)
    if size not in SIZES[kind]:
        raise UnknownName(f"size of {kind}", size, list(SIZES[kind]))
    chosen = {name: value for name, value in settings.items() if value is not None}
    for name in chosen:
        if name not in {field.name for field in fields(Plan)}:
            raise UnknownName("setting", name, [field.name for field in fields(Plan)])
    return Plan(kind=kind, **{"lr": RATES[kind], **SIZES[kind][size], **chosen})


def _check_unit(plan: Plan) -> None:
    """Check the unit before the tokenizer is made, which would ask to install jieba in vain."""
    if plan.kind == "lstm" and plan.tokens == "bpe":
        raise BadInput(
            "an LSTM reads words or characters, not bpe.", remedy="Use --tokens space, chars or jieba."
        )
    if plan.kind == "transformer" and plan.tokens == "jieba":
        raise BadInput(
            "a transformer does not support jieba.", remedy="Use --tokens chars or bpe, or --kind lstm."
        )


def _check_kind(plan: Plan) -> None:
    if plan.kind == "lstm":
        if plan.heads != 1 or plan.context:
            raise BadInput(
                "an LSTM has neither heads nor context.", remedy="Leave --heads and --context out."
            )
        return
    if plan.width % plan.heads:
        raise BadInput(f"width {plan.width} is no multiple of {plan.heads} heads.")
    if plan.context < 3:
        raise BadInput(f"context is {plan.context}.", remedy="A transformer needs 3 tokens or more.")
    if plan.tokens == "bpe" and plan.punctuation != "keep":
        raise BadInput("bpe splits punctuation by itself.", remedy="Leave --punctuation out.")
    if plan.tokens == "bpe" and plan.vocabulary < 256:
        raise BadInput(f"vocabulary is {plan.vocabulary}.", remedy="bpe begins with 256 bytes.")
