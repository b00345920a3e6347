"""An actor's surprise on a lamp: pose pairs, the mapping, weight, what to pose next, and the same a frame at a time."""

from understudy import cast, formats
from understudy.character import Asset
from understudy.transfer.baselines import leave_one_out
from understudy.transfer.live import LiveRetargeter
from understudy.transfer.mapping import fit_mapping
from understudy.transfer.measures import measure_motion
from understudy.transfer.pairs import read_pairs, sources_of
from understudy.transfer.pipeline import prepare_target, transfer
from understudy.transfer.pose_suggestions import suggest_poses

actor, lamp = cast.load("actor"), cast.load("lamp")
motions = sources_of(actor, "actor")
pairs = read_pairs(cast.pairs("lamp"), motions, lamp.character(), own=lamp)
mapping = fit_mapping(pairs)
print(f"{len(pairs)} pose pairs, {pairs.source.shape[1]} points of the actor to {pairs.target.shape[1]} of the lamp")

few = pairs.subset(range(0, len(pairs), 8))
print(f"with {len(few)} of them, a pose left out is missed by {1000 * leave_one_out(few, fit_mapping).mean():.0f} mm")

stage = prepare_target(lamp.character(), pairs, mapping, limits=cast.limits("lamp"))
surprise = sources_of(actor, "actor", ["surprise"], rate=24)["surprise"]
done = transfer(surprise, stage, source_body=cast.body("actor"))
for step in ("placed", "realistic"):
    found = measure_motion(done.intermediate[step], stage.body, done.phases, surprise, cast.body("actor"))
    print(
        f"{step}: the base slides {found['slide_cm_s']:.1f} cm/s, {found['penetration_percent']:.1f} % below the floor"
    )
formats.write(Asset([lamp.character()], [done.clip]), "surprised_lamp.glb")

for each in suggest_poses({"surprise": surprise}, few, 3):
    print(f"pose {each.time:.2f} s next: it would tell {each.gain:.0%} of what is uncertain")

live = LiveRetargeter.from_target(stage)
state = live.init()
for frame in range(24):
    state, pose = live.step(state, frame / 24, surprise.points[frame], surprise.frames[frame])
print(f"live: after a second the shade is at {pose.world[0, lamp.character().skeleton.index('Head'), :3, 3].round(2)}")
