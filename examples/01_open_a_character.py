"""What a file holds: characters, animations, and notes on what reading dropped or changed.

python 01_open_a_character.py [FILE]
"""

import sys

import understudy as us

asset = us.load(sys.argv[1] if len(sys.argv) > 1 else "lamp")

for character in asset.characters:
    print(character)
    for joint, parent in zip(character.skeleton.names, character.skeleton.parents):
        print(f"  {joint} <- {character.skeleton.names[parent] if parent >= 0 else 'the world'}")
for animation in asset.animations:
    print(animation, *animation.labels)
for note in asset.notes:
    print("note:", note)
