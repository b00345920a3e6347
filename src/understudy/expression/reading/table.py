"""Tables of numbers with a title over each column, as trackers write them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from understudy import files
from understudy.checks import Array
from understudy.errors import BadFile

LARGEST_TABLE = 256 << 20  # bytes: OpenFace writes 5 kB a frame, so half an hour
EMPTY = ("", "nan", "na", "none", "null")


@dataclass(frozen=True)
class Table:
    """A table as text: numbers are read of the columns that are asked for."""

    path: Path
    titles: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]  # of the file, one a row

    def __contains__(self, title: object) -> bool:
        return title in self.titles

    def column(self, title: str) -> list[str]:
        """The cells of one column."""
        index = self.titles.index(title)
        return [row[index].strip() if index < len(row) else "" for row in self.rows]

    def numbers(self, titles: Sequence[str]) -> Array:
        """(F, n) the numbers of the columns; NaN where a cell is empty or says so."""
        indexes = [self.titles.index(title) for title in titles]
        values = np.full((len(self.rows), len(indexes)), np.nan)
        for number, row in enumerate(self.rows):
            for place, index in enumerate(indexes):
                cell = row[index].strip() if index < len(row) else ""
                if cell.lower() in EMPTY:
                    continue
                try:
                    values[number, place] = float(cell)
                except ValueError:
                    where = f"line {self.lines[number]}, column {titles[place]!r}"
                    raise BadFile(self.path, f"a number was expected, but {cell[:30]!r} was found", where) from None
        return np.where(np.isfinite(values), values, np.nan)


def read(path: str | Path) -> Table:
    """A table with commas, semicolons or tabs, its titles in the first line."""
    path = Path(path)
    text = files.read_text(path, LARGEST_TABLE)
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows, lines = [], []
    try:
        titles = tuple(title.strip() for title in next(reader, []))
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise BadFile(path, f"is not a table: {error}", f"line {reader.line_num}") from None
    if not rows:
        raise BadFile(path, "should have a line of titles and at least one of numbers, but has none")
    return Table(path, titles, rows, lines)
