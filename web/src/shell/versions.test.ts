import { expect, test } from "vitest";
import { describeVersion } from "./versions";

test("a version says what it holds", () => {
  const version = { name: "v", time: "t", characters: 2, models: 0, takes: 1, edits: 0 };
  expect(describeVersion(version)).toBe("2 characters, 1 take");
  expect(describeVersion({ ...version, characters: 0, takes: 0 })).toBe("empty");
});
