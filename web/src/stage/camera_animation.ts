/** A flight of the camera from one view to another: fast at first, and gently there. */

import type { View } from "./api";
import { between } from "./orbit";

const FRAMING = 240; // ms

export class Flight {
  landed = false;

  constructor(
    private readonly from: View,
    private readonly to: View,
    private readonly start: number, // ms
  ) {}

  /** The view at a time, ms. */
  at(now: number): View {
    const t = Math.min(1, Math.max(0, (now - this.start) / FRAMING));
    this.landed = t >= 1;
    return between(this.from, this.to, 1 - (1 - t) ** 3);
  }
}
