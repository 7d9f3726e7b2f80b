"""Links from results to the manual."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def docs_link(name: str, text: str = "How this is computed") -> SafeString:
    """Link to a page of the manual, such as ``statistics/power``."""
    return format_html(' <a href="{}">{}</a>', reverse("manual-page", args=[f"{name}.md"]), text)
