"""Composition of a sentence and its context: the only place that decides what of them is shown and read.

Pages for participants show the frames of :func:`compose`; language models read the words of the same frames.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from analysis.text import BOLD
from experiments.materials.markup import Node, as_nodes, join_words, plain

Role = Literal["context", "target"]

_TURN = re.compile(r"[^\W\d_][\w .'-]{0,19}: ?\S")  # A: …, Waiter: …
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Frame:
    """One text of a stimulus.

    Attributes
    ----------
    role : {"context", "target"}
        Text that is judged, or that precedes it.
    text : str
        The text as stored.
    is_marked : bool
        Whether tags in the text are markup.
    """

    role: Role
    text: str
    is_marked: bool = False

    @cached_property
    def words(self) -> str:
        """The text without markup, as language models read it."""
        if self.role == "context":
            return "\n".join(map(join_words, self.lines))
        return plain(self.text) if self.is_marked else self.text

    @cached_property
    def lines(self) -> list[list[Node]]:
        """The lines of a context as nodes."""
        return [_nodes(line, is_marked=self.is_marked) for line in _LINE_END.split(self.text.strip())]

    @cached_property
    def is_dialogue(self) -> bool:
        """Whether every line, of two or more, is a turn such as ``A: Did she leave?``."""
        lines = [line for line in self.words.splitlines() if line.strip()]
        return len(lines) > 1 and all(map(_TURN.match, lines))


@dataclass(frozen=True)
class Stimulus:
    """The frames of a trial or of one of its options, in the order of their showing."""

    frames: tuple[Frame, ...]

    @property
    def target(self) -> Frame:
        """The text that is judged and scored."""
        return self.frames[-1]

    @property
    def context(self) -> Frame | None:
        """The text before the target, if any."""
        return self.frames[0] if len(self.frames) > 1 else None


def compose(text: str, *, context: str = "", is_marked: bool = False) -> Stimulus:
    """Compose a stimulus of a sentence and its context.

    Line breaks of contexts are kept and ``**bold**`` is rendered; models read the words without asterisks.

    Examples
    --------
    >>> stimulus = compose("She did.", context="A: **Who** left?\\nB: No idea.")
    >>> stimulus.context.words, stimulus.target.words
    ('A: Who left?\\nB: No idea.', 'She did.')
    >>> stimulus.context.lines[0], stimulus.context.is_dialogue
    (['A: ', {'tag': 'strong', 'nodes': ['Who']}, ' left?'], True)
    """
    target = Frame("target", text, is_marked)
    return Stimulus((Frame("context", context, is_marked), target) if context.strip() else (target,))


def _nodes(line: str, *, is_marked: bool) -> list[Node]:
    if is_marked:
        return as_nodes(BOLD.sub(r"<strong>\1</strong>", line))
    nodes: list[Node] = []
    for place, part in enumerate(BOLD.split(line)):  # odd parts are bold
        if part:
            nodes.append({"tag": "strong", "nodes": [part]} if place % 2 else part)
    return nodes
