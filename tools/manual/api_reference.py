"""A page of the manual for every module of the library, made while the manual is built (a hook of MkDocs).

A module's page renders its public functions, classes and constants, and links those that a page of the manual
renders already. References in docstrings (``:func:`obelus.scales.…```) become links on all pages.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIBRARY, FOLDER = "analysis", "reference/modules"
RENDERED = re.compile(r"^::: (\S+)$", re.MULTILINE)
REFERENCE = re.compile(r":(?:func|class|meth|mod|data|attr|exc):<code>~?([\w.]+)</code>")


def modules() -> Iterator[tuple[str, Path]]:
    """The name and file of every module, in alphabetical order."""
    for path in sorted((ROOT / LIBRARY).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[-1] != "__main__":
            yield ".".join(parts).removesuffix(".__init__"), path


def public_names(tree: ast.Module) -> dict[str, str]:
    """Each public name that a module defines, with the first sentence of its docstring.

    Constants count where a docstring follows them.
    """
    names: dict[str, str] = {}
    for node, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names[node.name] = first_sentence(ast.get_docstring(node))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(following, ast.Expr):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            value = following.value
            if (
                isinstance(target, ast.Name)
                and isinstance(value, ast.Constant)
                and isinstance(value.value, str)
            ):
                names[target.id] = first_sentence(value.value)
    return {name: sentence for name, sentence in names.items() if not name.startswith("_")}


def first_sentence(text: str | None) -> str:
    """The first paragraph of a docstring in one line, without its full stop."""
    return " ".join((text or "").strip().partition("\n\n")[0].split()).removesuffix(".")


def rendered_elsewhere(docs: Path) -> set[str]:
    """What the written pages render: names of modules and of their members."""
    return {
        name for path in docs.rglob("*.md") for name in RENDERED.findall(path.read_text(encoding="utf-8"))
    }


def module_page(name: str, tree: ast.Module, elsewhere: set[str]) -> str:
    """The Markdown of a module's page."""
    anchor = "" if name in elsewhere else f" {{#{name}}}"  # a second one would be ambiguous
    names = public_names(tree)
    linked = [member for member in names if f"{name}.{member}" in elsewhere or name in elsewhere]
    members = [member for member in names if member not in linked]
    lines = [f"# `{name}`{anchor}", ""]
    if linked:
        lines += ["Described with its subject in the manual:", ""]
        lines += [f"* [`{member}`][{name}.{member}]: {names[member]}" for member in linked] + [""]
    if members:  # the block begins with the docstring of the module
        options = ("show_root_heading: false", "show_root_toc_entry: false", "members:")
        lines += [f"::: {name}", "    options:", *(f"      {option}" for option in options)]
        lines += [*(f"        - {member}" for member in members), ""]
    else:
        lines.insert(2, (ast.get_docstring(tree) or "").replace("``", "`") + "\n")
    return "\n".join(lines)


def index_page(pages: dict[str, ast.Module]) -> str:
    """The list of all modules with their purpose."""
    lines = [
        "# Modules of the library", "",
        "All modules, each with its public names. In a checkout the library is `analysis`, in the wheel "
        "`obelus`; the names after the first dot are the same. What notebooks use most is listed under "
        "[Python](python.md).", "",
    ]  # fmt: skip
    folder = ""
    for name, tree in pages.items():
        parts = name.split(".")
        if len(parts) == 1:
            continue
        if parts[1] != folder:
            folder = parts[1]
            lines += [
                "",
                f"## {folder.replace('_', ' ').capitalize()}",
                "",
                "| module | purpose |",
                "|---|---|",
            ]
        purpose = first_sentence(ast.get_docstring(tree)).replace("|", "\\|").replace("``", "`")
        lines.append(f"| [`{name}`](modules/{name}.md) | {purpose} |")
    return "\n".join(lines) + "\n"


def pages(docs: Path) -> dict[str, str]:
    """The Markdown of every made page by its address in the manual."""
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules()}
    elsewhere = rendered_elsewhere(docs)
    made = {f"{FOLDER}/{name}.md": module_page(name, tree, elsewhere) for name, tree in trees.items()}
    return {"reference/modules.md": index_page(trees), **made}


def on_files(files: Any, config: Any) -> Any:
    """Add the made pages to those of the folder (MkDocs calls this)."""
    from mkdocs.structure.files import File

    for address, text in pages(Path(config["docs_dir"])).items():
        files.append(File.generated(config, address, content=text))
    return files


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Turn references of docstrings into links where a page has the name (MkDocs calls this)."""
    module = page.file.src_uri.removeprefix(f"{FOLDER}/").removesuffix(".md")

    def link(match: re.Match[str]) -> str:
        name = match[1]
        package, _, rest = name.partition(".")
        target = f"{LIBRARY}.{rest}" if package == "obelus" else f"{module}.{name}"
        return f'<autoref identifier="{target}" optional><code>{name}</code></autoref>'

    return REFERENCE.sub(link, html)
