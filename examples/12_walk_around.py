"""A character is told where to go: it walks, turns and stops, on a walk that stays on the spot in its file."""

import numpy as np

import understudy as us
from understudy.character import Skeleton

# Legs that walk on the spot, as clips of games do. With a file of your own: asset = us.load("Soldier.glb")
names = ["hips", *(f"{bone}.{side}" for side in "lr" for bone in ("thigh", "shin", "foot"))]
leg = [(0, -0.05, 0), (0, -0.45, 0), (0, -0.45, 0)]
offsets = [(0, 0.95, 0), *((x if bone == 0 else 0, *place[1:]) for x in (0.1, -0.1) for bone, place in enumerate(leg))]
rig = us.rig_of(us.Character("legs", Skeleton(names, [-1, 0, 1, 2, 0, 4, 5], offsets), []))


def walk(length: float) -> us.Clip:
    """A cycle of 25 frames in which the thighs swing by `length` radians; 0 stands and breathes."""
    rows = np.tile(rig.rest, (25, 1))
    phases = np.arange(25) / 24
    for start, phase in ((1, phases), (4, phases + 0.5)):
        thigh = -length * np.cos(2 * np.pi * phase)  # forward at phase 0, back at one half, then it swings
        knee = 2.2 * length * np.maximum(-np.sin(2 * np.pi * phase), 0)
        for joint, angle in ((start, thigh), (start + 1, knee), (start + 2, -thigh - knee)):
            still = np.zeros_like(angle)
            turns = np.stack([np.sin(angle / 2), still, still, np.cos(angle / 2)], axis=1)  # about x
            rows[:, rig.channels.slice(names[joint], "rotation")] = turns
    stance = np.abs(np.cos(2 * np.pi * phases))
    rows[:, 1] += 0.9 * (np.cos(length * stance) - 1) + (0.005 * np.sin(2 * np.pi * phases) if length == 0 else 0)
    return us.Clip("walk" if length else "idle", rig.channels, rows, 24)


model = us.PoseModel(rate=24).fit(us.Asset([rig.character], [walk(0), walk(0.45)]))
performer = us.Performer(model, rate=60)
print(performer.planner.locomotion.gaits)

state = performer.init("idle")
for command, seconds in ((us.Go(1.2, heading=0), 2), (us.Go(0.6, heading=90), 3), (us.Go(0), 2), (us.TurnTo(180), 3)):
    state = performer.command(state, command)
    for _ in range(60 * seconds):
        state, row = performer.step(state)  # a row (C,) whose root moves in the world
    ground = state.ground
    print(f"{command.word}: at ({ground.x:.2f}, {ground.z:.2f}) m, faces {np.degrees(ground.heading):.0f} degrees")

done = us.run_script(model, [us.Go(1.2, seconds=2), us.Go(0, seconds=2)], label="idle")
us.save(done.asset, "walks.glb")
us.save(done.in_place().asset, "walks_in_place.glb")  # for programs that move the character themselves
