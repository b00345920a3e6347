"""Words become a face that acts: thirty takes make a graph, the same three words two performances, and a crowd."""

from benchmarks.measures import express

from understudy import cast, formats
from understudy.character import Asset, rig
from understudy.express.acting import act, clip_of, crowds
from understudy.express.from_clips import sequences_of
from understudy.express.graph.graph_builder import build, raw_bytes
from understudy.render import show

LABELS = ("fear", "happiness", "surprise")
face = cast.load("face")
posed = rig.rig_of(face.character())
takes = sequences_of(posed, [clip for clip in face.animations if clip.labels[0] in LABELS])
graph = build(takes, compression=0.5, merge_compression=0.6)
saved = 1 - graph.bytes / raw_bytes(takes)
print(f"{len(takes)} takes of {graph.labels}: {graph.nodes} nodes in {len(graph.regions)} regions, {saved:.0%} smaller")

words = ["fear", "surprise", {"happiness": 0.7, "surprise": 0.3}]
clips = []
for seed in (1, 2):
    done = act(graph, words, seed=seed, coupling=0.7)
    clips.append(clip_of(done, face.character(), f"take {seed}"))
    print(
        f"seed {seed}: {done.duration:.1f} s,", ", ".join(f"{word} at {at:.2f} s" for word, at in done.moments.items())
    )
formats.write(Asset(face.characters, clips), "face.glb")

faces = list(crowds(graph, words, 50))
apart, worst = express.distances(faces), express.bounds(graph, faces)
print(f"50 faces: the two most alike differ by {apart.min() / apart.mean():.0%} of the mean distance")
print(f"none is faster than {worst.fastest:.2f} of the takes' own greatest speed")

take = show.RenderTake.from_rows(posed, posed.pose(clips[0]), rate=clips[0].rate)
print("face.png:", show.contact_sheet(take, "face.png", show.ViewSettings(size=(160, 160), target="Head"), 12))
