"""Notes of one reading or writing: each said once, with the names of all that it concerns."""

from __future__ import annotations


class Notes:
    """One line for each thing that was dropped or changed."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}

    def add(self, text: str, name: str | None = None) -> None:
        """Keep a note, once; with a name, `text` has a place {} where all names with this note will be listed."""
        names = self._names.setdefault(text, [])
        if name is not None and name not in names:
            names.append(name)

    def lines(self) -> list[str]:
        """All notes; of more than three names the rest are only counted."""
        result = []
        for text, names in self._names.items():
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            result.append(text.replace("{}", ", ".join(names[:3]) + more) if names else text)
        return result
