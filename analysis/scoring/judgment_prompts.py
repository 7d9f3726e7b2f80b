"""Prompts that ask an instruction-tuned model for a judgment, scored by the probabilities of the answers."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from .base import Progress, Scorer, Scores, assemble_scores
from .words.contexts import TEMPLATE, model_context_rule

Floats = npt.NDArray[np.float64]
YES_NO, RATING, FORCED_CHOICE = "yes_no", "rating", "forced_choice"
PROMPT_METHODS = (YES_NO, RATING, FORCED_CHOICE)
ANSWERS_CAPABILITY = "answers"
SLOTS = {YES_NO: ("{sentence}",), RATING: ("{sentence}",), FORCED_CHOICE: ("{first}", "{second}")}
QUESTIONS = {
    YES_NO: "Is the following sentence grammatically acceptable?\n\n{sentence}\n\n"
    "Answer with one word: {answers}.",
    RATING: "How acceptable is the following sentence, from 1 (completely unacceptable) to 7 (completely "
    "acceptable)?\n\n{sentence}\n\nAnswer with one number: {answers}.",
    FORCED_CHOICE: "Which of these two sentences is more acceptable?\n\nA: {first}\n\nB: {second}\n\n"
    "Answer with one letter: {answers}.",
}
ANSWERS = {YES_NO: ("Yes", "No"), RATING: tuple("1234567"), FORCED_CHOICE: ("A", "B")}
CONTEXT_LEAD = "Context: {context}\n\n"


@runtime_checkable
class AnswersQuestions(Protocol):
    """A scorer that gives the log probability of answers to a user's message."""

    answer_settings: dict[str, str]

    def chat_template(self) -> str:
        """Return the template around a message; raise BadInput if there is none."""
        ...

    def answer_logprobs(
        self, messages: Sequence[str], answers: Sequence[str], *, progress: Progress | None = None
    ) -> Floats:
        """Return log P(answer | message), messages by answers; NaN where it is not known."""
        ...


