"""Registered kinds of scorer: the built-in ones, and those of installed packages."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..plugins.registry import Plugin, Registry
from .base import Progress, Scorer, Scores
from .model_uri import ModelURI, Option, parse_model_uri, parse_options
from .scorers.arpa import ArpaScorer
from .scorers.babylm_predictions import BabyLMPredictionScorer
from .scorers.causal import CausalScorer
from .scorers.classifier import ClassifierScorer
from .scorers.diffusion import DiffusionScorer
from .scorers.harness_samples import HarnessSampleScorer
from .scorers.lstm import LSTMScorer
from .scorers.masked import MaskedScorer
from .scorers.minicons_scores import MiniconsScorer
from .scorers.mntp import MNTPScorer
from .scorers.seq2seq import Seq2SeqScorer
from .scorers.served import ServedScorer
from .scorers.tables import TableScorer

Maker = Callable[[ModelURI], Scorer]
GROUP = "obelus.scorers"  # entry points of packages that offer further kinds
BUILT_IN: dict[str, Maker] = {
    "arpa": ArpaScorer,
    "babylm": BabyLMPredictionScorer,
    "csv": TableScorer,
    "hf-causal": CausalScorer,
    "hf-masked": MaskedScorer,
    "hf-mntp": MNTPScorer,
    "hf-seq2seq": Seq2SeqScorer,
    "hf-classifier": ClassifierScorer,
    "hf-diffusion": DiffusionScorer,
    "lm-eval": HarnessSampleScorer,
    "lstm": LSTMScorer,
    "minicons": MiniconsScorer,
    "openai": ServedScorer,
}
OPTIONS: dict[str, tuple[Option, ...]] = {
    "arpa": ArpaScorer.OPTIONS,
    "babylm": BabyLMPredictionScorer.OPTIONS,
    "csv": TableScorer.OPTIONS,
    "hf-causal": CausalScorer.OPTIONS,
    "hf-masked": MaskedScorer.OPTIONS,
    "hf-mntp": MNTPScorer.OPTIONS,
    "hf-seq2seq": Seq2SeqScorer.OPTIONS,
    "hf-classifier": ClassifierScorer.OPTIONS,
    "hf-diffusion": DiffusionScorer.OPTIONS,
    "lm-eval": HarnessSampleScorer.OPTIONS,
    "lstm": LSTMScorer.OPTIONS,
    "minicons": MiniconsScorer.OPTIONS,
    "openai": ServedScorer.OPTIONS,
}


class _PluginScorer:
    """A plugin's scorer whose errors name its package.

    Errors of files and networks pass, because a job tries them again; so do errors of ``progress``, which are
    the caller's own.
    """

    def __init__(self, plugin: Plugin, component: Any) -> None:
        self._plugin, self._component = plugin, component

    def __getattr__(self, name: str) -> Any:
        return getattr(self._component, name)

    def score(self, sentences: Sequence[str], *, progress: Progress | None = None, **options: Any) -> Scores:
        """Score sentences; see :class:`Scorer`."""
        of_caller: list[Exception] = []

        def report(n_scored: int) -> None:
            try:
                if progress is not None:
                    progress(n_scored)
            except Exception as error:
                of_caller.append(error)
                raise

        try:
            scores = self._component.score(sentences, progress=report, **options)
        except OSError:
            raise
        except Exception as error:
            if error in of_caller:
                raise
            raise self._plugin.failure(error) from error
        if not isinstance(scores, Scores):
            raise self._plugin.failure(TypeError(f"it returned {type(scores).__name__}"))
        return scores


def _adopt(plugin: Plugin) -> Maker:
    """The maker of a plugin; options are its own."""
    if not callable(plugin.component):
        raise TypeError("a scorer is a callable that takes a ModelURI")

    def make(uri: ModelURI) -> Scorer:
        try:
            return _PluginScorer(plugin, plugin.component(uri))
        except OSError:
            raise
        except Exception as error:
            raise plugin.failure(error) from error

    return make


#: Packages for the wheel alone need no declared version of the interface: scorers had none at first.
SCORERS: Registry[Maker] = Registry("scorers", BUILT_IN, adopt=_adopt, declares_api=False)


def scorer(uri: str) -> Scorer:
    """Open the scorer that a model URI names, such as ``arpa:model.arpa`` or ``csv:scores.csv``.

    Parameters
    ----------
    uri : str
        ``kind:target?option=value``; the kind is ``arpa``, ``babylm``, ``csv``, ``hf-causal``,
        ``hf-masked``, ``hf-mntp``, ``hf-seq2seq``, ``hf-classifier``, ``hf-diffusion``, ``lm-eval``,
        ``lstm``, ``minicons`` or ``openai``, or one that an installed package offers in the entry-point
        group ``obelus.scorers``.

    Returns
    -------
    Scorer
        Ready to score.

    Raises
    ------
    UnknownName
        If the kind, an option or its value does not exist; near names are suggested.
    BadInput
        If the URI or the model cannot be read, or the package that offers the kind cannot be imported.

    Examples
    --------
    >>> scorer("csv")
    Traceback (most recent call last):
    obelus.errors.BadInput: 'csv' is not a model URI. Write kind:target, such as arpa:model.arpa.
    """
    parsed = parse_model_uri(uri)
    return SCORERS.find(parsed.kind, noun="kind of model")(parsed)


def may_have_tokens(kind: str) -> bool:
    """Return whether models of a kind may give tokens; kinds that do not declare it are opened to find out.

    Examples
    --------
    >>> may_have_tokens("arpa"), may_have_tokens("hf-causal"), may_have_tokens("csv")
    (True, True, False)
    """
    capabilities = getattr(BUILT_IN.get(kind), "capabilities", None)
    return capabilities is None or "tokens" in capabilities


def check_options(uri: ModelURI, *, without: Collection[str] = ()) -> None:
    """Validate the options of a model URI without opening the model; installed packages check their own.

    Examples
    --------
    >>> check_options(ModelURI("hf-masked", "bert-base-uncased", {"boundary": "corrected"}))
    Traceback (most recent call last):
    obelus.errors.UnknownName: unknown option of hf-masked 'boundary'. Did you mean 'vocabulary'?
    """
    if uri.kind in OPTIONS:
        parse_options(uri, [option for option in OPTIONS[uri.kind] if option.name not in without])
