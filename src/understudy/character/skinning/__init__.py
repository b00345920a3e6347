"""Skinning: shapes, linear and dual quaternion blends, lattices and normals, from matrices to vertices."""
