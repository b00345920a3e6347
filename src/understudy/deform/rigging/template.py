"""Templates: the skeletons that can be put into a mesh, as points of a box.

A position is (x, y, z) in the character's box: x -1 to 1 from its right to its left, y 0 to 1 from the ground up, z -1
to 1 from its back to its front. Only relations matter, which joint is above, beside, before which, and about how far;
the mesh determines the rest. A `tip` ends a limb at the skin and is not kept as a joint. Names are those of common
motion files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from understudy import checks
from understudy.checks import Array

JointRow = tuple[str, str, float, float, float]  # joint, parent, x, y, z
FOOT_HEIGHT_RATIO = 0.05  # of the height: ends below it are feet
HEAD_HEIGHT_RATIOS = (0.3, 0.42, 0.55, 0.62)  # heights of heads that are tried, of the body; the template's is 0.18
# x and y of the limbs of a biped whose arms hang: its box is narrow.
ARMS_DOWN_POSITIONS: Mapping[str, tuple[float, float]] = {
    "Arm": (0.55, 0.78),
    "ForeArm": (0.8, 0.63),
    "Hand": (0.88, 0.47),
    "HandTip": (0.92, 0.38),
    "UpLeg": (0.25, 0.5),
    "Leg": (0.27, 0.28),
    "Foot": (0.27, 0.05),
    "ToeTip": (0.28, 0.01),
}
ARMS_DOWN_PRIOR = 0.87  # of hanging over stretched arms: meshes that are made to be rigged stretch theirs
BIPED_ROWS: tuple[JointRow, ...] = (
    ("Hips", "", 0, 0.53, 0),
    ("Spine", "Hips", 0, 0.6, 0),
    ("Chest", "Spine", 0, 0.72, 0),
    ("Neck", "Chest", 0, 0.82, 0),
    ("Head", "Neck", 0, 0.87, 0),
    ("HeadTip", "Head", 0, 1.0, 0),
    ("LeftArm", "Chest", 0.2, 0.79, 0),
    ("LeftForeArm", "LeftArm", 0.55, 0.78, 0),
    ("LeftHand", "LeftForeArm", 0.82, 0.78, 0),
    ("LeftHandTip", "LeftHand", 1.0, 0.78, 0),
    ("LeftUpLeg", "Hips", 0.12, 0.5, 0),
    ("LeftLeg", "LeftUpLeg", 0.13, 0.28, 0.05),
    ("LeftFoot", "LeftLeg", 0.13, 0.05, -0.1),
    ("LeftToeTip", "LeftFoot", 0.14, 0.01, 0.8),
)
QUADRUPED_ROWS: tuple[JointRow, ...] = (
    ("Hips", "", 0, 0.65, -0.5),
    ("Spine", "Hips", 0, 0.66, -0.2),
    ("Chest", "Spine", 0, 0.65, 0.2),
    ("Neck", "Chest", 0, 0.75, 0.4),
    ("Head", "Neck", 0, 0.88, 0.65),
    ("HeadTip", "Head", 0, 0.85, 1.0),
    ("LeftArm", "Chest", 0.5, 0.55, 0.25),
    ("LeftForeArm", "LeftArm", 0.5, 0.3, 0.22),
    ("LeftHand", "LeftForeArm", 0.5, 0.08, 0.24),
    ("LeftHandTip", "LeftHand", 0.5, 0.0, 0.3),
    ("LeftUpLeg", "Hips", 0.5, 0.55, -0.5),
    ("LeftLeg", "LeftUpLeg", 0.5, 0.32, -0.5),
    ("LeftFoot", "LeftLeg", 0.5, 0.1, -0.58),
    ("LeftToeTip", "LeftFoot", 0.5, 0.0, -0.5),
    ("Tail1", "Hips", 0, 0.65, -0.65),
    ("Tail2", "Tail1", 0, 0.6, -0.8),
    ("TailTip", "Tail2", 0, 0.5, -1.0),
)
BIRD_ROWS: tuple[JointRow, ...] = (
    ("Hips", "", 0, 0.5, -0.2),
    ("Chest", "Hips", 0, 0.6, 0.1),
    ("Neck", "Chest", 0, 0.7, 0.3),
    ("Head", "Neck", 0, 0.85, 0.5),
    ("HeadTip", "Head", 0, 0.85, 1.0),
    ("LeftArm", "Chest", 0.2, 0.65, 0.1),
    ("LeftForeArm", "LeftArm", 0.5, 0.66, 0.1),
    ("LeftHand", "LeftForeArm", 0.75, 0.66, 0.0),
    ("LeftHandTip", "LeftHand", 1.0, 0.66, -0.1),
    ("LeftUpLeg", "Hips", 0.12, 0.4, -0.1),
    ("LeftLeg", "LeftUpLeg", 0.12, 0.22, 0.0),
    ("LeftFoot", "LeftLeg", 0.12, 0.05, -0.05),
    ("LeftToeTip", "LeftFoot", 0.12, 0.0, 0.3),
    ("Tail1", "Hips", 0, 0.5, -0.5),
    ("TailTip", "Tail1", 0, 0.48, -1.0),
)
FISH_ROWS: tuple[JointRow, ...] = (
    ("Body", "", 0, 0.5, 0.2),
    ("Head", "Body", 0, 0.5, 0.5),
    ("HeadTip", "Head", 0, 0.5, 1.0),
    ("Tail1", "Body", 0, 0.5, -0.1),
    ("Tail2", "Tail1", 0, 0.5, -0.4),
    ("Tail3", "Tail2", 0, 0.5, -0.7),
    ("TailTip", "Tail3", 0, 0.5, -1.0),
    ("LeftFin", "Body", 0.4, 0.4, 0.3),
    ("LeftFinTip", "LeftFin", 1.0, 0.3, 0.1),
)
LAMP_ROWS: tuple[JointRow, ...] = (
    ("Base", "", 0, 0.04, -0.4),
    ("LowerArm", "Base", 0, 0.12, -0.4),
    ("UpperArm", "LowerArm", 0, 0.5, -0.8),
    ("Shade", "UpperArm", 0, 0.9, 0.2),
    ("ShadeTip", "Shade", 0, 0.72, 0.8),
)


@dataclass(frozen=True, eq=False)
class Template:
    """J joints, parents first."""

    name: str
    names: tuple[str, ...]
    parents: Array  # (J,)
    places: Array  # (J, 3) in the box
    width: float  # typical, in heights
    depth: float  # typical, in heights
    belief: float  # prior: a skeleton of few bones fits nearly anywhere

    @classmethod
    def from_rows(cls, name: str, rows: tuple[JointRow, ...], width: float, depth: float, belief: float) -> Template:
        """From rows (joint, parent, x, y, z); each `Left...` row gets its `Right...` twin."""
        full: list[JointRow] = []
        for joint, parent, x, y, z in rows:
            full.append((joint, parent, x, y, z))
            if joint.startswith("Left"):
                full.append((_mirror_name(joint), _mirror_name(parent), -x, y, z))
        number = {row[0]: i for i, row in enumerate(full)}
        parents = np.array([number.get(row[1], -1) for row in full])
        return cls(name, tuple(number), parents, np.array([row[2:] for row in full]), width, depth, belief)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def mirror(self) -> Array:
        """(J,) the joint on the other side, itself for one in the middle."""
        return np.array([self.names.index(_mirror_name(name)) for name in self.names])

    @cached_property
    def side(self) -> Array:
        """(J,) 1 on the left, -1 on the right, 0 in the middle."""
        return np.array([name.startswith("Left") - name.startswith("Right") for name in self.names])

    @cached_property
    def tips(self) -> Array:
        """(J,) whether a joint only marks an end."""
        return np.array([name.endswith("Tip") for name in self.names])

    @cached_property
    def children(self) -> tuple[Array, ...]:
        """The children of each joint."""
        return tuple(np.flatnonzero(self.parents == joint) for joint in range(len(self)))

    @cached_property
    def keys(self) -> Array:
        """(K,) the joints that are searched for: roots, forks and ends; the others lie on the paths between them."""
        count = np.array([len(children) for children in self.children])
        return np.flatnonzero((count != 1) | (self.parents < 0))

    def key_ancestor(self, joint: int) -> int:
        """The key joint at or above a joint's parent; -1 for a root."""
        joint = int(self.parents[joint])
        while joint >= 0 and joint not in self.keys:
            joint = int(self.parents[joint])
        return joint

    def with_head(self, share: float) -> Template:
        """The template with a head that is `share` of its height, from the neck up."""
        neck = self.places[self.names.index("Neck"), 1]
        y = self.places[:, 1]
        lower, upper = y * (1 - share) / neck, 1 - share * (1 - y) / (1 - neck)
        places = self.places.copy()
        places[:, 1] = np.where(y <= neck, lower, upper)
        return replace(self, places=places)

    @property
    def feet(self) -> int:
        """The number of limbs that stand on the ground."""
        ends = [j for j, children in enumerate(self.children) if not len(children)]
        return sum(self.places[j, 1] < FOOT_HEIGHT_RATIO and bool(self.side[j]) for j in ends)

    def with_legs_at(self, pairs: Array) -> Template:
        """The template with its pairs of feet at places (P, 2) in the box: x of the left foot, and z, back to front.

        Legs stand above their feet, and the body between them is stretched along: necks and tails differ most.
        """
        ends = [j for j, children in enumerate(self.children) if not len(children)]
        feet = sorted((j for j in ends if self.places[j, 1] < FOOT_HEIGHT_RATIO and self.side[j] > 0), key=self._depth)
        if len(feet) != len(pairs):
            return self
        places = self.places.copy()
        own = np.array([self._depth(foot) for foot in feet])
        knots = np.concatenate([[-1.0], own, [1.0]])
        places[:, 2] = np.interp(places[:, 2], knots, np.concatenate([[-1.0], pairs[:, 1], [1.0]]))
        for foot, (x, _) in zip(feet, pairs):
            joint = foot
            while self.side[joint]:
                scale = x / max(abs(self.places[foot, 0]), 1e-6)
                places[joint, 0] = self.places[joint, 0] * scale
                places[self.mirror[joint], 0] = -places[joint, 0]
                joint = int(self.parents[joint])
        return replace(self, places=places)

    def _depth(self, foot: int) -> float:
        """The z of the limb of a foot: that of the joint above it, as toes point forward."""
        return float(self.places[self.parents[foot], 2])

    def with_arms_down(self) -> Template:
        """The biped with hanging instead of stretched arms."""
        places = self.places.copy()
        for j, side in enumerate(self.side):
            if side:
                x, y = ARMS_DOWN_POSITIONS[self.names[j].removeprefix("Left").removeprefix("Right")]
                places[j, :2] = side * x, y
        return replace(self, places=places, belief=ARMS_DOWN_PRIOR * self.belief)

    def variants_on(self, pairs: Array) -> tuple[Template, ...]:
        """The variants, and where the template has that many pairs of feet, also with its legs at `pairs` (P, 2)."""
        if not len(pairs) or self.feet != 2 * len(pairs) or self.name == "biped":
            return self.variants
        return (*self.variants, *(variant.with_legs_at(pairs) for variant in self.variants))

    @property
    def variants(self) -> tuple[Template, ...]:
        """The poses and proportions that are tried: arms out or down, heads of people and of figures in games."""
        if self.name != "biped":
            return (self,)
        return tuple(
            v for pose in (self, self.with_arms_down()) for v in (pose, *map(pose.with_head, HEAD_HEIGHT_RATIOS))
        )


def _mirror_name(name: str) -> str:
    if name.startswith("Left"):
        return "Right" + name[4:]
    return "Left" + name[5:] if name.startswith("Right") else name


TEMPLATES: Mapping[str, Template] = {
    "biped": Template.from_rows("biped", BIPED_ROWS, 0.7, 0.4, 1.0),
    "quadruped": Template.from_rows("quadruped", QUADRUPED_ROWS, 0.45, 1.7, 1.0),
    "bird": Template.from_rows("bird", BIRD_ROWS, 0.5, 1.5, 0.75),
    "fish": Template.from_rows("fish", FISH_ROWS, 1.0, 3.5, 0.65),
    "lamp": Template.from_rows("lamp", LAMP_ROWS, 0.4, 0.7, 0.6),
}


def find_template(name: str) -> Template:
    """The template of that name, or an error that lists what exists."""
    return TEMPLATES[checks.one_of(name, "template", TEMPLATES)]
