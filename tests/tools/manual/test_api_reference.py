"""The manual has a page for every module of the library, with every public name described or linked."""

import ast
import pkgutil
import re
from pathlib import Path

import analysis
from tools.manual.api_reference import (
    FOLDER,
    modules,
    on_page_content,
    pages,
    public_names,
    rendered_elsewhere,
)

DOCS = Path(__file__).resolve().parents[3] / "docs"


class Page:
    """A page of MkDocs, as far as the hook reads it."""

    class file:
        src_uri = f"{FOLDER}/analysis.scales.md"


def test_every_module_has_a_page_that_the_list_links():
    made = pages(DOCS)
    names = {module.name for module in pkgutil.walk_packages(analysis.__path__, "analysis.")}
    assert {f"{FOLDER}/{name}.md" for name in names} <= set(made) | {f"{FOLDER}/analysis.__main__.md"}
    listed = re.findall(r"\]\(modules/([\w.]+)\.md\)", made["reference/modules.md"])
    assert sorted(listed) == sorted(names - {"analysis.__main__"})


def test_every_public_name_is_described_or_linked_once():
    made = pages(DOCS)
    for name, path in modules():
        text = made[f"{FOLDER}/{name}.md"]
        shown = re.findall(r"^        - (\w+)$", text, flags=re.MULTILINE)
        linked = re.findall(rf"\]\[{re.escape(name)}\.(\w+)\]", text)
        assert sorted([*shown, *linked]) == sorted(public_names(ast.parse(path.read_text(encoding="utf-8"))))


def test_names_that_the_manual_renders_are_linked():
    text = pages(DOCS)[f"{FOLDER}/analysis.agreement.report.md"]
    assert "analysis.agreement.report.agreement_report" in rendered_elsewhere(DOCS)
    assert "* [`agreement_report`][analysis.agreement.report.agreement_report]: Report agreement" in text
    assert "        - agreement_report" not in text


def test_references_of_docstrings_become_links():
    html = "<p>See :func:<code>obelus.text.plural</code> and :class:<code>Step</code>, <code>x</code>.</p>"
    linked = on_page_content(html, Page, None, None)
    assert '<autoref identifier="analysis.text.plural" optional><code>obelus.text.plural</code>' in linked
    assert (
        '<autoref identifier="analysis.scales.Step" optional><code>Step</code></autoref>, <code>x</code>'
        in linked
    )
