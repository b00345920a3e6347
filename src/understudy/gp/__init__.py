"""Gaussian process latent variable models: latent spaces of poses, and the mappings back to poses.

Modules are imported where they are used: a performance needs the mapping of a model, and nothing that trains it.
"""
