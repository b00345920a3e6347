import { expect, it } from "vitest";
import { costLine } from "./cost";

it("says what a crowd costs in one line", () => {
  const line = costLine({ count: 100, fps: 23.9, ms: 18.24, share: 0.436, bytes: 360_000 }, 12);
  expect(line).toBe(
    "100 characters: 24 frames a second, 18.2 ms each, 44 % of a core; 352 KB a frame. The page draws 12 a second.",
  );
  expect(costLine({ count: 1, fps: 24, ms: 1, share: 0.02, bytes: 3600 }, 60)).toContain("1 character:");
});
