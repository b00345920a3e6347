"""Small sound files of every format: what the fuzz damages. Made here, by our own writers where there is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.formats.gltf.avatars import BONES, humanoid, vrm0, vrm1, vrm_animation
from tests.formats.gltf.minimal import Minimal, one_triangle

from understudy.character import (
    Asset,
    Channel,
    Character,
    Clip,
    Curve,
    Curves,
    Image,
    Material,
    Mesh,
    Part,
    Shapes,
    Skeleton,
    SkinBinding,
    Texture,
)
from understudy.character.rig import bake
from understudy.formats import write
from understudy.formats.npz import write_bake

# The smallest picture that is one: a single grey pixel.
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c636800000082008177cd72b60000000049454e44ae426082"
)

BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0.0 0.0 0.0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Chest
  {
    OFFSET 0.0 20.5 0.0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0.0 10.0 1.0
    }
  }
  JOINT Leg
  {
    OFFSET 9.0 -1.0e1 0.0
    CHANNELS 3 Yrotation Xrotation Zrotation
    End Site
    {
      OFFSET 0.0 -40.0 0.0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.0333333
1.0 90.0 2.0 0.0 0.0 0.0 5.0 1.0 -3.0 0.0 20.0 0.5
1.5 90.5 2.5 1.0 0.0 0.0 6.0 2.0 -2.0 0.0 21.0 0.5
2.0 91.0 3.0 2.0 0.0 179.0 7.0 3.0 -1.0 0.0 22.0 0.5
"""

ASF = """# a small body
:version 1.10
:name small
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
   two bones
:root
   order TX TY TZ RX RY RZ
   axis XYZ
   position 0 0 0
   orientation 0 0 0
:bonedata
  begin
     id 1
     name thigh
     direction 0.34 -0.93 0
     length 7.2
     axis 0 0 20 XYZ
    dof rx ry rz
    limits (-160.0 20.0)
           (-70.0 70.0)
           (-60.0 70.0)
  end
  begin
     id 2
     name shin
     direction 0.34 -0.93 0
     length 6.5
     axis 0 0 20 XYZ
    dof rx
    limits (-10.0 170.0)
  end
:hierarchy
  begin
    root thigh
    thigh shin
  end
"""

AMC = """#!OML:ASF body.asf
:FULLY-SPECIFIED
:DEGREES
1
root 9.3 17.8 -17.3 -2.0 -3.0 1.5
thigh -17.0 5.0 -19.0
shin 33.0
2
root 9.4 17.9 -17.4 -2.1 -3.1 1.6
thigh -18.0 5.5 -19.5
shin 34.0
"""

OBJ = """# a quad, a triangle and a seam
mtllib none.mtl
o piece
v 0 0 0
v 1 0 0 0.5 0.5 0.5
v 1 1 0
v 0 1 0
v 0.5 0.5 1e0
vt 0 0
vt 1 0
vt 1 1
vn 0 0 1
usemtl red
s off
f 1/1/1 2/2/1 3/3/1 4/1/1
g top
usemtl blue
f -1//1 1//1 2//1
f 3 4 5
l 1 2
"""

CSV = """Timecode,BlendShapeCount,EyeBlinkLeft,JawOpen,MouthSmileLeft,HeadYaw
10:00:00:00.000,61,0.1,0.2,0.3,0.01
10:00:00:02.000,61,0.2,0.4,0.3,0.02
10:00:00:04.000,61,0.3,0.6,0.2,0.03
"""

