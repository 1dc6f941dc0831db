"""How much a Parquet file unpacks to: a column of equal values takes a few bytes, however many values it has.

The end of a file states the unpacked size of each column, and the header of each page that of the page, which need not
agree. pyarrow allocates what a page states, so the pages are checked first; then no column takes more than is stated
for it (parquet.thrift).
"""

from __future__ import annotations

from typing import Any, BinaryIO

from pcneo.basics.model import KeyArray

ROOM = 2**20
"""Bytes that a column may have besides its values."""
DELTA_BYTE_ARRAY = 7
"""An encoding in which a text that repeats the one before may take a single byte; pcneo does not write it."""
MOST_IN_HEADER = 2**16
"""The most bytes of a text in a page's header."""


def unpacks_to_more(file: BinaryIO, metadata: Any, keys: KeyArray, memberships: int) -> bool:
    """Return, before unpacking, whether a column has more values or bytes than a graph's cohesions can have."""
    of_key = max((len(key.encode()) for key in keys.tolist()), default=0) if keys.dtype == object else 8
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            values, unpacked = column.num_values, column.total_uncompressed_size
            if not 0 <= values <= memberships + len(keys) or unpacked > (of_key + 8) * values + ROOM:
                return True
            if _pages_hold_more(file, column):
                return True
    return False


def _pages_hold_more(file: BinaryIO, column: Any) -> bool:
    """Whether the pages of a column state that they hold more than the end of the file states for it."""
    at = min(filter(None, (column.dictionary_page_offset, column.data_page_offset)))
    end, values, unpacked = at + column.total_compressed_size, 0, 0
    while at < end:
        file.seek(at)
        header = _struct(file)
        data = header.get(5) or header.get(8) or {}  # a data page of the first or the second version
        if not isinstance(data, dict) or header[2] < 0 or header[3] < 0 or data.get(1, 0) < 0:
            raise ValueError("not the header of a page")
        unpacked, values = unpacked + header[2], values + data.get(1, 0)
        encoding = data.get(2 if 5 in header else 4)
        if unpacked > column.total_uncompressed_size or values > column.num_values or encoding == DELTA_BYTE_ARRAY:
            return True
        at = file.tell() + header[3]
    return False


# --- Thrift's compact protocol, as far as the headers of pages use it


def _struct(file: BinaryIO) -> dict[int, Any]:
    """Read the fields of a struct, by their numbers."""
    fields, number = {}, 0
    while head := _byte(file):
        number = number + (head >> 4) if head >> 4 else _whole(file)
        fields[number] = _value(file, head & 15)
    return fields


def _value(file: BinaryIO, kind: int) -> Any:
    match kind:
        case 1 | 2:
            return kind == 1
        case 4 | 5 | 6:
            return _whole(file)
        case 8:
            if (length := _varint(file)) <= MOST_IN_HEADER:
                return file.read(length)
        case 12:
            return _struct(file)
        case _:
            pass
    raise ValueError("not the header of a page")


def _whole(file: BinaryIO) -> int:
    number = _varint(file)
    return number >> 1 ^ -(number & 1)


def _varint(file: BinaryIO) -> int:
    number = 0
    for place in range(0, 70, 7):
        byte = _byte(file)
        number |= (byte & 127) << place
        if byte < 128:
            return number
    raise ValueError("a number that does not end")


def _byte(file: BinaryIO) -> int:
    if read := file.read(1):
        return read[0]
    raise ValueError("the file ends early")
