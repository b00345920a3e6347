"""A small scene written by hand, which tests change in one place."""

from __future__ import annotations

SCENE = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Y"
)
def SkelRoot "Root" (
    prepend apiSchemas = ["SkelBindingAPI"]
)
{
    rel skel:skeleton = </Root/Bones>
    def Skeleton "Bones" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {
        uniform token[] joints = ["hip", "hip/knee"]
        uniform matrix4d[] bindTransforms = [
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1)),
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]
        uniform matrix4d[] restTransforms = [
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1)),
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,-1,0,1))]
        rel skel:animationSource = </Root/Bones/Anim>
        def SkelAnimation "Anim"
        {
            uniform token[] joints = ["hip/knee"]
            float3[] translations = [(0,-1,0)]
            quatf[] rotations.timeSamples = {
                0: [(1,0,0,0)],
                24: [(0,1,0,0)]
            }
            half3[] scales = [(1,1,1)]
        }
    }
    def Mesh "Skin" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0,0,0), (1,0,0), (1,1,0), (0,1,0)]
        int[] primvars:skel:jointIndices = [0, 0, 1, 1] (
            interpolation = "vertex"
            elementSize = 1
        )
        float[] primvars:skel:jointWeights = [1, 1, 1, 1] (
            interpolation = "vertex"
            elementSize = 1
        )
    }
}
"""


def write_text(folder, text, name="file.usda"):
    """A file of that text."""
    path = folder / name
    path.write_text(text)
    return path


def changed(*pairs):
    """The scene with each old text replaced, once, by the new one."""
    text = SCENE
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text
