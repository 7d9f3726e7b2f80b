"""Django's translation tags, with a study's own texts in place of ours; registered as ``i18n``."""

from typing import Any

from django.template import Context, Library, Node
from django.template.base import Parser, Token, render_value_in_context
from django.templatetags import i18n
from django.templatetags.i18n import BlockTranslateNode, TranslateNode
from django.utils.html import escape
from django.utils.safestring import SafeString

from experiments.studies.wording import own_text

register = Library()
register.tags, register.filters = {**i18n.register.tags}, {**i18n.register.filters}


class OwnTranslateNode(TranslateNode):
    """``{% translate %}`` that prefers the study's own text."""

    def render(self, context: Context) -> str:
        literal = getattr(self.filter_expression.var, "literal", None)
        text = own_text(literal) if isinstance(literal, str) and not self.noop else None
        if text is None:
            return str(super().render(context))
        if self.asvar:
            context[self.asvar] = escape(text)
            return ""
        return escape(text)


class OwnBlockTranslateNode(BlockTranslateNode):
    """``{% blocktranslate %}`` that prefers the study's own text; texts with plurals are only ours."""

    def render(self, context: Context, nested: bool = False) -> str:
        message, names = self.render_token_list(self.singular)
        text_of_study = own_text(message) if not self.plural else None
        if text_of_study is None:
            return str(super().render(context, nested))
        with context.push(**{name: value.resolve(context) for name, value in self.extra_context.items()}):
            values = {name: render_value_in_context(context.get(name, ""), context) for name in names}
        # Text and values are both escaped.
        # nosemgrep: safe-html
        text = SafeString(escape(text_of_study) % values if names else escape(text_of_study))
        if self.asvar:
            context[self.asvar] = text
            return ""
        return text


@register.tag("translate")
@register.tag("trans")
def do_translate(parser: Parser, token: Token) -> Node:
    """Parse the tag as Django does."""
    node: Any = i18n.do_translate(parser, token)
    return OwnTranslateNode(node.filter_expression, node.noop, node.asvar, node.message_context)


@register.tag("blocktranslate")
@register.tag("blocktrans")
def do_block_translate(parser: Parser, token: Token) -> Node:
    """Parse the tag as Django does."""
    node: Any = i18n.do_block_translate(parser, token)
    return OwnBlockTranslateNode(
        node.extra_context,
        node.singular,
        node.plural,
        node.countervar,
        node.counter,
        node.message_context,
        trimmed=node.trimmed,
        asvar=node.asvar,
        tag_name=node.tag_name,
    )
