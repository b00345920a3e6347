"""Gaussian process latent variable models: latent spaces of poses, and the mappings back to poses."""

from __future__ import annotations

from understudy.gp.covariance import Kernel
from understudy.gp.gplvm import GPLVM, SparseGPLVM
from understudy.gp.mapping import LatentMapping
from understudy.gp.priors import ConnectivityPrior, DynamicsPrior

__all__ = ["GPLVM", "ConnectivityPrior", "DynamicsPrior", "Kernel", "LatentMapping", "SparseGPLVM"]
