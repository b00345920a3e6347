import { describe, expect, it } from "vitest";
import { groupFiles } from "./upload";

const endings = [".glb", ".gltf", ".usda", ".bvh", ".asf", ".amc", ".c3d", ".csv", ".obj", ".curves.json"];
const files = (...names: string[]) => names.map((name) => ({ name }));
const shape = (...names: string[]) => {
  const { groups, unknown } = groupFiles(files(...names), endings);
  return {
    groups: groups.map((group) => [group.main.name, ...group.companions.map((file) => file.name)]),
    unknown: unknown.map((file) => file.name),
  };
};

describe("uploaded files", () => {
  it("open one by one", () => {
    expect(shape("a.glb", "b.BVH")).toEqual({ groups: [["a.glb"], ["b.BVH"]], unknown: [] });
  });

  it("carry buffers and images only with the file that refers to them", () => {
    expect(shape("a.bin", "a.gltf", "skin.png", "b.glb").groups).toEqual([["a.gltf", "a.bin", "skin.png"], ["b.glb"]]);
  });

  it("put motion that needs a character after characters", () => {
    expect(shape("face.csv", "head.glb").groups).toEqual([["head.glb"], ["face.csv"]]);
  });

  it("treat a skeleton as a companion of its motion, or alone", () => {
    expect(shape("01.asf", "01_01.amc").groups).toEqual([["01_01.amc", "01.asf"]]);
    expect(shape("01.asf").groups).toEqual([["01.asf"]]);
  });

  it("name those that cannot be opened", () => {
    expect(shape("notes.txt", "lonely.bin", "a.glb").unknown).toEqual(["notes.txt", "lonely.bin"]);
  });
});