USDA = """#usda 1.0
(
    defaultPrim = "Root"
    endTimeCode = 2
    metersPerUnit = 0.01
    startTimeCode = 1
    timeCodesPerSecond = 24
    upAxis = "Z"
)
def SkelRoot "Root"
{
    def Skeleton "Skel" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {
        uniform token[] joints = ["A", "A/B"]
        uniform matrix4d[] bindTransforms = [
            ((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,0,1)), ((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,2,1))
        ]
        uniform matrix4d[] restTransforms = [
            ((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,0,1)), ((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,2,1))
        ]
        rel skel:animationSource = </Root/Skel/Anim>
        def SkelAnimation "Anim"
        {
            uniform token[] joints = ["A/B"]
            float3[] translations = [(0, 0, 2)]
            quatf[] rotations.timeSamples = { 1: [(1, 0, 0, 0)], 2: [(0.7071, 0.7071, 0, 0)] }
            half3[] scales = [(1, 1, 1)]
            uniform token[] blendShapes = ["Up"]
            float[] blendShapeWeights.timeSamples = { 1: [0], 2: [1] }
        }
    }
    def Mesh "Body" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {
        int[] faceVertexCounts = [3, 4]
        int[] faceVertexIndices = [0, 1, 2, 0, 2, 3, 4]
        point3f[] points = [(0,0,0), (1,0,0), (1,1,0), (0,1,0), (0,0,3)]
        int[] primvars:skel:jointIndices = [0, 0, 0, 0, 1] (
            elementSize = 1
            interpolation = "vertex"
        )
        float[] primvars:skel:jointWeights = [1, 1, 1, 1, 1] (
            elementSize = 1
            interpolation = "vertex"
        )
        uniform token[] skel:blendShapes = ["Up"]
        rel skel:blendShapeTargets = </Root/Body/Up>
        rel skel:skeleton = </Root/Skel>
        def BlendShape "Up"
        {
            uniform vector3f[] offsets = [(0, 0, 1)]
            uniform int[] pointIndices = [4]
        }
    }
}
"""


