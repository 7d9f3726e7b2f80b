"""The command `obelus`: help with an example for every command, the version, one line for what is wrong."""

import shlex

import pytest

import analysis
from analysis.command_line.program import EXAMPLES, main, parser_of_commands

COMMANDS = parser_of_commands()[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example_that_it_accepts(name, capsys):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    printed = capsys.readouterr().out
    assert f"Example:\n  obelus {name} {EXAMPLES[name]}" in printed
    words = shlex.split(EXAMPLES[name].partition(" > ")[0])
    assert vars(parser_of_commands()[0].parse_args([name, *words]))["command"] == name


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"obelus {analysis.__version__}\n"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["figures", "--out", "f"], "there is nothing to draw"),
        (["figures", "--scores", "s.csv", "--out", "f"], "figures of models need pairs and scores"),
        (["figures", "j.csv", "--out", "f", "--only", "item"], "unknown figure 'item'. Did you mean 'items'"),
        (["figures", "j.csv", "--out", "f", "--format", "gif"], "unknown form of figure 'gif'"),
        (["figures", "j.csv", "--out", "f", "--width", "5"], "the width is 5"),
        (["items", "j.csv"], "j.csv: there is no such file"),
        (["multiverse", "j.csv", "--exclude", "catched"], "'catch_failed'"),
        (
            ["score", "arpa:no.arpa", "--sentences", "s.csv", "--to", "o.txt"],
            "this kind of file is not written",
        ),
        (["power", "resample", "--judgments", "j.csv", "--alpha", "2"], "alpha is 2.0"),
        (["power", "prospective", "--task", "likert", "--effect", "1", "--reward", "x"], "'x' is no amount"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(words, problem, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    printed = capsys.readouterr()
    assert problem in printed.err and printed.err.count("\n") == 1 and not printed.out
    assert list(tmp_path.iterdir()) == []
