"""Skin bindings: joint indices and weights of a mesh, in the order and pose in which it was bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel

from understudy.character import Skin
from understudy.checks import Array
from understudy.formats.usd.read_skeleton import Bones
from understudy.formats.usd.reading import Reading
from understudy.maths import transform

METHODS = {"classicLinear": "linear", "dualQuaternion": "dual"}
MOST_INFLUENCES = 256
FLAT = 1e-30  # a volume: scales of 1e-6, one in micrometres, have 1e-18


def read(reading: Reading, prim: Usd.Prim, vertex_count: int, bones: Bones | None) -> Skin | None:
    """The skin of a mesh; None where it has no joint influences.

    UsdSkel: vertex = sum_k w_k skeleton_from_joint bind_k^-1 geomBind point, which is ours with
    inverse_bind = bind^-1 geomBind.
    """
    primvars = UsdGeom.PrimvarsAPI(prim)
    indices = primvars.FindPrimvarWithInheritance("skel:jointIndices")
    weights = primvars.FindPrimvarWithInheritance("skel:jointWeights")
    if not (indices and weights and indices.HasAuthoredValue() and weights.HasAuthoredValue()):
        return None
    if bones is None:
        reading.note("meshes with skin weights but no skeleton are read without a skin: {}", prim.GetName())
        return None
    which, shares, rigid = _influences(reading, prim, indices, weights, vertex_count)
    joints = _subset(reading, prim, bones)
    if which.min() < 0 or which.max() >= len(joints):
        wrong = which[(which < 0) | (which >= len(joints))][0]
        raise reading.bad(prim, f"jointIndices should lie between 0 and {len(joints) - 1}, but hold {wrong}")
    geometry = reading.matrix(primvars.FindPrimvarWithInheritance("skel:geomBindTransform").GetAttr())
    geometry = np.eye(4) if geometry is None else reading.frame.matrices(geometry)
    if rigid and which.shape[1] == 1:
        joints, which = joints[which[0]], np.zeros_like(which)
    shares, changed = Skin.normalise(shares)
    if changed:
        reading.note("skin weights that do not sum to 1 were normalised: {}", f"{prim.GetName()} ({changed} vertices)")
    binds = bones.binds[joints]
    if (np.abs(transform.determinant(binds)) < FLAT).any():
        raise reading.bad(prim, "is bound to joints whose bindTransforms are flat, so that they have no inverse")
    inverse_binds = transform.invert(binds) @ geometry
    numbers = bones.joints[joints]
    method = METHODS.get(str(_inherited(prim, "primvars:skel:skinningMethod") or "classicLinear"), "linear")
    # 1e-9: what the product of a matrix and its inverse leaves of the identity
    if rigid and len(numbers) == 1 and method == "linear" and np.abs(inverse_binds[0] - np.eye(4)).max() < 1e-9:
        return Skin.rigid(int(numbers[0]), vertex_count)
    return Skin(numbers, inverse_binds, which, shares, method)


def _influences(
    reading: Reading, prim: Usd.Prim, indices: UsdGeom.Primvar, weights: UsdGeom.Primvar, vertex_count: int
) -> tuple[Array, Array, bool]:
    """(V, K) joint indices, (V, K) weights, and whether they are the same for all vertices."""
    which = reading.array(indices.GetAttr(), None, kind="int")
    shares = reading.array(weights.GetAttr(), None)
    size = int(indices.GetElementSize())
    interpolation = str(indices.GetInterpolation())
    rigid = interpolation == "constant"
    if which is None or shares is None or len(which) != len(shares) or size != weights.GetElementSize():
        raise reading.bad(prim, "jointIndices and jointWeights should have the same length and elementSize")
    expected = size if rigid else size * vertex_count
    if not 1 <= size <= MOST_INFLUENCES or len(which) != expected or interpolation not in ("constant", "vertex"):
        raise reading.bad(
            prim,
            f"jointIndices should hold {expected} values (elementSize {size}, {vertex_count} points), "
            f"but hold {len(which)} ({interpolation})",
        )
    if not np.isfinite(shares).all() or (shares < 0).any():
        raise reading.bad(prim, "jointWeights should be finite and not negative")
    reading.take(prim, 2 * size * vertex_count)
    shape = (1, size) if rigid else (vertex_count, size)
    full = (vertex_count, size)
    return np.broadcast_to(which.reshape(shape), full), np.broadcast_to(shares.reshape(shape), full), rigid


def _subset(reading: Reading, prim: Usd.Prim, bones: Bones) -> Array:
    """(B,) the skeleton's joints to which jointIndices refer: those of skel:joints, or all."""
    holder = prim
    while holder and not holder.IsPseudoRoot():
        given = reading.tokens(UsdSkel.BindingAPI(holder).GetJointsAttr())
        if given is not None:
            unknown = [path for path in given if path not in bones.index]
            if unknown:
                raise reading.bad(
                    prim, f"skel:joints names {unknown[0]!r}, which skeleton {bones.prim.GetName()} lacks"
                )
            return np.array([bones.index[path] for path in given], np.int64)
        holder = holder.GetParent()
    return np.arange(len(bones.joints))


def _inherited(prim: Usd.Prim, name: str) -> Any:
    """The value of an attribute on the prim or on the nearest prim above that has one."""
    while prim and not prim.IsPseudoRoot():
        attribute = prim.GetAttribute(name)
        if attribute and attribute.HasAuthoredValue():
            return attribute.Get()
        prim = prim.GetParent()
    return None
