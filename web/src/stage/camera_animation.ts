/** An animation of the camera from one view to another, with an ease-out. */

import type { View } from "./api";
import { interpolateView } from "./orbit";

const DURATION_MS = 240;

export class CameraAnimation {
  isDone = false;

  constructor(
    private readonly from: View,
    private readonly to: View,
    private readonly start: number, // ms
  ) {}

  /** The view at a time (ms). */
  viewAt(now: number): View {
    const t = Math.min(1, Math.max(0, (now - this.start) / DURATION_MS));
    this.isDone = t >= 1;
    return interpolateView(this.from, this.to, 1 - (1 - t) ** 3);
  }
}
