"""An actor's surprise on a lamp: pose pairs, the mapping, weight, what to pose next, and the same a frame at a time."""

import understudy as us
from understudy.transfer.source import source_of

actor, lamp = us.load("actor"), us.load("lamp")
pairs = us.PosePairs.read("lamp", actor, lamp)
print(f"{len(pairs)} pose pairs, {pairs.source.shape[1]} points of the actor to {pairs.target.shape[1]} of the lamp")

retargeter = us.Retargeter(lamp).fit(pairs)
result = retargeter.transform(actor, clip="surprise", rate=24)
for step in ("placed", "solved"):
    figures = result.report["physics"][step]
    print(f"{step}: the base slides {figures['slide_cm_s']:.1f} cm/s")
print(f"uncertain by {1000 * result.uncertainty.mean():.0f} mm, at most {1000 * result.uncertainty.max():.0f} mm")
us.save(result.clip, "surprised_lamp.glb", lamp.character())
us.save(retargeter, "actor_to_lamp.understudy")

few = pairs.subset(range(0, len(pairs), 8))
for pose in us.suggest_poses(actor, few, 3):
    print(f"pose {pose.motion} at {pose.time:.2f} s next: it would tell {pose.gain:.0%} of what is uncertain")

live, motion = us.load("actor_to_lamp.understudy").live(), source_of(actor, "surprise", rate=24)
state = live.init()
for frame in range(24):
    state, pose = live.step(state, frame / 24, motion.points[frame], motion.frames[frame])
print(f"live: after a second the shade is at {pose.world[0, lamp.character().skeleton.index('Head'), :3, 3].round(2)}")
