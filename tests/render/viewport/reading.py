"""The page's side in NumPy: a description taken apart, and a frame of it skinned. Slow and obvious."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from tests.reference import character as reference

from understudy.checks import Array


class Described:
    """Header and buffers of a description."""

    def __init__(self, data: bytes) -> None:
        (length,) = struct.unpack_from("<I", data)
        assert length % 4 == 0
        self.header: dict[str, Any] = json.loads(data[4 : 4 + length])
        self._data, self._base = data, 4 + length

    def array(self, place: list[Any]) -> Array:
        offset, rows, width, kind = place
        found = np.frombuffer(self._data, "<f4" if kind == "f" else "<u4", rows * width, self._base + offset)
        return found.reshape(rows, width) if width > 1 else found

    def __getitem__(self, name: str) -> Array:
        return self.array(self.header[name])

    def skinned(self, payload: Any) -> Array:
        """(V', 3) drawn vertices of a frame of form 1."""
        values = np.frombuffer(payload, np.float32)
        bones = len(self.header["bones"])
        matrices, weights = values[: 12 * bones].reshape(bones, 3, 4), values[12 * bones :]
        assert len(weights) == self.header["weights"]
        points = self["positions"].astype(np.float64)
        first = self["targetFirst"]
        owner = np.repeat(np.arange(len(points)), np.diff(first))
        np.add.at(points, owner, weights[self["targetNumber"]][:, None] * self["targetValue"].reshape(-1, 6)[:, :3])
        joints, share = self._influences(len(points))
        result = np.empty_like(points)
        for part in self.header["parts"]:
            own = slice(part["start"], part["start"] + part["count"])
            blend = reference.dual_blend if part["dual"] else reference.linear_blend
            result[own] = blend(points[own], joints[own], share[own], matrices)
        return result

    def _influences(self, count: int) -> tuple[Array, Array]:
        first, number, value = self["influenceFirst"], self["influenceNumber"], self["influenceValue"]
        most = max(1, int(np.diff(first).max(initial=0)))
        joints, share = np.zeros((count, most), np.int32), np.zeros((count, most), np.float32)
        for v in range(count):
            own = slice(first[v], first[v + 1])
            assert (np.diff(value[own]) <= 0).all()  # the largest first: the pivot of dual quaternions
            joints[v, : first[v + 1] - first[v]], share[v, : first[v + 1] - first[v]] = number[own], value[own]
        return joints, share
