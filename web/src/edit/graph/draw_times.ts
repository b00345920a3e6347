/** How long pictures of the graph took, ms: a ring that tests and benches read from the page. */

const KEPT = 240;
const taken: Record<string, number[]> = {};

/** Runs a drawing and notes how long it took. */
export function timed(what: string, draw: () => void): void {
  const begun = performance.now();
  draw();
  taken[what] ??= [];
  const ring = taken[what];
  ring.push(performance.now() - begun);
  if (ring.length > KEPT) ring.shift();
}

/** The times of each kind of picture, oldest first; reading them with `clear` begins anew. */
export function drawTimes(clear = false): Record<string, number[]> {
  const now = Object.fromEntries(Object.entries(taken).map(([what, ring]) => [what, [...ring]]));
  if (clear) for (const what of Object.keys(taken)) delete taken[what];
  return now;
}
