"""Repeated fine-tuning of one model from different seeds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..errors import BadInput
from ..scoring.neural.loading import import_optional, load_tokenizer, resolve_device
from .cola import Labelled, evaluate
from .loop import explain_out_of_memory
from .plan import TINY, Tuning
from .transformer import quiet

NAMES = {0: "unacceptable", 1: "acceptable"}
LONGEST = 128  # tokens of a sentence at most
MARKS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


@dataclass(frozen=True)
class Restart:
    """The best epoch of one restart: its weights and their evaluation."""

    seed: int
    weights: dict[str, torch.Tensor]
    report: dict[str, Any]


class Tuner:
    """A model and its data; :meth:`run` fine-tunes it from a seed.

    AdamW (Loshchilov & Hutter 2019), warm-up over a tenth of the steps, then linear decay to zero.
    """

    def __init__(
        self, name: str, train: Labelled, development: Labelled, *, tuning: Tuning, device: str
    ) -> None:
        self.device = resolve_device(device, remedy="Use --device cpu.")
        self.name, self.train, self.development, self.tuning = name, train, development, tuning
        self.transformers = import_optional("transformers")
        self.tokenizer = self._tokenizer()
        self.model: Any = self._fresh()
        self.max_tokens = min(
            int(getattr(self.model.config, "max_position_embeddings", 0) or LONGEST),
            int(self.tokenizer.model_max_length),
        )
        sentences = [*train.sentences, *development.sentences]
        self.n_cut = sum(len(ids) > self.max_tokens for ids in self.tokenizer(sentences)["input_ids"])

    @explain_out_of_memory()
    def run(self, seed: int, *, progress: Callable[[int], None] | None = None) -> Restart:
        """Fine-tune from a seed, which determines head (all weights for ``tiny``), order and dropout."""
        tuning, labels = self.tuning, np.array(self.train.labels)
        devices = range(torch.cuda.device_count()) if self.device == "cuda" else []
        best: Restart | None = None
        waited, step = 0, 0
        with torch.random.fork_rng(devices=list(devices)):
            torch.manual_seed(seed)
            self.model = self._fresh().to(self.device)
            optimizer = torch.optim.AdamW(self.model.parameters(), lr=tuning.lr, weight_decay=0.01)
            n_batches = -(-len(labels) // tuning.batch)
            for epoch in range(tuning.epochs):
                self.model.train()
                order = np.random.default_rng([seed, epoch]).permutation(len(labels))
                for indices in np.array_split(order, n_batches):
                    rate = _rate(step, n_batches * tuning.epochs)
                    for part in optimizer.param_groups:
                        part["lr"] = tuning.lr * rate
                    optimizer.zero_grad(set_to_none=True)
                    logits = self._logits([self.train.sentences[index] for index in indices])
                    targets = torch.as_tensor(labels[indices], device=self.device)
                    loss = torch.nn.functional.cross_entropy(logits, targets)
                    if not torch.isfinite(loss):
                        raise BadInput(
                            f"the loss is not finite with seed {seed}.", remedy="Give a smaller --lr."
                        )
                    loss.backward()
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                    optimizer.step()
                    step += 1
                report = evaluate(self.development.labels, self.decide(self.development.sentences))
                if progress is not None:
                    progress(epoch)
                if best is None or report["mcc"] > best.report["mcc"]:
                    state = {name: value.cpu().clone() for name, value in self.model.state_dict().items()}
                    best, waited = Restart(seed, state, {"epoch": epoch + 1, **report}), 0
                else:
                    waited += 1
                if waited >= tuning.patience:
                    break
        if best is None:
            raise BadInput("nothing was trained.")
        return best

    def load(self, restart: Restart) -> None:
        """Load the weights of a restart."""
        self.model.load_state_dict(restart.weights)

    @explain_out_of_memory()
    def decide(self, sentences: Sequence[str]) -> list[int]:
        """Predict the label of each sentence, the one with the higher logit."""
        self.model.eval()
        order = sorted(range(len(sentences)), key=lambda index: len(sentences[index]))
        labels = [0] * len(sentences)
        with torch.inference_mode():
            for start in range(0, len(order), self.tuning.batch):
                indices = order[start : start + self.tuning.batch]
                batch = self._logits([sentences[index] for index in indices]).argmax(-1).tolist()
                for index, label in zip(indices, batch, strict=True):
                    labels[index] = int(label)
        return labels

    def save(self, folder: Path) -> None:
        """Write model and tokenizer in the format of the hub."""
        with quiet(self.transformers):
            self.model.cpu().save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)

    def _logits(self, sentences: Sequence[str]) -> torch.Tensor:
        encoding = self.tokenizer(
            list(sentences), padding=True, truncation=True, max_length=self.max_tokens, return_tensors="pt"
        )
        inputs = {name: encoding[name].to(self.device) for name in ("input_ids", "attention_mask")}
        logits: torch.Tensor = self.model(**inputs).logits.float()
        return logits

    def _tokenizer(self) -> Any:
        if self.name == TINY:
            return _byte_pairs(self.transformers, self.train.sentences)
        with quiet(self.transformers):
            tokenizer, _ = load_tokenizer(self.name)
        if tokenizer.pad_token is None:
            if tokenizer.eos_token is None:
                raise BadInput(f"the tokenizer of {self.name!r} has no token for padding.")
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer

    def _fresh(self) -> Any:
        settings = {"num_labels": 2, "id2label": NAMES, "label2id": {v: k for k, v in NAMES.items()}}
        if self.name == TINY:
            config = self.transformers.BertConfig(
                vocab_size=len(self.tokenizer),
                hidden_size=64,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=128,
                max_position_embeddings=LONGEST,
                pad_token_id=self.tokenizer.pad_token_id,
                **settings,
            )
            return self.transformers.BertForSequenceClassification(config)
        with quiet(self.transformers):
            model = self._open_model("AutoModelForSequenceClassification", **settings)
        if model.config.pad_token_id is None:
            model.config.pad_token_id = self.tokenizer.pad_token_id
        return model

    def _open_model(self, loader: str, **settings: Any) -> Any:
        is_folder = Path(self.name).exists()
        name, _, revision = (self.name, "", "") if is_folder else self.name.partition("@")
        try:
            return getattr(self.transformers, loader).from_pretrained(
                name, revision=revision or None, trust_remote_code=False, **settings
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            reason = str(error).strip().split("\n")[0][:200]
            raise BadInput(
                f"the model {self.name!r} cannot be opened: {reason}",
                remedy="Give tiny, a folder with config, weights and tokenizer, or a name of the hub.",
            ) from error


def _rate(step: int, n_steps: int) -> float:
    warm = max(1, n_steps // 10)
    return (step + 1) / warm if step < warm else (n_steps - step) / max(1, n_steps - warm)


def _byte_pairs(transformers: Any, sentences: Sequence[str]) -> Any:
    """Train byte-level BPE on the training set, with marks around a sentence."""
    # The library's WordPiece trainer is not deterministic, so runs of one seed would differ.
    tokenizers = import_optional("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token=MARKS["unk"]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=4_000,
        special_tokens=list(MARKS.values()),
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences, trainer)
    ends = [(MARKS[name], tokenizer.token_to_id(MARKS[name])) for name in ("cls", "sep")]
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{MARKS['cls']} $A {MARKS['sep']}", special_tokens=ends
    )
    names = {f"{name}_token": token for name, token in MARKS.items()}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=LONGEST, **names)
