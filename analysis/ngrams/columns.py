"""Long numeric columns, in memory or in memory-mapped temporary files."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput

Column = npt.NDArray[Any]


class Workspace:
    """Storage of the columns of a training run.

    Parameters
    ----------
    folder : Path, optional
        Columns become files there, without a name: they vanish with the process, however it ends, and the
        system may page them out. Without a folder they are kept in memory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    def column(self, dtype: type[np.generic]) -> "GrowingColumn":
        """Create a column that is filled sequentially."""
        return GrowingColumn(np.dtype(dtype), self.folder)


class GrowingColumn:
    """A column that is appended to and read after it is complete."""

    def __init__(self, dtype: np.dtype[Any], folder: Path | None) -> None:
        self.dtype, self.folder, self.size = dtype, folder, 0
        self.parts: list[Column] = []
        self.file: IO[bytes] | None = None

    def append(self, values: Column) -> None:
        """Add values at the end."""
        values = np.ascontiguousarray(values, dtype=self.dtype)
        self.size += len(values)
        if self.folder is None:
            self.parts.append(values)
            return
        try:
            if self.file is None:
                self.file = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115 closed by whole()
            self.file.write(values.data)
        except OSError as error:
            raise _no_room(self.folder, error) from error

    def whole(self) -> Column:
        """Close the column for appending and return it."""
        if self.file is None or self.folder is None:
            parts, self.parts = self.parts, []
            return np.concatenate(parts) if parts else np.empty(0, dtype=self.dtype)
        try:
            with self.file as file:
                file.flush()
                if not self.size:
                    return np.empty(0, dtype=self.dtype)
                return np.asarray(np.memmap(file, dtype=self.dtype, mode="r", shape=(self.size,)))
        except OSError as error:
            raise _no_room(self.folder, error) from error


def blocks(size: int, length: int) -> Iterator[slice]:
    """Cut a column into slices.

    Examples
    --------
    >>> list(blocks(5, 3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    for start in range(0, size, length):
        yield slice(start, min(start + length, size))


def _no_room(folder: Path, error: OSError) -> BadInput:
    return BadInput(
        f"the counts cannot be kept there: {error.strerror or error}.",
        file=str(folder),
        remedy="Choose a folder with more room, or prune, or take a lower order.",
    )
