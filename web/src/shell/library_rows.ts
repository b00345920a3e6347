/** The rows of the library for a search: characters, clips and takes that match its words and labels. */
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

/** A word matches a character by name or file, and a clip by title or label; a clip needs any of the chosen labels. */
export function libraryRows(document: Document, query: string, labels: ReadonlySet<string>): Rows {
  const shown = document.characters.find((character) => character.id === document.stage.character);
  const clips = shown?.clips ?? [];
  const isMatch = (...texts: string[]) => match(query, texts.join(" ")) !== null;
  return {
    // The character on stage is always listed, as its clips are.
    characters: document.characters.filter(
      (character) => character.id === shown?.id || isMatch(character.name, character.file),
    ),
    clips: clips.filter(
      (clip) =>
        isMatch(titleOf(clip), ...clip.labels) && (!labels.size || clip.labels.some((label) => labels.has(label))),
    ),
    takes: document.takes.filter((take) => take.character === shown?.id && isMatch(take.name)),
    labels: labelsOf(clips),
  };
}
