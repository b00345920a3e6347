/** The cost of a crowd, in one line. */
import type { CrowdStatsEvent } from "../protocol/messages";

/** For example "100 characters: 24 frames a second, 18.2 ms each, 44 % of a core; the page draws 30". */
export function costLine(stats: Omit<CrowdStatsEvent, "kind">, drawn: number): string {
  const many = `${stats.count} ${stats.count === 1 ? "character" : "characters"}`;
  const share = Math.round(100 * stats.share);
  const time = `${Math.round(stats.fps)} frames a second, ${stats.ms.toFixed(1)} ms each, ${share} % of a core`;
  return `${many}: ${time}; ${Math.round(stats.bytes / 1024)} KB a frame. The page draws ${drawn} a second.`;
}
