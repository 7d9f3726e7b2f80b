"""Train a language model: batches of like length, early stopping, checkpoints, an exact way back."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from analysis.errors import BadInput
from analysis.files import whole_file
from analysis.training.plan import Plan

Progress = Callable[[int, int, int], None]  # epoch, step, steps of an epoch
WARM_UP, POOL, EVERY = 100, 50, 500
LAST, BEST = "last.pt", "best.pt"


@contextmanager
def enough_memory() -> Iterator[None]:
    """Say what to do when the device's memory is too small, forward or backward."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise BadInput("the device's memory is too small.", remedy="Give a smaller --batch.") from error


@dataclass
class State:
    """Where a run stands; with the weights and the optimizer all that is needed to go on."""

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
    """One model on one corpus.

    Parameters
    ----------
    model, logits : torch module, and how it gives logits of next tokens from a batch of ids
    rows, held_out : sequences of token ids with the end mark at both ends
    plan : Plan
    folder : Path
        Where checkpoints lie.
    corpus : str
        Digest of the text, so that a run is not resumed on another one.
    device : str

    Notes
    -----
    Adam (Kingma & Ba 2015), 100 steps of warm-up, gradients cut to norm 1, the rate halved after an epoch
    that did not improve the perplexity of what is held out. Order and dropout of every step are drawn from
    (seed, epoch, step) alone: a run that goes on from a checkpoint gives the numbers of an unbroken one.
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
        """Go on from the last checkpoint, where there is one."""
        kept = read_checkpoint(self.folder)
        if kept is None:
            return
        if (kept["learns"], kept["corpus"]) != (self.plan.learns, self.corpus):
            what = "settings" if kept["learns"] != self.plan.learns else "text"
            raise BadInput(
                f"the checkpoint belongs to a run with other {what}.",
                file=str(self.folder / LAST),
                remedy="Give the same corpus and settings (not epochs, patience), or another folder.",
            )
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.state = State(**kept["state"])

    def train(self, *, progress: Progress | None = None, every: int = EVERY) -> State:
        """Train until patience or epochs end; the model then has the weights of its best epoch."""
        state, plan = self.state, self.plan
        while state.epoch < plan.epochs and state.waited < plan.patience:
            batches = shuffled_batches(self.rows, plan.batch, seed=plan.seed, epoch=state.epoch)
            while state.step < len(batches):
                self._step([self.rows[place] for place in batches[state.step]])
                if state.step % every == 0:
                    self._keep()
                if progress is not None:
                    progress(state.epoch, state.step, len(batches))
            self._close_epoch()
        self.model.load_state_dict(
            torch.load(self.folder / BEST, map_location=self.device, weights_only=True)
        )
        self.model.eval()
        return state

    @enough_memory()
    def measure(self, rows: Sequence[Sequence[int]]) -> tuple[float, int]:
        """Sum of log probabilities of all tokens and ends, in float32 as scorers have it, and how many."""
        self.model.eval()
        total, n_tokens = 0.0, 0
        order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        with torch.inference_mode():
            for start in range(0, len(order), self.plan.batch):
                group = [rows[place] for place in order[start : start + self.plan.batch]]
                loss, n = self._loss(group, half=False)
                total, n_tokens = total - float(loss), n_tokens + n
        return total, n_tokens

    @enough_memory()
    def _step(self, group: Sequence[Sequence[int]]) -> None:
        state = self.state
        torch.manual_seed(_seed_of(self.plan.seed, state.epoch, state.step))
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
        """Summed cross entropy of a batch; padding on the right is neither seen nor counted."""
        width = max(map(len, group)) - 1
        given = np.zeros((len(group), width), dtype=np.int64)
        wanted = np.full((len(group), width), -100, dtype=np.int64)
        for place, row in enumerate(group):
            given[place, : len(row) - 1], wanted[place, : len(row) - 1] = row[:-1], row[1:]
        with torch.autocast(torch.device(self.device).type, dtype=torch.bfloat16, enabled=half):
            logits = self.logits(self.model, torch.as_tensor(given, device=self.device))
        flat = torch.as_tensor(wanted, device=self.device).flatten()
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), flat, reduction="sum")
        return loss, int((wanted != -100).sum())

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
            with whole_file(self.folder / BEST) as draft:
                torch.save(self.model.state_dict(), draft)
        else:
            state.waited, state.rate = state.waited + 1, state.rate / 2
        state.epoch, state.step, state.loss, state.n_tokens = state.epoch + 1, 0, 0.0, 0
        self._keep()

    def _keep(self) -> None:
        kept = {
            "learns": self.plan.learns,
            "corpus": self.corpus,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "state": asdict(self.state),
        }
        with whole_file(self.folder / LAST) as draft:
            torch.save(kept, draft)


def read_checkpoint(folder: Path) -> dict[str, Any] | None:
    """Read the last checkpoint of a folder; None where there is none."""
    path = folder / LAST
    if not path.is_file():
        return None
    try:
        kept: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # the reader raises whatever broken bytes lead it to
        raise BadInput(
            "the checkpoint is broken.", file=str(path), remedy="Train without --resume."
        ) from error
    return kept


def shuffled_batches(rows: Sequence[Sequence[int]], size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Places of rows in batches of like length, in an order that seed and epoch decide.

    Examples
    --------
    >>> sorted(sum(shuffled_batches([[1], [1, 2], [3]], 2, seed=1, epoch=0), []))
    [0, 1, 2]
    """
    rng = np.random.default_rng([seed, epoch, 5])
    order = rng.permutation(len(rows)).tolist()
    batches = []
    for start in range(0, len(order), POOL * size):
        pool = sorted(order[start : start + POOL * size], key=lambda place: len(rows[place]))
        batches += [pool[first : first + size] for first in range(0, len(pool), size)]
    return [batches[place] for place in rng.permutation(len(batches)).tolist()]


def _seed_of(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))
