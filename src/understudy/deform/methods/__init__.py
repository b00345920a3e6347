"""Deformers: one file a method, all with the interface of `deform.deformer.Deformer`."""
