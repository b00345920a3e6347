/** The labels that a model of a character's clips would learn. */
import type { CharacterEntry } from "./wire";

/** The labels as the server learns them: a clip without a label gets its own, the last part of its name. */
export function trainingLabels(character: CharacterEntry): Map<string, { clips: number; seconds: number }> {
  const short = character.clips.map((clip) => clip.name.split("|").at(-1) ?? clip.name);
  const distinct = new Set(short).size === short.length && short.every(Boolean);
  const result = new Map<string, { clips: number; seconds: number }>();
  character.clips.forEach((clip, number) => {
    if (clip.frames < 2) return;
    for (const label of clip.labels.length ? new Set(clip.labels) : [distinct ? short[number] : clip.name]) {
      const before = result.get(label) ?? { clips: 0, seconds: 0 };
      result.set(label, { clips: before.clips + 1, seconds: before.seconds + clip.seconds });
    }
  });
  return result;
}
