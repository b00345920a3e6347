/** What the library lists for a search: characters, clips and takes that match its words and its labels. */
import type { CharacterEntry, ClipEntry, Document, TakeEntry } from "../protocol/messages";
import { match } from "./fuzzy_match";

export interface Rows {
  characters: CharacterEntry[];
  clips: ClipEntry[]; // of the character on stage
  takes: TakeEntry[]; // of the character on stage
  labels: string[]; // of its clips, in order of appearance
}

export const titleOf = (clip: ClipEntry): string => clip.title || clip.name;

/** Labels in order of appearance, each once. */
export function labelsOf(clips: readonly ClipEntry[]): string[] {
  return [...new Set(clips.flatMap((clip) => clip.labels))];
}

/** A word finds a character by name or file, a clip by title or label; a label filter is "any of these". */
export function libraryRows(document: Document, query: string, labels: ReadonlySet<string>): Rows {
  const shown = document.characters.find((each) => each.id === document.stage.character);
  const clips = shown?.clips ?? [];
  const found = (...texts: string[]) => match(query, texts.join(" ")) !== null;
  return {
    // The one on stage is always listed: its clips would otherwise belong to nobody.
    characters: document.characters.filter((each) => each.id === shown?.id || found(each.name, each.file)),
    clips: clips.filter(
      (clip) =>
        found(titleOf(clip), ...clip.labels) && (!labels.size || clip.labels.some((label) => labels.has(label))),
    ),
    takes: document.takes.filter((take) => take.character === shown?.id && found(take.name)),
    labels: labelsOf(clips),
  };
}
