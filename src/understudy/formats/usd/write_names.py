"""Names that USD accepts: prim and joint names are identifiers, so others are changed and the original kept beside."""

from __future__ import annotations

from pxr import Tf, Usd


class Names:
    """The names used so far in one place, so that the next is new."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._copies: dict[str, int] = {}

    def new(self, name: str) -> str:
        """A valid identifier like `name` that was not given out before."""
        base = candidate = str(Tf.MakeValidIdentifier(name or "unnamed"))
        while candidate in self._used:
            self._copies[base] = self._copies.get(base, 1) + 1
            candidate = f"{base}_{self._copies[base]}"
        self._used.add(candidate)
        return candidate


def show(prim: Usd.Prim, name: str) -> None:
    """Keep the original name for people, where the path could not hold it."""
    if name and prim.GetName() != name:
        prim.SetDisplayName(name)
