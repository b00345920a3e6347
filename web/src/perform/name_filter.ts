/** Filters names: the best matches of a query, or the first names, whole poses before parts. */
import { match } from "../shell/fuzzy_match";

/** At most `most` names; those with a dot (`eyes.left`) are parts of a pose and come last. */
export function filterNames(names: readonly string[], query: string, most: number): string[] {
  const wanted = query.trim();
  if (!wanted)
    return [...names.filter((name) => !name.includes(".")), ...names.filter((name) => name.includes("."))].slice(
      0,
      most,
    );
  return names
    .map((name) => ({ name, score: match(wanted, name)?.score ?? null }))
    .filter((candidate): candidate is { name: string; score: number } => candidate.score !== null)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map((candidate) => candidate.name);
}
