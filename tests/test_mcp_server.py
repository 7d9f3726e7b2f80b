"""An assistant with the official SDK: its tools, what they answer, and that a token decides about changes."""

import os
import sys
from pathlib import Path

import anyio
import pytest

import analysis as obelus
from analysis.client.mcp_server import make_server
from experiments.models import Experiment
from tests import cast
from tests.releases.study import judged_study

sdk = pytest.importorskip("mcp.client", reason="the extra “mcp” is not installed: make install-mcp")
ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ask(live_server):
    """Call tools of a server with a token of these scopes; without a name, list them."""

    def ask(name: str = "", *, scopes=("read",), **arguments):
        token = cast.token(cast.ada(), scopes=scopes)
        server = make_server(obelus.Client(live_server.url, token, progress=False))

        async def session():
            async with sdk.Client(server) as client:
                return await (client.call_tool(name, arguments) if name else client.list_tools())

        return anyio.run(session)

    return ask


def test_a_token_that_reads_has_tools_that_read_only(ask):
    tools = ask().tools
    assert {tool.name for tool in tools} >= {"list_studies", "study_status", "report"}
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    changing = {tool.name for tool in ask(scopes=("read", "write")).tools} - {tool.name for tool in tools}
    assert changing == {"open_study", "pause_study", "freeze_release"}


def test_the_tools_say_how_a_study_is_doing(ask):
    judged_study("agreement", people=2)
    (study,) = ask("list_studies").structured_content["result"]
    assert (study["slug"], study["status"]) == ("agreement", "open")
    status = ask("study_status", study="agreement").structured_content
    assert status["task"] == "forced_choice" and status["alerts"] == []
    assert status["participants_by_exclusion_step"]
    report = ask("report", study="agreement", kind="agreement").structured_content
    assert report["experiment"] == "agreement" and report["overall"]["judgments"]
    assert ask("list_releases", study="agreement").structured_content["result"] == []


def test_an_error_of_the_platform_is_the_error_of_the_tool(ask):
    cast.draft("agreement", owner=cast.ben())
    answer = ask("study_status", study="agreemnt")
    assert answer.is_error and "no such study" in answer.content[0].text
    wrong = ask("report", study="agreement", kind="figures")
    assert wrong.is_error and "There are agreement" in wrong.content[0].text


def test_a_study_is_paused_with_a_token_that_writes(ask):
    cast.study()
    assert ask("pause_study", scopes=("read", "write"), study="agreement").content[0].text == "paused"
    assert Experiment.objects.get().status == "paused"


def test_the_command_serves_over_standard_input_and_output(live_server):
    """As an assistant starts it: without a scope that writes there is no tool that does."""
    from mcp.client.stdio import StdioServerParameters, stdio_client

    cast.study()
    environment = {**os.environ, "OBELUS": live_server.url, "TOKEN": cast.token(cast.ada(), scopes=("read",))}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "analysis.client.mcp_server"], env=environment, cwd=ROOT
    )

    async def session():
        async with sdk.Client(stdio_client(command)) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            return tools, await client.call_tool("list_studies", {"status": "open"})

    tools, answer = anyio.run(session)
    assert "report" in tools and "open_study" not in tools
    assert [study["slug"] for study in answer.structured_content["result"]] == ["agreement"]


def test_the_command_names_what_is_missing(monkeypatch):
    from analysis.client import mcp_server

    monkeypatch.delenv("OBELUS", raising=False)
    with pytest.raises(SystemExit, match="OBELUS"):
        mcp_server.main()
    assert "mcp" in sys.modules
