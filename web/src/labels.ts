/**
 * The colours of labels: eight hues of one lightness (OKLCH 0.76, chroma 0.11, 45 degrees apart), used alike in chips,
 * spans, latent curves and buttons. The built-in moods always keep theirs; other labels take them in the order in which
 * they appear.
 */

const HUES: readonly string[] = [
  "#c7b05a", // 95 degrees
  "#ec93a8", // 5
  "#5dbee9", // 230
  "#4dc8ba", // 185
  "#9dabf7", // 275
  "#e99c70", // 50
  "#d09add", // 320
  "#8bc27f", // 140
];

const MOODS = ["happy", "grumpy", "bored", "curious", "neutral", "roar", "head shake", "surprise"];

const order = new Map<string, number>(MOODS.map((label, index) => [label, index]));

/** The colour of a label, as CSS writes it; the same label always has the same colour on this page. */
export function labelColour(label: string): string {
  const name = label.trim().toLowerCase();
  let index = order.get(name);
  if (index === undefined) {
    index = order.size;
    order.set(name, index);
  }
  return HUES[index % HUES.length];
}
