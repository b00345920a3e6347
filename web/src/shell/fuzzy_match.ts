/** Fuzzy matching: how well a text matches a query, and which letters match. */

export interface Match {
  score: number; // higher is better
  places: number[]; // indices of the matching letters
}

/**
 * Matches all words of a query, in any order, each as a run of letters or else as letters in order. Matches at the
 * start of the text or of a word score higher, and so do short texts. Null without a match.
 */
export function match(query: string, text: string): Match | null {
  const hay = text.toLowerCase();
  const places = new Set<number>();
  let score = 0;
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const wordMatch = matchRun(word, hay) ?? matchLetters(word, hay);
    if (!wordMatch) return null;
    score += wordMatch.score;
    for (const place of wordMatch.places) places.add(place);
  }
  return { score: score - text.length / 1000, places: [...places].sort((a, b) => a - b) };
}

const beginsWord = (hay: string, at: number) => at === 0 || !/[a-z0-9]/.test(hay[at - 1]);

function matchRun(word: string, hay: string): Match | null {
  let best: number | null = null;
  for (let at = hay.indexOf(word); at >= 0; at = hay.indexOf(word, at + 1)) {
    if (best === null) best = at;
    if (!beginsWord(hay, at)) continue;
    best = at;
    break;
  }
  if (best === null) return null;
  const score = 10 + (best === 0 ? 4 : beginsWord(hay, best) ? 3 : 0);
  return { score, places: Array.from(word, (_, index) => best + index) };
}

function matchLetters(word: string, hay: string): Match | null {
  const places: number[] = [];
  let score = 0;
  let at = -1;
  for (const letter of word) {
    const next = hay.indexOf(letter, at + 1);
    if (next < 0) return null;
    score += beginsWord(hay, next) ? 1 : next === at + 1 ? 0.5 : -0.25;
    places.push(next);
    at = next;
  }
  return { score, places };
}

/** Items whose text matches, best first; all items in their own order for an empty query. */
export function rank<T>(query: string, items: readonly T[], text: (item: T) => string): { item: T; match: Match }[] {
  return items
    .map((item) => ({ item, match: match(query, text(item)) }))
    .filter((ranked): ranked is { item: T; match: Match } => ranked.match !== null)
    .sort((a, b) => (query.trim() ? b.match.score - a.match.score : 0));
}
