/** Shadows of the key light and contact shadows. Software rendering updates them only in some frames. */
import { Vector3, type WebGLRenderer } from "three";
import { ContactShadow } from "./contact";
import type { Figure } from "./figure";
import type { Ground } from "./ground";

const KEY_SHADOW_INTERVAL = 4; // rendered frames for each update of the key light's shadow,
const KEY_SHADOW_INTERVAL_INTERACTING = 24; // the same while the user drags something,
const CONTACT_SHADOW_INTERVAL = 8; // and rendered frames for each update of the contact shadow with software rendering

export class Shadows {
  private readonly contact = new ContactShadow();
  private pictures = 0;

  constructor(
    private readonly renderer: WebGLRenderer,
    private readonly ground: Ground,
    private readonly software: boolean,
  ) {
    renderer.shadowMap.autoUpdate = !software;
  }

  /** Sets the figure that touches the ground, and its bounding box; the next frame updates the shadows. */
  fit(touching: Figure | null, low: Vector3, high: Vector3): void {
    this.pictures = CONTACT_SHADOW_INTERVAL - 1;
    this.contact.show(touching, low, high);
    this.ground.contact(touching ? this.contact.texture : null, this.contact.low, this.contact.size);
  }

  clear(): void {
    this.contact.show(null, new Vector3(), new Vector3());
  }

  /** Call before each rendered frame. */
  update(isInteracting: boolean, resting: boolean): void {
    this.pictures += 1;
    const isReduced = isInteracting && this.software && !resting;
    this.renderer.shadowMap.needsUpdate =
      resting || this.pictures % (isReduced ? KEY_SHADOW_INTERVAL_INTERACTING : KEY_SHADOW_INTERVAL) === 0;
    if (isReduced || (this.software && !resting && this.pictures % CONTACT_SHADOW_INTERVAL)) return;
    this.contact.update(this.renderer);
  }

  dispose(): void {
    this.contact.dispose();
  }
}
