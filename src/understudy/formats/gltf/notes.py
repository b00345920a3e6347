"""Notes of one reading or writing: each said once, however often it is met, or counted."""

from __future__ import annotations

from collections import Counter


class Notes:
    """One line for each thing that was dropped or changed."""

    def __init__(self) -> None:
        self._notes: dict[str, None] = {}
        self._counts: Counter[str] = Counter()

    def note(self, text: str) -> None:
        """Say something, once."""
        self._notes[text] = None

    def count(self, what: str, number: int = 1) -> None:
        """Count something: "cameras were left out ({})" becomes one note; nothing is said of none."""
        if number:
            self._counts[what] += number

    @property
    def notes(self) -> list[str]:
        """All notes, in the order in which they came up, then those with counts."""
        return [*self._notes, *(what.format(number) for what, number in self._counts.items())]
