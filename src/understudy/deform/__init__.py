"""Deformation: skins fitted to examples, transforms in, vertices out.

deformer         the interface of every method, methods by name, save and load
examples         poses of a skeleton and the mesh in each
example_files    files, folders and built-in ground truth as examples
methods          linear blending, dual quaternions, pose space deformation and others
fitting          least squares that several methods share
comparison       every method on the same poses, measured on others
report           the comparison as a page
playable         any deformer as linear blend and corrective shapes, for glTF
rigging          weights, or a whole skeleton, for a mesh
skin             a fitted skin on a character, and automatic ones
ground_truth     elastic bodies that no method is fitted to
"""