@dataclass(frozen=True)
class JudgmentPrompt:
    """A question with slots, and its answers.

    Answers begin with the one for acceptable (``yes_no``), rise from worst to best (``rating``), or name the
    first and the second sentence (``forced_choice``).
    """

    method: str
    question: str
    answers: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """Digest of the question and its answers."""
        text = json.dumps([self.method, self.question, self.answers], ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def messages(self, sentence: str, *, context: str, other: str = "") -> tuple[str, str]:
        """Return the question with its options in one order and in the other.

        ``yes_no`` and ``rating`` list the answers in both orders, ``forced_choice`` the two sentences.
        """
        is_choice = self.method == FORCED_CHOICE
        members = ((sentence, other), (other, sentence)) if is_choice else ((sentence, ""), (sentence, ""))
        listed = (self.answers, self.answers if is_choice else self.answers[::-1])
        lead = "" if not context or "{context}" in self.question else CONTEXT_LEAD
        first, second = (
            # Slots are replaced in one pass, because a sentence may itself contain braces.
            _fill_prompt(
                lead + self.question,
                {
                    "{sentence}": sentence,
                    "{first}": pair[0],
                    "{second}": pair[1],
                    "{context}": context,
                    "{answers}": _list_answers(answers),
                },
            )
            for pair, answers in zip(members, listed, strict=True)
        )
        return first, second

    def value(self, logprobs: tuple[Floats, Floats]) -> float:
        """Return the score from the log probabilities of the answers in both orders."""
        if self.method == RATING:
            return float(np.mean([_expected_rating(row) for row in logprobs]))
        first, second = (row[0] - row[1] for row in logprobs)
        return float((first - second) / 2 if self.method == FORCED_CHOICE else (first + second) / 2)


def judgment_prompt(method: str, *, question: str = "", answers: str = "") -> JudgmentPrompt:
    r"""Return the prompt of a method, with another question or other answers where these are given.

    Examples
    --------
    >>> judgment_prompt("yes_no", question=r"Ist das Deutsch?\n{sentence}", answers="Ja,Nein").answers
    ('Ja', 'Nein')
    """
    text = question.replace(r"\n", "\n") or QUESTIONS[method]
    for slot in SLOTS[method]:
        if slot not in text:
            raise BadInput(
                f"the question of {method} has no {slot}: {text!r}.",
                column="question",
                remedy=f"Write {' and '.join(SLOTS[method])} where the sentences stand.",
            )
    names = tuple(name.strip() for name in answers.split(",")) if answers else ANSWERS[method]
    n_needed = 2 if method != RATING else len(names)
    if len(names) != n_needed or len(set(names)) < 2 or len(set(names)) != len(names) or not all(names):
        raise BadInput(
            f"{answers!r} are no answers for {method}.",
            column="answers",
            remedy="Write different answers with commas: Yes,No; 1,2,3,4,5; A,B.",
        )
    if reason := _order_error(method, text, names):
        raise BadInput(
            f"{answers!r}: {reason}.",
            column="answers",
            remedy="Answers begin with the one for acceptable (Yes,No), rise from worst to best (1,2,3), or "
            "name the first and the second sentence (A,B).",
        )
    return JudgmentPrompt(method, text, names)


def _order_error(method: str, question: str, answers: Sequence[str]) -> str:
    """Return why answers in this order would turn the scores of a question upside down; empty if not."""
    if method == FORCED_CHOICE:
        for answer, slot in zip(answers, reversed(SLOTS[method]), strict=True):
            if re.search(rf"(?<!\w){re.escape(answer)}[^\w\s]?\s*[“\"'«]?{re.escape(slot)}", question):
                return f"in the question {answer} is the name of {slot}"
    elif question == QUESTIONS[method]:
        defaults = [name.lower() for name in ANSWERS[method]]
        places = [defaults.index(name.lower()) for name in answers if name.lower() in defaults]
        if places != sorted(places):
            return "the first of them is not the answer for " + ("yes" if method == YES_NO else "the worst")
    return ""


def prompt_question(sentence: str, *, context: str = "", others: Sequence[str] = ()) -> str:
    """Encode a sentence, its context and the other members of its pairs as one string.

    Examples
    --------
    >>> prompt_question("The cat sleeps.", others=["The cat sleep."])
    '{"context": "", "others": ["The cat sleep."], "sentence": "The cat sleeps."}'
    """
    question = {"sentence": sentence, "context": context, "others": list(others)}
    return json.dumps(question, ensure_ascii=False, sort_keys=True)


class PromptScorer:
    """Judgments by a prompt under the model's chat template, for questions of :func:`prompt_question`.

    ``yes_no`` is log P(yes) − log P(no), ``rating`` the expected rating Σ k P(k) / Σ P(k), ``forced_choice``
    log P(this sentence) − log P(the other one), averaged over the pairs of a sentence. Each is the mean of
    two prompts, with the options in either order, because models prefer an answer by its place.

    Raises
    ------
    BadInput
        If the model gives no probabilities of answers, or has no chat template.

    References
    ----------
    Hu & Levy (2023), "Prompting is not a substitute for probability measurements in large language models",
    EMNLP. Zheng et al. (2024), "Large language models are not robust multiple choice selectors", ICLR.
    """

    capabilities = frozenset({"sum"})

    def __init__(self, model: Scorer, method: str) -> None:
        kind = model.spec.uri.partition(":")[0]
        if not isinstance(model, AnswersQuestions):
            raise BadInput(
                f"{kind}: answers no questions, so {method} cannot be asked.",
                column="method",
                remedy="Use an instruction-tuned model: hf-causal: or openai:.",
            )
        rule = model_context_rule(model)
        if rule.template != TEMPLATE:
            raise BadInput(
                f"prompt= stands before log probabilities, {method} has a question of its own.",
                column="method",
                remedy="Use question= for its text, and prompt= in another call.",
            )
        self.model, self.answering, self.is_context_ignored = model, model, rule.is_ignored
        settings = model.answer_settings
        self.prompt = judgment_prompt(method, question=settings["question"], answers=settings["answers"])
        self.spec = replace(
            model.spec,
            method=method,
            options={
                **model.spec.options,
                "chat_template": hashlib.sha256(model.chat_template().encode()).hexdigest(),
                "prompt": self.prompt.sha256,
                "question": self.prompt.question,
                "answers": ", ".join(self.prompt.answers),
                "orders": "both, averaged",
                "read": settings["read"],
            },
        )

    @property
    def why(self) -> str:
        """The path through the model, and the reason for it."""
        return str(getattr(self.model, "why", ""))

    @property
    def warnings(self) -> list[str]:
        """Warnings of the model."""
        return list(getattr(self.model, "warnings", []))

    def record(self) -> dict[str, str]:
        """Return what is asked, for the record beside the scores."""
        names = ("question", "answers", "orders", "read", "chat_template", "prompt")
        return {**{name: self.spec.options[name] for name in names}, "spec_id": self.spec.spec_id}

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score questions; NaN where an answer has no probability."""
        questions = [json.loads(text) for text in sentences]
        numbers: dict[str, int] = {}  # a message may occur twice: forced choice asks both members of a pair
        places: list[list[tuple[int, int]]] = []
        for question in questions:
            context = "" if self.is_context_ignored else question["context"].strip()
            alternatives = question["others"] or [""]
            pairs = [
                self.prompt.messages(question["sentence"], context=context, other=other)
                for other in alternatives
            ]
            places.append(
                [
                    (numbers.setdefault(first, len(numbers)), numbers.setdefault(second, len(numbers)))
                    for first, second in pairs
                ]
            )
        logprobs = self.answering.answer_logprobs(list(numbers), self.prompt.answers)
        values = np.array(
            [
                np.mean([self.prompt.value((logprobs[first], logprobs[second])) for first, second in pairs])
                for pairs in places
            ],
            dtype=np.float64,
        )
        if progress is not None:
            progress(len(sentences))
        nothing = np.zeros(len(sentences), dtype=np.int32)
        return assemble_scores(
            [question["sentence"] for question in questions],
            values,
            n_tokens=nothing,
            n_unk=nothing,
            flags=np.zeros(len(sentences), dtype=np.uint8),
        )


def _fill_prompt(template: str, slots: dict[str, str]) -> str:
    pieces, remainder = [], template
    while remainder:
        places = [(remainder.find(slot), slot) for slot in slots if slot in remainder]
        if not places:
            break
        place, slot = min(places)
        pieces += [remainder[:place], slots[slot]]
        remainder = remainder[place + len(slot) :]
    return "".join([*pieces, remainder])


def _list_answers(answers: Sequence[str]) -> str:
    return f"{', '.join(answers[:-1])} or {answers[-1]}"


def _expected_rating(logprobs: Floats) -> float:
    """Return the mean of 1, 2, … weighted by the answers' probabilities; NaN if none is known."""
    is_known = np.isfinite(logprobs)
    if not is_known.any():
        return float("nan")
    weights = np.where(is_known, np.exp(logprobs - logprobs[is_known].max()), 0.0)
    return float((weights * np.arange(1, len(weights) + 1)).sum() / weights.sum())
