/** Scripts as text: one to begin with, and which lines a step has. */

const quoted = (name: string): string => JSON.stringify(name);

/** A first script of what a model can do: it runs as it is, and shows how the next one is written. */
export function starter(labels: readonly string[], clips: readonly string[]): string {
  const [first, second] = [labels[0] ?? "idle", labels[1] ?? labels[0] ?? "idle"];
  const lines = [
    "# One step after the other.",
    "",
    "[[do]]",
    'command = "transition"',
    `label = ${quoted(first)}`,
    "",
    "[[do]]",
    'command = "idle"',
    "seconds = 1.5",
  ];
  if (second !== first) lines.push("", "[[do]]", 'command = "transition"', `label = ${quoted(second)}`);
  if (clips.length) lines.push("", "[[do]]", 'command = "play"', `clip = ${quoted(clips[clips.length - 1])}`);
  lines.push("", "[[do]]", 'command = "idle"', "seconds = 2", "");
  return lines.join("\n");
}

/** The number of a place such as "do 3" or "set answer 1, do 2"; 0 for steps of sets, whose line is the call's. */
export function stepOf(place: string): number {
  const match = /^do (\d+)/.exec(place);
  return match ? Number(match[1]) : 0;
}

/** From the line of a step to the line before the next one, from 1. */
export function linesOfStep(
  lines: readonly number[],
  step: number,
  total: number,
): { first: number; last: number } | null {
  const first = lines[step - 1];
  if (first === undefined) return null;
  return { first, last: (lines[step] ?? total + 1) - 1 };
}
