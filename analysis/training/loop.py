"""Training loop of language models: batches of similar length, early stopping, exact resumption."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..errors import BadInput
from ..files import atomic_write
from .plan import Plan

Progress = Callable[[int, int, int], None]  # epoch, step, steps of an epoch
WARM_UP, POOL = 100, 50  # steps; batches sorted by length together
EVERY = 500  # steps between checkpoints
LAST, BEST = "last.pt", "best.pt"
IGNORED = -100  # the target that cross_entropy leaves out


@contextmanager
def explain_out_of_memory() -> Iterator[None]:
    """Convert the out-of-memory error of a device into one with a remedy."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise BadInput("the device's memory is too small.", remedy="Give a smaller --batch.") from error


@dataclass
class State:
    """Progress of a run; with the weights and the optimizer, all that resuming needs."""

    epoch: int = 0
    step: int = 0
    n_steps: int = 0
    rate: float = 0.0
    loss: float = 0.0
    n_tokens: int = 0
    waited: int = 0
    best: float = float("inf")
    history: list[dict[str, float]] = field(default_factory=list)


class Run:
    """Training of one model on one corpus.

    ``logits`` computes the logits of next tokens from a batch of ids; ``rows`` and ``held_out`` are token ids
    with the end mark at both ends; ``folder`` is that of the checkpoints; ``corpus`` is the digest of the
    text, so that a run is not resumed on another one.

    Notes
    -----
    Adam (Kingma & Ba 2015), 100 steps of warm-up, gradients clipped to norm 1, the rate halved after an epoch
    that did not improve the held-out perplexity. Order and dropout of every step depend on (seed, epoch,
    step) only: a resumed run gives the numbers of an uninterrupted one.
    """

    def __init__(
        self,
        model: Any,
        logits: Callable[[Any, torch.Tensor], torch.Tensor],
        rows: Sequence[Sequence[int]],
        held_out: Sequence[Sequence[int]],
        *,
        plan: Plan,
        folder: Path,
        corpus: str,
        device: str = "cpu",
    ) -> None:
        self.model, self.logits = model.to(device), logits
        self.rows, self.held_out = rows, held_out
        self.plan, self.folder, self.corpus, self.device = plan, folder, corpus, device
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=plan.lr)
        self.state = State(rate=plan.lr)

    def resume(self) -> None:
        """Continue from the last checkpoint, if there is one."""
        checkpoint = read_checkpoint(self.folder)
        if checkpoint is None:
            return
        if (checkpoint["learns"], checkpoint["corpus"]) != (self.plan.learns, self.corpus):
            difference = "settings" if checkpoint["learns"] != self.plan.learns else "text"
            raise BadInput(
                f"the checkpoint belongs to a run with other {difference}.",
                file=str(self.folder / LAST),
                remedy="Give the same corpus and settings (not epochs, patience), or another folder.",
            )
        self.model.load_state_dict(checkpoint["model"])
        self.optimizer.load_state_dict(checkpoint["optimizer"])
        self.state = State(**checkpoint["state"])

    def train(self, *, progress: Progress | None = None, every: int = EVERY) -> State:
        """Train until patience or epochs end; the model then has the weights of its best epoch."""
        state, plan = self.state, self.plan
        while state.epoch < plan.epochs and state.waited < plan.patience:
            batches = shuffled_batches(self.rows, plan.batch, seed=plan.seed, epoch=state.epoch)
            while state.step < len(batches):
                self._step([self.rows[index] for index in batches[state.step]])
                if state.step % every == 0:
                    self._save_checkpoint()
                if progress is not None:
                    progress(state.epoch, state.step, len(batches))
            self._close_epoch()
        self.model.load_state_dict(
            torch.load(self.folder / BEST, map_location=self.device, weights_only=True)
        )
        self.model.eval()
        return state

    @explain_out_of_memory()
    def measure(self, rows: Sequence[Sequence[int]]) -> tuple[float, int]:
        """Return the sum of log probabilities of all tokens and ends, in float32, and their number."""
        self.model.eval()
        total, n_tokens = 0.0, 0
        order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
        with torch.inference_mode():
            for start in range(0, len(order), self.plan.batch):
                group = [rows[index] for index in order[start : start + self.plan.batch]]
                loss, n = self._loss(group, half=False)
                total, n_tokens = total - float(loss), n_tokens + n
        return total, n_tokens

    @explain_out_of_memory()
    def _step(self, group: Sequence[Sequence[int]]) -> None:
        state = self.state
        torch.manual_seed(_current_seed(self.plan.seed, state.epoch, state.step))
        self.model.train()
        for part in self.optimizer.param_groups:
            part["lr"] = state.rate * min(1.0, (state.n_steps + 1) / WARM_UP)
        self.optimizer.zero_grad(set_to_none=True)
        loss, n = self._loss(group, half=self.plan.dtype == "bfloat16")
        if not torch.isfinite(loss):
            raise BadInput(
                f"the loss is not finite in epoch {state.epoch + 1}, step {state.step + 1}.",
                remedy="Give a smaller --lr, or --dtype float32.",
            )
        (loss / n).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        state.loss, state.n_tokens = state.loss + float(loss.detach()), state.n_tokens + n
        state.step, state.n_steps = state.step + 1, state.n_steps + 1

    def _loss(self, group: Sequence[Sequence[int]], *, half: bool) -> tuple[torch.Tensor, int]:
        """Return the summed cross entropy of a batch; padding on the right has no effect."""
        width = max(map(len, group)) - 1
        inputs = np.zeros((len(group), width), dtype=np.int64)
        targets = np.full((len(group), width), IGNORED, dtype=np.int64)
        for index, row in enumerate(group):
            inputs[index, : len(row) - 1], targets[index, : len(row) - 1] = row[:-1], row[1:]
        with torch.autocast(torch.device(self.device).type, dtype=torch.bfloat16, enabled=half):
            logits = self.logits(self.model, torch.as_tensor(inputs, device=self.device))
        flat = torch.as_tensor(targets, device=self.device).flatten()
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), flat, reduction="sum")
        return loss, int((targets != IGNORED).sum())

    def _close_epoch(self) -> None:
        state = self.state
        total, n_tokens = self.measure(self.held_out)
        with np.errstate(over="ignore"):
            perplexity = float(np.exp(-total / n_tokens))
        if not np.isfinite(perplexity):
            raise BadInput(
                f"the perplexity is not finite after epoch {state.epoch + 1}.", remedy="Give a smaller --lr."
            )
        trained = float(np.exp(state.loss / state.n_tokens))
        state.history.append(
            {"epoch": state.epoch + 1, "train_perplexity": trained, "perplexity": perplexity}
        )
        if perplexity < state.best:
            state.best, state.waited = perplexity, 0
            with atomic_write(self.folder / BEST) as draft:
                torch.save(self.model.state_dict(), draft)
        else:
            state.waited, state.rate = state.waited + 1, state.rate / 2
        state.epoch, state.step, state.loss, state.n_tokens = state.epoch + 1, 0, 0.0, 0
        self._save_checkpoint()

    def _save_checkpoint(self) -> None:
        checkpoint = {
            "learns": self.plan.learns,
            "corpus": self.corpus,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "state": asdict(self.state),
        }
        with atomic_write(self.folder / LAST) as draft:
            torch.save(checkpoint, draft)


def read_checkpoint(folder: Path) -> dict[str, Any] | None:
    """Read the last checkpoint of a folder; None if there is none."""
    path = folder / LAST
    if not path.is_file():
        return None
    try:
        checkpoint: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # broken bytes make the unpickler raise any type; reported below
        raise BadInput(
            "the checkpoint is broken.", file=str(path), remedy="Train without --resume."
        ) from error
    return checkpoint


def shuffled_batches(rows: Sequence[Sequence[int]], size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Return indices of rows in batches of similar length, in an order determined by seed and epoch.

    Examples
    --------
    >>> sorted(sum(shuffled_batches([[1], [1, 2], [3]], 2, seed=1, epoch=0), []))
    [0, 1, 2]
    """
    rng = np.random.default_rng([seed, epoch, 5])
    order = rng.permutation(len(rows)).tolist()
    batches = []
    for start in range(0, len(order), POOL * size):
        pool = sorted(order[start : start + POOL * size], key=lambda index: len(rows[index]))
        batches += [pool[first : first + size] for first in range(0, len(pool), size)]
    return [batches[index] for index in rng.permutation(len(batches)).tolist()]


def _current_seed(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))
