"""Files of materials, written by the test that reads them."""

import pytest


@pytest.fixture
def write_file(tmp_path):
    """Write a file and give its path."""

    def write(name: str, text: str):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
