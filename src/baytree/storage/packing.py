"""Arrays made small, and made again to the bit: as small whole numbers, byte by byte, deflated.

Most of what chains record are whole numbers that take few bytes: columns, bins, rows, places, and leaf values, which
lie on a grid. Of numbers that are alike the high bytes are, too: all first bytes lie together, then all second ones,
and those that are zero in all numbers are left out.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

# How the numbers became whole and small ones, how many bytes of each are there, and the exponent of the grid.
HEAD = struct.Struct("<BBh")
AS_THEY_ARE, STEPS, GRID = range(3)
# How many bytes each of its byte planes takes; one that takes as many as there are numbers is not deflated.
SIZE = np.dtype("<u4")
# Planes that deflating makes no smaller than this part are left as they are.
WORTH = 0.9
# Beyond, deflating takes twice the time and saves some percent.
LEVEL = 4


def packed(array: np.ndarray) -> bytes | None:
    """An array of little-endian numbers as few bytes; None where they are no fewer."""
    values, how, exponent = array.ravel(), AS_THEY_ARE, 0
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            return None
        if (found := _on_grid(values)) is not None:
            (values, exponent), how = found, GRID
    elif values.size and (values[1:] >= values[:-1]).all():
        values, how = np.diff(values, prepend=values.dtype.type(0)), STEPS
    whole = _unsigned(values)
    width = (int(whole.max(initial=0)).bit_length() + 7) // 8
    planes = [_deflated(plane) for plane in np.ascontiguousarray(_bytes_of(whole)[:, :width].T)]
    sizes = np.array([len(plane) for plane in planes], SIZE).tobytes()
    data = b"".join([HEAD.pack(how, width, exponent), sizes, *planes])
    return data if len(data) < array.nbytes else None


def unpacked(data: bytes, dtype: np.dtype, count: int) -> np.ndarray:
    """So many numbers that `packed` made small; ValueError where it did not. No more is taken than they need."""
    if len(data) < HEAD.size:
        raise ValueError("a packed array is cut off")
    how, width, exponent = HEAD.unpack_from(data)
    if how not in ((AS_THEY_ARE, GRID) if dtype.kind == "f" else (AS_THEY_ARE, STEPS)) or width > dtype.itemsize:
        raise ValueError("an array is packed in no way that there is")
    begin = HEAD.size + width * SIZE.itemsize
    if len(data) < begin:
        raise ValueError("a packed array is cut off")
    ends = begin + np.cumsum(np.frombuffer(data, SIZE, width, HEAD.size), dtype=np.int64)
    if len(data) != (ends[-1] if width else begin):
        raise ValueError("a packed array is larger or smaller than it says")
    if not width:
        return np.zeros(count, dtype)
    # No wider than they must be until the end, for that is quicker.
    room = 1 << (width - 1).bit_length()
    whole = np.zeros((count, room), np.uint8)
    for place, end in enumerate(ends.tolist()):
        whole[:, place] = np.frombuffer(_inflated(memoryview(data)[begin:end], count), np.uint8)
        begin = end
    numbers = whole.reshape(-1).view(f"<u{room}")
    if how == GRID:
        if exponent not in _exponents(dtype):
            raise ValueError(f"an array lies on a grid of 2^{exponent}, which no number is")
        return _off_grid(numbers.astype(f"<u{dtype.itemsize}"), exponent, dtype)
    if dtype.kind == "i":
        numbers = ((numbers >> 1) ^ -(numbers & 1)).view(f"<i{room}")
    if how == STEPS:
        return np.cumsum(numbers, dtype=dtype)
    return numbers.view(dtype) if room == dtype.itemsize else numbers.astype(dtype)


def _deflated(plane: np.ndarray) -> bytes:
    """Bytes as they are, or as few as make up for the time that it takes to read them."""
    found, plain = zlib.compress(plane.data, LEVEL), plane.tobytes()
    return found if len(found) < WORTH * len(plain) else plain


def _inflated(data: memoryview, size: int) -> bytes | memoryview:
    """So many bytes, neither more nor fewer, and never more in memory."""
    if len(data) == size:
        return data
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, size or 1)
        rest = b"" if stream.eof else stream.decompress(stream.unconsumed_tail, 1)
    except zlib.error as error:
        raise ValueError(f"a packed array cannot be read ({error})") from error
    if len(found) != size or rest or not stream.eof or stream.unused_data:
        raise ValueError("a packed array is larger or smaller than it says")
    return found


def _bytes_of(whole: np.ndarray) -> np.ndarray:
    return whole.view(np.uint8).reshape(len(whole), whole.itemsize)


def _unsigned(values: np.ndarray) -> np.ndarray:
    """Whole numbers without a sign, small where they are near zero; other ones as their bits."""
    kind = f"<u{values.itemsize}"
    if values.dtype.kind != "i":
        return values.view(kind)
    bits = 8 * values.itemsize - 1
    return ((values << 1) ^ (values >> bits)).view(kind)


def _on_grid(values: np.ndarray) -> tuple[np.ndarray, int] | None:
    """Numbers as multiples of the largest power of two of which all are, doubled, and one more of negative ones.

    Gives these with the exponent of the power; None where they would be no smaller.
    """
    there = values[values != 0]
    fractions, exponents = np.frexp(there)
    digits = np.finfo(values.dtype).nmant + 1
    whole = np.abs(np.ldexp(fractions, digits)).astype(f"<i{values.itemsize}")
    # The lowest digit of a number is a power of two itself.
    lowest = np.frexp((whole & -whole).astype(values.dtype))[1] - 1 + exponents - digits
    exponent = int(lowest.min(initial=0)) if there.size else 0
    if exponent not in _exponents(values.dtype) or int(exponents.max(initial=0)) - exponent > 8 * values.itemsize - 9:
        return None
    multiples = np.abs(np.ldexp(values.astype(np.float64), -exponent)).astype(f"<u{values.itemsize}")
    return (multiples << 1) | np.signbit(values), exponent


def _exponents(dtype: np.dtype) -> range:
    """Of the powers of two that a type holds without loss of digits, so that multiples by them are exact."""
    return range(int(np.finfo(dtype).minexp), int(np.finfo(dtype).maxexp))


def _off_grid(doubled: np.ndarray, exponent: int, dtype: np.dtype) -> np.ndarray:
    values = (doubled >> 1).astype(dtype)
    with np.errstate(over="ignore"):  # the reader refuses what is too large
        values *= dtype.type(2.0**exponent)
    doubled <<= 8 * dtype.itemsize - 1
    values.view(doubled.dtype)[:] |= doubled  # signs, also of zeros
    return values
