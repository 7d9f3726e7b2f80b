"""Messages of errors: where they point, and how long they get."""

from analysis.errors import MAX_CHARACTERS, BadInput, MissingColumns


def test_a_message_names_file_row_column_and_remedy():
    error = BadInput("is no number.", file="a.csv", row=3, column="value", remedy="Write 1 to 7.")
    assert str(error) == "a.csv, row 3, column 'value': is no number. Write 1 to 7."


def test_a_value_of_megabytes_is_cut_in_the_message():
    error = BadInput(f"{'9' * 500_000!r} is no scale.", column="c" * 500_000, remedy="r" * 500_000)
    assert len(str(error)) < 4 * MAX_CHARACTERS
    assert "and 496," in error.message and error.message.startswith("'999")


def test_long_names_of_columns_are_cut():
    assert len(str(MissingColumns(["value"], existing=["m" * 300_000]))) < 3 * MAX_CHARACTERS
