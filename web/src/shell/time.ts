/** Times and sizes as text. */

/** A span of time in words: "0.8 s", "12 s", "3 min 5 s". */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const rest = whole % 60;
  return rest ? `${Math.floor(whole / 60)} min ${rest} s` : `${whole / 60} min`;
}

/** A time on a clock: "0:03.25". */
export function clock(seconds: number): string {
  const hundredths = Math.max(0, Math.round(seconds * 100));
  const rest = hundredths % 6000;
  const twoDigits = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  return `${Math.floor(hundredths / 6000)}:${twoDigits(rest / 100)}.${twoDigits(rest % 100)}`;
}

/** A size of a file: "4.2 MB". */
export function fileSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB"];
  let value = bytes;
  let unit = -1;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}
