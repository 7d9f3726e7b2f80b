"""Tables for a terminal say what the data say."""

from analysis.text import plain_table, plain_text


def test_names_in_brackets_are_printed_as_they_are():
    table = plain_table("12 pairs")
    table.add_column("[a]")
    table.add_row("[bold]lstm")
    table.add_row("[/closed]")
    lines = [line.strip() for line in plain_text(table, "Left out: [red].", width=60).splitlines()]
    assert lines[0] == "12 pairs" and {"[a]", "[bold]lstm", "[/closed]"} <= set(lines)
    assert lines[-1] == "Left out: [red]."
