/** The names that are shown of many: the best matches of a few letters, or the first ones, whole poses before parts. */
import { match } from "../shell/fuzzy_match";

/** At most `most` of the names; those with a dot (`eyes.left`) are parts of a pose, and come after the others. */
export function found(names: readonly string[], query: string, most: number): string[] {
  const wanted = query.trim();
  if (!wanted)
    return [...names.filter((name) => !name.includes(".")), ...names.filter((name) => name.includes("."))].slice(
      0,
      most,
    );
  return names
    .map((name) => ({ name, score: match(wanted, name)?.score ?? null }))
    .filter((each): each is { name: string; score: number } => each.score !== null)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map((each) => each.name);
}
