"""Skeleton: names, parents and the rest pose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A forest of joints, each with its rest transform relative to its parent.

    A joint is anything with a transform that can carry something: a bone, or a plain node between bones. Parents come
    before their children, roots have parent -1; `Skeleton.from_unsorted` takes joints in any order.
    """

    names: tuple[str, ...]
    parents: Array  # (J,) int
    translations: Array  # (J, 3) parent_from_joint, metres
    rotations: Array  # (J, 4) x, y, z, w, of unit length or as near to it as `checks.NEAR_UNIT`
    scales: Array  # (J, 3)
    extra: dict[str, Any] = field(default_factory=dict, repr=False)  # format-specific, kept through a round trip

    def __init__(
        self,
        names: Iterable[str],
        parents: Any,
        translations: Any,
        rotations: Any = None,
        scales: Any = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        names = checks.unique_names(names, "joint names")
        count = len(names)
        if rotations is None:
            rotations = quaternion.identity((count,))
        if scales is None:
            scales = np.ones((count, 3))
        fields = {
            "names": names,
            "parents": checks.array(parents, "parents", (count,), np.int64),
            "translations": checks.array(translations, "rest translations", (count, 3)),
            "rotations": checks.unit_quaternions(rotations, "rest rotations", (count, 4)),
            "scales": checks.array(scales, "rest scales", (count, 3)),
            "extra": dict(extra or {}),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        late = np.flatnonzero((self.parents >= np.arange(count)) | (self.parents < -1))
        if late.size:
            joint = int(late[0])
            raise InvalidInput(
                f"each joint should come after its parent, but joint {joint} ({names[joint]!r}) has parent "
                f"{self.parents[joint]} (-1 marks a root)"
            )

    @classmethod
    def from_unsorted(
        cls, names: Iterable[str], parents: Any, translations: Any, rotations: Any = None, scales: Any = None
    ) -> tuple[Skeleton, Array]:
        """A skeleton from joints in any order, depth first, and `order`: `order[new] = old`."""
        names = tuple(names)
        parents = checks.array(parents, "parents", (len(names),), np.int64)
        order = depth_first(parents)
        rank = np.empty(len(names), np.int64)
        rank[order] = np.arange(len(names))
        old_parents = parents[order]
        new_parents = np.where(old_parents < 0, -1, rank[np.maximum(old_parents, 0)])

        def pick(value: Any) -> Any:
            return None if value is None else np.asarray(value)[order]

        skeleton = cls((names[i] for i in order), new_parents, pick(translations), pick(rotations), pick(scales))
        return skeleton, order

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Skeleton({len(self)} joints, {len(self.roots)} roots)"

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """The number of the joint of that name."""
        if name not in self._index:
            checks.one_of(name, "joint", self._index)  # raises and lists the names
        return self._index[name]

    def __contains__(self, name: object) -> bool:
        return name in self._index

    @cached_property
    def roots(self) -> Array:
        """(R,) the joints without a parent."""
        return checks.freeze(np.flatnonzero(self.parents < 0))

    def ancestors(self, joint: int) -> list[int]:
        """The chain from the joint itself up to its root."""
        chain = []
        while joint >= 0:
            chain.append(joint)
            joint = int(self.parents[joint])
        return chain


def depth_first(parents: Array) -> Array:
    """(J,) joint numbers, each parent before its children, siblings in their own order; a cycle is refused."""
    count = len(parents)
    checks.indices(parents, "parents", count, lowest=-1)
    children: list[list[int]] = [[] for _ in range(count + 1)]
    for joint in range(count - 1, -1, -1):
        children[int(parents[joint])].append(joint)  # parent -1 puts the roots into the last list
    order, stack = [], list(children[-1])
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(children[joint])
    if len(order) != count:
        stray = int(np.setdiff1d(np.arange(count), order)[0])
        raise InvalidInput(f"the parents should form trees, but joint {stray} is part of a cycle")
    return np.array(order, np.int64)
