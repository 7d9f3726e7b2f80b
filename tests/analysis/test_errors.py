"""Messages of errors: where they point, and how long they get."""

from analysis.errors import BadInput, MissingColumns, UnknownName

TEN_LINES = 10 * 80  # of a terminal


def test_a_message_names_file_row_column_and_remedy():
    error = BadInput("is no number.", file="a.csv", row=3, column="value", remedy="Write 1 to 7.")
    assert str(error) == "a.csv, row 3, column 'value': is no number. Write 1 to 7."


def test_a_value_of_megabytes_is_cut_in_the_message():
    error = BadInput(f"{'9' * 500_000!r} is no scale.", column="c" * 500_000, remedy="r" * 500_000)
    assert len(str(error)) < TEN_LINES + 80
    assert error.message.startswith("'999") and error.message.endswith("999' is no scale.")


def test_lists_of_names_are_cut_and_counted():
    assert len(str(MissingColumns(["value"], existing=["m" * 300_000]))) < TEN_LINES
    names = [f"a_column_of_a_survey_{n}" for n in range(400)]
    for error in (MissingColumns(["value"], existing=names), UnknownName("column", "x", names)):
        assert len(str(error)) < TEN_LINES
    assert "more." in str(MissingColumns(["value"], existing=names))
