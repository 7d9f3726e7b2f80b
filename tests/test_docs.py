"""What can be set, called or recorded is documented; what the documentation links to exists."""

import io
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands, load_command_class

import analysis
from config.commands import ContractCommand
from experiments.tasks.registry import tasks
from tools.manual.commands import (
    BLOCK,
    INDENTED,
    INPUTS,
    NOT_RUN,
    PAGES,
    commands_of,
    fault_of,
    reason_not_to_run,
)

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
OURS = {"experiments", "judgments", "releases"}


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_task_documents_its_parameters_and_data():
    missing = []
    for name, task in tasks().items():
        text = page(f"tasks/{name.replace('_', '-')}.md")
        entries = (*task.parameters, *task.data)
        missing += [f"{name}: {entry.name}" for entry in entries if f"`{entry.name}`" not in text]
    assert missing == []


def test_every_setting_is_documented():
    source = (ROOT / "config" / "settings.py").read_text() + (ROOT / "config" / "env.py").read_text()
    names = set(re.findall(r'env_(?:str|bool|int|list|secret|database)\(\s*"([A-Z_0-9]+)"', source))
    text = page("reference/settings.md")
    assert {name for name in names if f"`{name}`" not in text} == set()


def test_every_command_is_documented_and_shows_an_example():
    commands = {name: app for name, app in get_commands().items() if app in OURS}
    text = page("reference/commands.md")
    assert {name for name in commands if f"`{name}" not in text} == set()
    for name, app in commands.items():
        command = load_command_class(app, name)
        if name == "migrate":  # Django's own, extended: its options and help stay
            continue
        assert isinstance(command, ContractCommand), name
        assert f"manage.py {name}" in command.example, name


def test_links_between_pages_lead_somewhere():
    broken = []
    for path in DOCS.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
            if "://" not in target and not (path.parent / target).exists():
                broken.append(f"{path.relative_to(DOCS)}: {target}")
    assert broken == []


def test_every_column_of_a_table_has_a_name():
    nameless = [
        f"{path.relative_to(DOCS)}: {header}"
        for path in DOCS.rglob("*.md")
        for header in re.findall(r"^(\|.*\|)\n\|[ :|-]+\|$", path.read_text(encoding="utf-8"), re.MULTILINE)
        if not all(cell.strip() for cell in header[1:-1].split("|"))
    ]
    assert nameless == []


def test_every_public_name_of_the_library_is_rendered_in_the_reference_once():
    rendered = [
        name
        for path in DOCS.rglob("*.md")
        for name in re.findall(r"^::: (\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert sorted(rendered) == sorted(set(rendered))
    homes = {f"analysis.{module}.{name}" for name, module in analysis.HOMES.items()}
    missing = {name for name in homes if name not in rendered and name.rpartition(".")[0] not in rendered}
    assert missing == set()


CONSOLE = re.compile(
    r"^```(?:console|\{\.console \.run\})\n\$ python manage\.py (.*?)\n(.*?)^```$", re.M | re.S
)


@pytest.mark.django_db
def test_commands_of_the_factorial_example_print_what_the_page_shows(monkeypatch):
    monkeypatch.chdir(DOCS / "how-to")
    blocks = CONSOLE.findall(page("how-to/factorial.md"))
    assert [command.split()[0] for command, _ in blocks] == [
        "import_materials",
        "import_judgments",
        "effects",
    ]
    for command, expected_output in blocks:
        out = io.StringIO()
        call_command(*shlex.split(command), stdout=out)
        parts = [re.escape(part) for part in expected_output.split("…\n")]
        assert re.fullmatch("(.*\n)*".join(parts), out.getvalue()), out.getvalue()


def test_the_manual_of_the_service_offers_the_files_of_the_example(client):
    response = client.get("/manual/how-to/islands.csv")
    assert response["Content-Type"].startswith("text/csv") and "attachment" in response["Content-Disposition"]


def test_every_command_shown_has_the_options_it_is_shown_with():
    faults = [
        f"{shown.place}: {shown.program} {' '.join(shown.words)}: {fault}"
        for path in PAGES
        for shown in commands_of(path)
        if (fault := fault_of(shown))
    ]
    assert faults == []


def test_every_program_of_developers_that_is_shown_exists():
    shown = {
        name
        for path in PAGES
        for name in re.findall(r"python -m ((?:tools|benchmarks)[.\w]*)", path.read_text(encoding="utf-8"))
    }
    files = {name: ROOT / name.replace(".", "/") for name in shown}
    absent = [
        name for name, path in files.items() if not (path.is_dir() or path.with_suffix(".py").is_file())
    ]
    assert shown and absent == []


def test_every_command_in_a_block_is_run_or_has_a_reason_not_to_be():
    shown = [each for path in PAGES for each in commands_of(path) if each.is_in_block]
    commands = [each for each in shown if not each.is_synopsis and not each.is_run]
    without = [f"{each.place}: {' '.join(each.words)}" for each in commands if not reason_not_to_run(each)]
    assert without == []
    pages = {each.place.partition(":")[0] for each in commands}
    names = {(each.place.partition(":")[0], each.words[0]) for each in commands}
    assert {key for key in NOT_RUN if key not in pages | names} == set()
    run = {each.place.partition(":")[0] for each in shown if each.is_run}
    assert set(INPUTS) <= run and len(run) > 15


def test_commands_are_shown_in_fences():
    outside = {
        path.stem: commands
        for path in PAGES
        if (commands := INDENTED.findall(BLOCK.sub("", path.read_text(encoding="utf-8"))))
    }
    assert outside == {}


def test_the_version_is_the_same_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == version
    manifests = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "docker/kubernetes").glob("*.yaml")
    )
    assert set(re.findall(r"/obelus:([\w.]+)", manifests)) == {version}


def expand(numbers):
    """The single numbers of a row such as ``1.2.1–1.2.3, 1.3.1``."""
    for part in numbers.split(", "):
        first, _, last = part.partition("–")
        section, _, number = first.rpartition(".")
        for n in range(int(number), int((last or first).rpartition(".")[2]) + 1):
            yield f"{section}.{n}"


def test_the_review_against_asvs_has_every_number_once_and_evidence_that_exists():
    settings_page = page("reference/settings.md")
    rows = re.findall(r"^\| (\d[^|]*) \| ([^|]*) \| (.*) \|$", page("how-to/asvs.md"), re.MULTILINE)
    numbers = [number for row in rows for number in expand(row[0])]
    assert len(numbers) == len(set(numbers)) == 253  # levels 1 and 2 of version 5.0
    assert {state for _, state, _ in rows} == {"met", "in part", "no", "not used"}
    for _, _, evidence in rows:
        for path in re.findall(r"`(tests/[^`]+)`", evidence):
            assert (ROOT / path).is_file(), path
        for name in re.findall(r"`([A-Z][A-Z_]{3,})`", evidence):
            assert f"`{name}`" in settings_page, name
