"""Gaussian processes: latent spaces of poses, and the maps back from them."""

from understudy.gp.connectivity import Connectivity
from understudy.gp.dynamics import Dynamics
from understudy.gp.gplvm import GPLVM
from understudy.gp.kernel import Kernel
from understudy.gp.mapping import Mapping
from understudy.gp.sparse import SparseGPLVM

__all__ = ["GPLVM", "Connectivity", "Dynamics", "Kernel", "Mapping", "SparseGPLVM"]
