"""What the shared GPLVM is compared with [Yamane 2010, section 6.4]: each is learned from pairs and maps poses."""

from __future__ import annotations

from collections.abc import Callable

from understudy.retarget.baselines.bone_names import BoneNames
from understudy.retarget.baselines.gaussian_process import GaussianProcess
from understudy.retarget.baselines.nearest import NearestPoses
from understudy.retarget.baselines.pca import PrincipalComponents
from understudy.retarget.mapping import Mapping
from understudy.retarget.pairs import Pairs

Learner = Callable[[Pairs], Mapping]

# how each is learned from pairs alone; bone names need the skeletons and learn nothing
LEARNERS: dict[str, Learner] = {
    "PCA": PrincipalComponents.learn,
    "NN3": lambda pairs: NearestPoses.learn(pairs, 3),
    "NN10": lambda pairs: NearestPoses.learn(pairs, 10),
    "GP": GaussianProcess.learn,
}

__all__ = ["LEARNERS", "BoneNames", "GaussianProcess", "Learner", "NearestPoses", "PrincipalComponents"]
