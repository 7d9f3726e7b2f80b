"""Read Arrow's stream and file formats, whose compressed or shared values may unpack to any size."""

import struct
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from analysis.errors import BadInput
from experiments.materials.delimited import refuse_many_columns
from experiments.materials.encoding import max_unpacked_bytes

MAGIC = b"ARROW1"  # of the file format, which is a stream between this mark and an index of its batches
STREAM_OFFSET = 8  # bytes of the mark with its padding
# Of the flatbuffers of the format (Message.fbs): types of messages, and numbers of fields.
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
_HEADER_TYPE, _HEADER, _DATA, _BUFFERS, _COMPRESSION = 1, 2, 1, 2, 3


def read_arrow(path: Path) -> pa.Table:
    """Read a file after its unpacked size was counted; a file that is none raises pyarrow's error."""
    limit = max_unpacked_bytes(path)
    with path.open("rb") as file:
        n_bytes = arrow_bytes(file, beyond=limit, name=path.name)
    if n_bytes > limit:
        raise BadInput(
            f"unpacks to more than {limit / 1e6:,.0f} MB.", file=path.name, remedy="Give it in parts."
        )
    with pa.OSFile(str(path)) as source:
        return _stream(source).read_all()


def arrow_bytes(file: IO[bytes], *, beyond: int, name: str = "") -> int:
    """Return the bytes of all values of an Arrow file, or any number above ``beyond`` if they are more.

    The sizes that its messages state are summed first, so that no batch is unpacked that is larger.
    """
    source = pa.PythonFile(file, mode="r")  # one for all readers: it closes the file when it is deleted
    _seek_stream(source)
    n_bytes = 0
    try:
        while True:
            n_bytes += _stated_bytes(pa.ipc.read_message(source))
            if n_bytes > beyond:
                return n_bytes
    except EOFError:
        pass
    except (struct.error, IndexError) as error:
        raise pa.ArrowInvalid(f"damaged message: {error}") from None
    n_values: int = 0
    reader = _stream(source)
    refuse_many_columns(len(reader.schema), file=name)
    for batch in reader:
        n_values += batch.num_rows * batch.num_columns
        for column_name, column in zip(batch.schema.names, batch.columns, strict=True):
            if n_values <= beyond:
                n_values += _value_bytes(column, beyond=beyond, place=(name, column_name))
        if n_values > beyond:
            return n_values
    return max(n_bytes, n_values)


def _seek_stream(file: pa.NativeFile) -> None:
    file.seek(0)
    file.seek(STREAM_OFFSET if file.read(len(MAGIC)) == MAGIC else 0)


def _stream(file: pa.NativeFile) -> pa.RecordBatchStreamReader:
    # The index at the end of the file format is not used: it may name one batch many times.
    _seek_stream(file)
    return pa.ipc.open_stream(file)


def _stated_bytes(message: pa.Message) -> int:
    """Return the bytes that the buffers of a batch unpack to, as the message states them."""
    data, body = message.metadata.to_pybytes(), message.body
    if body is None:
        return 0
    root = _int(data, 0, "I")
    kind = data[at] if (at := _field(data, root, _HEADER_TYPE)) else 0
    if kind not in (_DICTIONARY_BATCH, _RECORD_BATCH):
        return 0
    batch = _table(data, root, _HEADER)
    if kind == _DICTIONARY_BATCH:
        batch = _table(data, batch, _DATA)
    vector = _table(data, batch, _BUFFERS)
    if not _field(data, batch, _COMPRESSION):
        return int(body.size)
    total = 0
    for number in range(_int(data, vector, "I")):
        offset, length = struct.unpack_from("<qq", data, vector + 4 + 16 * number)
        if length:
            # A compressed buffer begins with its unpacked length, -1 where it is not compressed.
            stated = _int(body[offset : offset + 8].to_pybytes(), 0, "q")
            total += length if stated == -1 else stated if stated >= 0 else body.size
    return total


def _int(data: bytes, at: int, kind: str) -> int:
    value: int = struct.unpack_from(f"<{kind}", data, at)[0]
    return value


def _field(data: bytes, table: int, number: int) -> int:
    """Return the place of a field of a flatbuffer's table; 0 where it is absent."""
    slots = table - _int(data, table, "i")
    place = 4 + 2 * number
    offset = _int(data, slots + place, "H") if place < _int(data, slots, "H") else 0
    return table + offset if offset else 0


def _table(data: bytes, table: int, number: int) -> int:
    at = _field(data, table, number)
    return at + _int(data, at, "I")


def _value_bytes(values: pa.Array, *, beyond: int, place: tuple[str, str]) -> int:
    """Return the bytes of values with a shared one counted in every row, or more than ``beyond``."""
    kind = values.type
    if isinstance(values, pa.ExtensionArray):
        return _value_bytes(values.storage, beyond=beyond, place=place)
    if isinstance(values, pa.DictionaryArray):
        if not _is_text(values.dictionary.type):
            return 8 * len(values)
        lengths = pc.binary_length(values.dictionary).take(values.indices)
        return pc.sum(lengths).as_py() or 0
    if _is_text(kind):
        return pc.sum(pc.binary_length(values)).as_py() or 0
    if pa.types.is_struct(kind):
        parts = [values.field(number) for number in range(kind.num_fields)]
    elif pa.types.is_map(kind):
        parts = [values.keys, values.items]
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        parts = [values.values]
    elif pa.types.is_null(kind) or pa.types.is_primitive(kind) or pa.types.is_decimal(kind):
        return 8 * len(values)
    else:  # views and runs share their values in ways that are not counted here
        raise BadInput(f"values of the type {kind} are not read.", file=place[0], column=place[1])
    total = sum(map(len, parts))
    for part in parts:
        if total > beyond:
            break
        total += _value_bytes(part, beyond=beyond, place=place)
    return total


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )
