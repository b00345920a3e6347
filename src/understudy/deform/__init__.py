"""Transforms -> vertices: blend shapes, then linear or dual quaternion skinning, and normals. No animation here."""
