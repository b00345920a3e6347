"""An actor's surprise on a lamp: pose pairs, the mapping, weight, what to pose next, and the same a frame at a time."""

from understudy import cast, formats
from understudy.character import Asset
from understudy.retarget.leave_one_out import leave_one_out
from understudy.retarget.live import Live
from understudy.retarget.mapping import learn
from understudy.retarget.measures import measures
from understudy.retarget.motions import sources_of
from understudy.retarget.pairs import read_pairs
from understudy.retarget.suggest import suggest
from understudy.retarget.transfer import stage_of, transfer

actor, lamp = cast.load("actor"), cast.load("lamp")
motions = sources_of(actor, "actor")
pairs = read_pairs(cast.pairs("lamp"), motions, lamp.character(), own=lamp)
mapping = learn(pairs)
print(f"{len(pairs)} pose pairs, {pairs.source.shape[1]} points of the actor to {pairs.target.shape[1]} of the lamp")

few = pairs.some(range(0, len(pairs), 8))
print(f"with {len(few)} of them, a pose left out is missed by {1000 * leave_one_out(few, learn).mean():.0f} mm")

stage = stage_of(lamp.character(), pairs, mapping, limits=cast.limits("lamp"))
surprise = sources_of(actor, "actor", ["surprise"], rate=24)["surprise"]
done = transfer(surprise, stage, source_body=cast.body("actor"))
for step in ("placed", "realistic"):
    found = measures(done.stages[step], stage.body, done.phases, surprise, cast.body("actor"))
    print(
        f"{step}: the base slides {found['slide_cm_s']:.1f} cm/s, {found['penetration_percent']:.1f} % below the floor"
    )
formats.write(Asset([lamp.character()], [done.clip]), "surprised_lamp.glb")

for each in suggest({"surprise": surprise}, few, 3):
    print(f"pose {each.time:.2f} s next: it would tell {each.gain:.0%} of what is uncertain")

live = Live.of(stage)
state = live.init()
for frame in range(24):
    state, pose = live.step(state, frame / 24, surprise.points[frame], surprise.frames[frame])
print(f"live: after a second the shade is at {pose.world[0, lamp.character().skeleton.index('Head'), :3, 3].round(2)}")
