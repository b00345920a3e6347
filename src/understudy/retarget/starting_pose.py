"""A starting pose for the animator: what every one of them did first, done already.

"The animator always started by matching the orientation of the character's root joint to that of the human. Another
common operation was to match the direction of the faces" [Yamane 2010, section 7]. Where there are pairs already, the
mapping knows more, and its pose is the start. Where there are none, bones of the same name turn alike: hips, spine,
neck and head, and limbs if the character has such. The character stands where the actor does and faces the same way.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Character
from understudy.errors import InvalidInput
from understudy.retarget.baselines.bone_names import BoneNames
from understudy.retarget.freedom import freedom_of
from understudy.retarget.ik import Limits, solve_ik
from understudy.retarget.limb_poses import start_poses
from understudy.retarget.mapping import Mapping
from understudy.retarget.markers import Markers, markers_of
from understudy.retarget.pairs import Pairs
from understudy.retarget.poses import Poses
from understudy.retarget.source import Source


def starting_pose(
    source: Source,
    frame: int,
    target: Character,
    *,
    markers: Markers | None = None,
    pairs: Pairs | None = None,
    mapping: Mapping | None = None,
    limits: Limits | None = None,
) -> Poses:
    """One pose of the target for a frame of the source: by the mapping of the pairs, or by the names of bones."""
    if not 0 <= frame < len(source):
        raise InvalidInput(
            f"a frame of motion {source.name!r} should lie between 0 and {len(source) - 1}, but is {frame}"
        )
    local = source.local[[frame]]
    if pairs is not None and mapping is not None:
        start = start_poses(pairs, local, (), source.rate)
        points = mapping.map(local).points
        freedom = freedom_of(pairs.poses)
        pose = solve_ik(pairs.markers, target.skeleton, points, start=start, limits=limits, freedom=freedom)
    else:
        pose = _by_names(source, frame, target, markers_of(target) if markers is None else markers)
    return pose.moved(source.frames[[frame]])


def _by_names(source: Source, frame: int, target: Character, markers: Markers) -> Poses:
    """By the names of bones; a source of bare markers gives its place and heading alone."""
    if source.poses is None:
        rest = Poses.rest(target.skeleton, 1, source.rate)
        return rest.moved(np.linalg.inv(markers.frames(rest.world)))
    return BoneNames.between(source, target.skeleton, markers).poses(source.local[[frame]], source.rate)
