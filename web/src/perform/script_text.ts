/** Scripts as text: a starter script, and the lines of a step. */

const quote = (name: string): string => JSON.stringify(name);

/** A starter script with labels and clips of a model: it runs, and shows the format. */
export function starterScript(labels: readonly string[], clips: readonly string[]): string {
  const [first, second] = [labels[0] ?? "idle", labels[1] ?? labels[0] ?? "idle"];
  const lines = [
    "# One step after the other.",
    "",
    "[[do]]",
    'command = "transition"',
    `label = ${quote(first)}`,
    "",
    "[[do]]",
    'command = "idle"',
    "seconds = 1.5",
  ];
  if (second !== first) lines.push("", "[[do]]", 'command = "transition"', `label = ${quote(second)}`);
  if (clips.length) lines.push("", "[[do]]", 'command = "play"', `clip = ${quote(clips[clips.length - 1])}`);
  lines.push("", "[[do]]", 'command = "idle"', "seconds = 2", "");
  return lines.join("\n");
}

/** The lines of a step, both counted from 1: from its own line to the one before the next; null for no step (0). */
export function linesOfStep(
  lines: readonly number[],
  step: number,
  total: number,
): { first: number; last: number } | null {
  const first = lines[step - 1];
  if (first === undefined) return null;
  return { first, last: (lines[step] ?? total + 1) - 1 };
}
