/** The labels of a character's clips, as the server sees them when it learns. */
import type { CharacterEntry } from "./wire";

/** Labels as learning sees them: a clip without a label is one of its own, under the last part of its name. */
export function labelsOf(character: CharacterEntry): Map<string, { clips: number; seconds: number }> {
  const short = character.clips.map((clip) => clip.name.split("|").at(-1) ?? clip.name);
  const distinct = new Set(short).size === short.length && short.every(Boolean);
  const found = new Map<string, { clips: number; seconds: number }>();
  character.clips.forEach((clip, number) => {
    if (clip.frames < 2) return;
    for (const label of clip.labels.length ? new Set(clip.labels) : [distinct ? short[number] : clip.name]) {
      const before = found.get(label) ?? { clips: 0, seconds: 0 };
      found.set(label, { clips: before.clips + 1, seconds: before.seconds + clip.seconds });
    }
  });
  return found;
}
