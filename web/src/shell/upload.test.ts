import { describe, expect, it } from "vitest";
import { grouped } from "./upload";

const endings = [".glb", ".gltf", ".usda", ".bvh", ".asf", ".amc", ".c3d", ".csv", ".obj", ".curves.json"];
const files = (...names: string[]) => names.map((name) => ({ name }));
const shape = (...names: string[]) => {
  const { groups, unknown } = grouped(files(...names), endings);
  return {
    groups: groups.map((group) => [group.main.name, ...group.companions.map((each) => each.name)]),
    unknown: unknown.map((each) => each.name),
  };
};

describe("grouped", () => {
  it("opens each file by itself", () => {
    expect(shape("a.glb", "b.BVH")).toEqual({ groups: [["a.glb"], ["b.BVH"]], unknown: [] });
  });

  it("sends buffers and pictures with the file that refers to them, and not with others", () => {
    expect(shape("a.bin", "a.gltf", "skin.png", "b.glb").groups).toEqual([["a.gltf", "a.bin", "skin.png"], ["b.glb"]]);
  });

  it("puts motion that needs a character after characters", () => {
    expect(shape("face.csv", "head.glb").groups).toEqual([["head.glb"], ["face.csv"]]);
  });

  it("takes a skeleton as a companion of its motion, or alone", () => {
    expect(shape("01.asf", "01_01.amc").groups).toEqual([["01_01.amc", "01.asf"]]);
    expect(shape("01.asf").groups).toEqual([["01.asf"]]);
  });

  it("names what nothing can open", () => {
    expect(shape("notes.txt", "lonely.bin", "a.glb").unknown).toEqual(["notes.txt", "lonely.bin"]);
  });
});
