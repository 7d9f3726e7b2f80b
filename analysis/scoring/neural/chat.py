"""Messages and answers as token ids of a model with a chat template."""

from collections.abc import Sequence
from typing import Any

from ...errors import BadInput


def read_chat_template(tokenizer: Any, name: str) -> str:
    """Return the chat template of a tokenizer; BadInput if it has none."""
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, dict):  # older tokenizers have several by name
        template = template.get("default")
    if not template:
        raise BadInput(
            f"{name!r} has no chat template, so it cannot be asked questions.",
            column="method",
            remedy="Use an instruction-tuned model, or a method of log probability such as lp.",
        )
    return str(template)


def template_warnings(template: str) -> list[str]:
    """Return a warning of a template that inserts the date."""
    if "strftime_now" not in template:
        return []
    return ["the chat template contains today's date: answers may differ on another day"]


def chat_ids(tokenizer: Any, message: str) -> list[int]:
    """Return a user's message up to where the answer begins, without reasoning before the answer."""
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": message}],
        tokenize=False,
        add_generation_prompt=True,
        enable_thinking=False,  # read by templates of models that reason first, ignored by others
    )
    # The template writes the beginning mark itself.
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def answer_ids(tokenizer: Any, answers: Sequence[str]) -> list[list[int]]:
    """Return the tokens of each answer."""
    return [list(tokenizer(answer, add_special_tokens=False)["input_ids"]) for answer in answers]
