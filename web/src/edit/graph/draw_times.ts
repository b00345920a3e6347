/** How long drawing takes (ms): a ring buffer for tests and benchmarks. */

const MAX_TIMES = 240;
const durations: Record<string, number[]> = {};

/** Runs a drawing function and records its duration. */
export function measureDraw(what: string, draw: () => void): void {
  const begun = performance.now();
  draw();
  durations[what] ??= [];
  const ring = durations[what];
  ring.push(performance.now() - begun);
  if (ring.length > MAX_TIMES) ring.shift();
}

/** The durations of each kind of drawing, oldest first; `clear` resets them. */
export function drawTimes(clear = false): Record<string, number[]> {
  const now = Object.fromEntries(Object.entries(durations).map(([what, ring]) => [what, [...ring]]));
  if (clear) for (const what of Object.keys(durations)) delete durations[what];
  return now;
}
