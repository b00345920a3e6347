/** The logic of the panels: labels of clips, lines of scripts, gaze targets. */
import { describe, expect, it } from "vitest";
import type { CharacterEntry } from "../protocol/messages";
import { gazeTarget } from "./gaze_pointer";
import { hueColour, hueOf } from "./hues";
import { filterNames } from "./name_filter";
import { linesOfStep, starterScript } from "./script_text";
import { steeringAt } from "./steer_panel";
import { trainingLabels } from "./training_labels";

function character(...clips: [name: string, labels: string[], frames: number][]): CharacterEntry {
  return {
    clips: clips.map(([name, labels, frames]) => ({ name, labels, frames, seconds: frames / 10 })),
  } as unknown as CharacterEntry;
}

describe("labels", () => {
  it("are the clips' own, else their names without the armature", () => {
    const labels = trainingLabels(
      character(
        ["Rig|Walk", [], 20],
        ["Rig|Run", [], 10],
        ["Rig|Laugh", ["happy"], 10],
        ["Rig|Smile", ["happy", "happy"], 30],
      ),
    );
    expect([...labels]).toEqual([
      ["Walk", { clips: 1, seconds: 2 }],
      ["Run", { clips: 1, seconds: 1 }],
      ["happy", { clips: 2, seconds: 4 }],
    ]);
  });
  it("keep whole names if short ones are ambiguous, and leave poses out", () => {
    expect([...trainingLabels(character(["A|Walk", [], 20], ["B|Walk", [], 10], ["Pose", [], 1])).keys()]).toEqual([
      "A|Walk",
      "B|Walk",
    ]);
  });
  it("have the hues of the chips", () => {
    expect(`#${hueColour("happy").getHexString()}`).toBe(hueOf("happy"));
    expect(
      new Set(["happy", "grumpy", "bored", "curious", "neutral", "roar", "head shake", "surprise"].map(hueOf)).size,
    ).toBe(8);
  });
});

describe("scripts", () => {
  it("have lines from a step to the next", () => {
    expect(linesOfStep([2, 6], 1, 9)).toEqual({ first: 2, last: 5 });
    expect(linesOfStep([2, 6], 2, 9)).toEqual({ first: 6, last: 9 });
    expect([linesOfStep([2, 6], 3, 9), linesOfStep([2, 6], 0, 9)]).toEqual([null, null]);
  });
  it("start with names of the model, quoted", () => {
    const text = starterScript(["calm", 'a "b"'], ["walk"]);
    expect(text).toContain('label = "a \\"b\\""');
    expect(text).toContain('clip = "walk"');
    expect(starterScript(["only"], [])).not.toContain("play");
  });
});

it("the gaze target lies between the camera and the character", () => {
  expect(gazeTarget([0, 0, 4], [1, 2, 0], 0.5)).toEqual([0.5, 1, 2]);
  const [, , z] = gazeTarget([0, 0, 4], [0, 0, 0]);
  expect(z).toBeGreaterThan(0);
  expect(z).toBeLessThan(4);
});

describe("names", () => {
  const names = ["eyes.left", "laugh", "happy", "happy_hop", "mouth.happy"];
  it("are whole poses first", () =>
    expect(filterNames(names, "", 4)).toEqual(["laugh", "happy", "happy_hop", "eyes.left"]));
  it("match a few letters, the best first", () =>
    expect(filterNames(names, "happy", 9)).toEqual(["happy", "happy_hop", "mouth.happy"]));
  it("may be empty", () => expect(filterNames(names, "zzz", 9)).toEqual([]));
});

describe("the steering pad", () => {
  it("stands in its middle and is fastest at its rim", () => {
    expect(steeringAt(0.05, 0, 4)).toEqual({ speed: 0, heading: null });
    expect(steeringAt(0, 0.5, 4)).toEqual({ speed: 2, heading: 0 });
    expect(steeringAt(3, 0, 4)).toEqual({ speed: 4, heading: 90 });
    expect(steeringAt(-0.5, 0, 4).heading).toBe(-90);
    expect(Math.abs(steeringAt(0, -1, 4).heading ?? 0)).toBe(180);
  });
});
