"""The compiled parser of decimal numbers: one pass over the bytes.

A decimal m * 10^k is rounded correctly by one division or product of two exact doubles as long as m < 2^53 and
|k| <= 22 [Clinger 1990]. Everything else (long mantissas, large exponents, words such as nan, damage) is reported, and
left to Python.

The bytes must end with white space: it stops every inner loop, so none of them looks for the end. With that, and with
unsigned indices that need no check for counting from the end, this runs at a byte a nanosecond.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import compile_kernel

POWERS_OF_TEN = 10.0 ** np.arange(23)
MAX_EXACT_INTEGER = 1 << 53
ONE = np.uint64(1)
ZERO_CHARACTER = np.uint8(ord("0"))
POINT_DIGIT = np.uint8((ord(".") - ord("0")) % 256)


@compile_kernel(nogil=True)
def count(data: Array) -> int:
    """How many words, separated by white space, the bytes `data` (N,) hold; -1 where there are control characters.

    Without control characters, white space is any byte up to 32.
    """
    words, controls = 0, 0
    for i in range(1, data.size):
        words += (data[i] > 32) & (data[i - 1] <= 32)
        controls += (data[i] < 9) | ((data[i] > 13) & (data[i] < 32))
    if controls or (data.size > 0 and (data[0] < 9 or (data[0] > 13 and data[0] < 32))):
        return -1
    return words + int(data.size > 0 and data[0] > 32)


@compile_kernel(nogil=True)
def parse(data: Array, values: Array, hard: Array) -> int:
    """Fill `values` (count,) with the numbers of `data` (N,), whose last byte is white space; returns how many rows
    (index, start, stop) of `hard` (count, 3) name a word that was not read."""
    i, index, hard_count, size = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(data.size)
    while True:
        while data[i] <= 32:
            i += ONE
            if i >= size:
                return int(hard_count)
        start = i
        negative = data[i] == 45
        if negative or data[i] == 43:
            i += ONE
        mantissa, exponent = np.int64(0), np.int64(0)
        first = i
        digit = np.uint8(data[i] - ZERO_CHARACTER)
        while digit <= 9:
            mantissa = mantissa * 10 + digit
            i += ONE
            digit = np.uint8(data[i] - ZERO_CHARACTER)
        digits = i - first
        if digit == POINT_DIGIT:
            i += ONE
            point = i
            digit = np.uint8(data[i] - ZERO_CHARACTER)
            while digit <= 9:
                mantissa = mantissa * 10 + digit
                i += ONE
                digit = np.uint8(data[i] - ZERO_CHARACTER)
            exponent = -np.int64(i - point)
            digits += i - point
        good = bool(digits > 0 and digits <= 18)  # 18 nines fit into 63 bits
        if data[i] == 101 or data[i] == 69:
            i += ONE
            below = data[i] == 45
            if below or data[i] == 43:
                i += ONE
            power, begin = np.int64(0), i
            digit = np.uint8(data[i] - ZERO_CHARACTER)
            while digit <= 9:
                power = min(power * 10 + digit, np.int64(100000))
                i += ONE
                digit = np.uint8(data[i] - ZERO_CHARACTER)
            good = bool(good and i > begin)
            exponent += -power if below else power
        if data[i] > 32:
            good = False
            while data[i] > 32:
                i += ONE
        if good and mantissa < MAX_EXACT_INTEGER and exponent >= -22 and exponent <= 22:
            value = mantissa / POWERS_OF_TEN[-exponent] if exponent < 0 else mantissa * POWERS_OF_TEN[exponent]
            values[index] = -value if negative else value
        else:
            hard[hard_count, 0], hard[hard_count, 1], hard[hard_count, 2] = index, start, i
            hard_count += ONE
        index += ONE
