"""Words become a face that acts: labelled takes make a graph, the same words two performances, and a crowd."""

import understudy as us

LABELS = ("fear", "happiness", "surprise")
face = us.load("face")
takes = us.Asset(face.characters, curves=[curves for curves in face.curves if curves.labels[0] in LABELS])
graph = us.FaceGraph(compression=0.8).fit(takes)
us.save(graph, "face.understudy")
print(f"{graph.graph_.takes} takes of {graph.labels}: {graph.graph_.nodes} nodes, {graph.graph_.bytes / 1024:.0f} KB")

words = ["fear", "surprise", {"happiness": 0.7, "surprise": 0.3}]
for seed in (1, 2):
    clip = graph.act(words, seed=seed, character=face.character(), coupling=0.7)
    print(
        f"seed {seed}: {clip.duration:.1f} s,", ", ".join(f"{word} at {at:.2f} s" for word, at in clip.moments.items())
    )
us.save(clip, "act.glb", face.character())

crowd = list(graph.crowd(words, 50))
print(f"50 faces of {min(map(len, crowd))} to {max(map(len, crowd))} frames")
print(us.show(clip, "act.png", character=face.character(), size=(160, 160), target="Head"))