def small_character() -> Character:
    """Two joints, five vertices, two shapes, a material with a picture, and a second part that hangs rigidly."""
    skeleton = Skeleton(("hip", "chest", "prop"), [-1, 0, 1], [[0, 1, 0], [0, 0.5, 0], [0.2, 0, 0]])
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]], np.float32)
    deltas = np.zeros((2, 5, 3), np.float32)
    deltas[0, 4, 2], deltas[1, 0] = 0.5, (0.1, 0.2, 0.3)
    texture = Texture(Image("grey", "image/png", PIXEL))
    material = Material("skin", (0.8, 0.5, 0.4, 1.0), textures={"colour": texture})
    mesh = Mesh(
        "body",
        points,
        [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
        normals=np.tile([0.0, 0.0, 1.0], (5, 1)),
        uvs=[points[:, :2]],
        materials=[material],
        shapes=Shapes(("jawOpen", "mouthSmileLeft"), deltas, defaults=[0.0, 0.25]),
    )
    binds = np.tile(np.eye(4), (2, 1, 1))
    binds[0, 1, 3], binds[1, 1, 3] = -1.0, -1.5
    share = np.array([[1, 0], [1, 0], [0.5, 0.5], [0.25, 0.75], [0, 1]], np.float32)
    skin = SkinBinding([0, 1], binds, np.tile([0, 1], (5, 1)), share)
    prop = Mesh("prop", points[:3] * 0.1, [[0, 1, 2]])
    return Character("small", skeleton, [Part("body", mesh, skin), Part("prop", prop, SkinBinding.rigid(2, 3))])


def small_asset() -> Asset:
    """The character with one animation that uses every kind of segment."""
    turns = np.array([[0, 0, 0, 1], [0, 0, 0.6, 0.8], [0, 1, 0, 0]], float)
    times = [0.0, 0.5, 1.0]
    hip = Channel("hip", "translation")
    moves = np.array([[0, 1, 0], [0, 1.2, 0], [0.3, 1, 0]], float)
    curves = [
        Curve.hermite(hip, times, moves, np.zeros((3, 3)), np.ones((3, 3))),
        Curve(Channel("chest", "rotation"), times, turns),
        Curve(Channel("prop", "scale"), times, np.ones((3, 3)), 0),
        Curve(Channel("body", "weights", ("jawOpen", "mouthSmileLeft")), times, [[0, 0], [1, 0.5], [0.5, 1]]),
    ]
    return Asset([small_character()], curves=[Curves("act", curves)])


def motion_asset() -> Asset:
    """Joints alone, moving: what a motion format holds."""
    joints = Skeleton(("hip", "chest", "head"), [-1, 0, 1], [[0, 1, 0], [0, 0.5, 0], [0, 0.4, 0]])
    turned = np.array([[0, 0, 0, 1], [0, 0.6, 0, 0.8], [0.6, 0, 0, 0.8]], float)
    channels = [Channel("hip", "translation"), *(Channel(name, "rotation") for name in joints.names)]
    values = np.concatenate([np.tile([0.0, 1.0, 0.1], (3, 1)), turned, turned[::-1], turned], axis=1)
    return Asset([Character("body", joints)], [Clip("walk", channels, values, 30.0)])


def face_asset() -> Asset:
    """Shape weights alone."""
    names = ("jawOpen", "eyeBlinkLeft", "mouthSmileLeft")
    return Asset(clips=[Clip("take", [Channel("", "weights", names)], [[0, 0.5, 1], [0.1, 0.6, 0.9]], 60.0)])


def keyed_asset() -> Asset:
    """Curves alone: free handles, all kinds of segments, angles, weights, controls."""
    rng = np.random.default_rng(3)
    channels = [
        Channel("hip", "translation"),
        Channel("hip", "rotation"),
        Channel("knee", "euler", ("z", "x", "y")),
        Channel("", "weights", ("smile", "blink")),
        Channel("rig", "controls", ("gain",)),
    ]
    curves = []
    for channel, beyond in zip(channels, ("hold", "linear", "cycle", "cycle_offset", "hold")):
        before, after = rng.uniform(0, 0.4, (2, 4, len(channel), 2))
        values = rng.normal(size=(4, len(channel)))
        curves.append(Curve(channel, [0, 0.5, 1, 1.5], values, [2, 1, 0], before, after, (beyond, "hold")))
    return Asset(curves=[Curves("wild", curves, ("x",), 24.0, "all of it", {"hit": 0.5})])


HAND_MADE = {".bvh": BVH, ".asf": ASF, ".amc": AMC, ".obj": OBJ, ".csv": CSV, ".usda": USDA}
WRITTEN = {
    ".glb": small_asset,
    ".gltf": small_asset,
    ".usda": small_asset,
    ".usdc": small_asset,
    ".usdz": small_asset,
    ".usd": small_asset,
    ".bvh": motion_asset,
    ".csv": face_asset,
    ".curves.json": keyed_asset,
    ".fbx": small_asset,
}


def compressed() -> Minimal:
    """A triangle whose corners are compressed by meshopt, and 16 elements of four bytes beside it as its colours."""
    made = one_triangle()
    primitive = made.root["meshes"][0]["primitives"][0]
    corners = bytes.fromhex("e1f010fe1f3d000a007687566778a9866589689801690000")
    colours = bytes.fromhex("a000012aaaaaaa0204444444444444440300101010101010101010101010101010" + "00" * 32)
    for encoded, mode, count, stride in ((corners, "TRIANGLES", 15, 4), (colours, "ATTRIBUTES", 16, 4)):
        view = made.view(encoded)
        entry = made.root["bufferViews"][view]
        inner = {key: entry[key] for key in ("buffer", "byteOffset", "byteLength")}
        inner |= {"mode": mode, "count": count, "byteStride": stride}
        entry |= {"byteLength": count * stride, "byteOffset": 0, "buffer": 0}
        entry["extensions"] = {"EXT_meshopt_compression": inner}
    views = len(made.root["bufferViews"])
    corner_item = {"componentType": 5125, "type": "SCALAR", "count": 3, "bufferView": views - 2}
    primitive["indices"] = made.add("accessors", corner_item)
    colour_item = {"componentType": 5121, "type": "VEC4", "count": 3, "bufferView": views - 1, "normalized": True}
    primitive["attributes"]["COLOR_0"] = made.add("accessors", colour_item)
    made.root["extensionsUsed"] = ["EXT_meshopt_compression"]
    return made


def make_seeds(folder: Path, ending: str) -> list[Path]:
    """The seed files of one ending; beside motion that needs a skeleton, `hand.asf`."""
    seeds = []
    if ending in HAND_MADE:
        seeds.append(folder / f"hand{ending}")
        seeds[-1].write_text(HAND_MADE[ending])
    if ending in WRITTEN:
        seeds.append(folder / f"ours{ending}")
        write(WRITTEN[ending](), seeds[-1])
    if ending == ".fbx":
        from tests.formats.fbx.test_reader import mesh_file

        for name, ascii_text in (("hand", False), ("text", True)):
            seeds.append(mesh_file().save(folder / f"{name}.fbx", ascii_text))
    if ending == ".amc":
        (folder / "hand.asf").write_text(ASF)
    if ending == ".vrm":
        for number, named in enumerate((vrm0(), vrm1())):
            seeds.append(humanoid(**named).save(folder, f"hand{number}.glb").rename(folder / f"hand{number}{ending}"))
    if ending == ".vrma":
        made = humanoid(**vrm_animation())
        made.animate(len(BONES), "translation", made.sampler([0, 1], [[0, 0, 0], [1, 0, 0]], "VEC3"))
        made.animate(4, "rotation", made.sampler([0, 1], [[0, 0, 0, 1], [0, 1, 0, 0]], "VEC4"))
        seeds.append(made.save(folder, "hand.glb").rename(folder / f"hand{ending}"))
    if ending in (".glb", ".gltf"):
        seeds.append(compressed().save(folder, f"compressed{ending}"))
    if ending == ".npz":
        seeds.append(folder / f"ours{ending}")
        write_bake(bake(small_asset()), seeds[-1])
    if ending == ".understudy":
        from tests.deform.test_character_file import skinned_tube

        seeds.append(folder / f"ours{ending}")
        write(skinned_tube(), seeds[-1])
    if ending == ".c3d":
        seeds.append(folder / f"hand{ending}")
        seeds[-1].write_bytes(c3d_bytes())
    return seeds


def c3d_bytes() -> bytes:
    """Two markers in three frames, numbers as floats, Intel order: header, one parameter block, data."""
    import struct

    def group(number: int, name: bytes) -> bytes:
        return struct.pack("<bb", len(name), -number) + name + struct.pack("<hB", 3, 0)

    def parameter(number: int, name: bytes, kind: int, sizes: tuple[int, ...], content: bytes) -> bytes:
        body = struct.pack("<bB", kind, len(sizes)) + bytes(sizes) + content + b"\0"
        return struct.pack("<bb", len(name), number) + name + struct.pack("<h", 2 + len(body)) + body

    header = struct.pack("<BBHHHHHfHHf", 2, 0x50, 2, 0, 1, 3, 10, -0.001, 3, 0, 100.0).ljust(512, b"\0")
    records = b"".join(
        [
            group(1, b"POINT"),
            parameter(1, b"USED", 2, (), struct.pack("<h", 2)),
            parameter(1, b"FRAMES", 2, (), struct.pack("<h", 3)),
            parameter(1, b"SCALE", 4, (), struct.pack("<f", -0.001)),
            parameter(1, b"RATE", 4, (), struct.pack("<f", 100.0)),
            parameter(1, b"DATA_START", 2, (), struct.pack("<h", 3)),
            parameter(1, b"UNITS", -1, (2,), b"mm"),
            parameter(1, b"LABELS", -1, (4, 2), b"HEADHAND"),
            group(2, b"ANALOG"),
            parameter(2, b"USED", 2, (), struct.pack("<h", 0)),
        ]
    )
    parameters = (struct.pack("<BBBB", 1, 0x50, 1, 84) + records).ljust(512, b"\0")
    frames = np.zeros((3, 2, 4), "<f4")
    frames[..., :3] = np.arange(18).reshape(3, 2, 3) * 100
    frames[1, 1, 3] = -1
    return header + parameters + frames.tobytes().ljust(512, b"\0")
