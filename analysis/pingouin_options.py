"""pingouin without the rounding of its tables, imported on first use."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from types import ModuleType
from warnings import catch_warnings, simplefilter

_OPTIONS = RLock()  # options and filters are global: no thread may restore them while another one computes


@contextmanager
def unrounded_pingouin() -> Iterator[ModuleType]:
    """Give pingouin with every digit of intervals and Bayes factors, and without its warnings.

    The warnings are about pandas, and about columns (power, Bayes factors) that the callers do not take.
    """
    import pingouin

    with _OPTIONS, catch_warnings():
        simplefilter("ignore")
        options = {name: value for name, value in pingouin.options.items() if name.startswith("round")}
        pingouin.options.update(dict.fromkeys(options))
        try:
            yield pingouin
        finally:
            pingouin.options.update(options)
