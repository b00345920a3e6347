"""Transforms -> vertices: blend shapes, then linear or dual quaternion skinning, and normals. No animation here.

Skins from and to files: examples are read, methods fitted and compared, meshes bound by themselves.

examples    files, folders and built-in ground truth -> Examples
bound       a character's parts in one space, with the joints that move them
automatic   weights, or a whole skeleton, for a character's mesh
measures    how far a deformer is from the truth, and what it costs
comparison  every method on the same poses, measured on others
playing     any deformer as what glTF can play: linear blend and corrective shapes
report      the comparison as a page
"""
