/**
 * Shadows on stage: the key's, and what touches the ground; all of it anew for a graphics card, in turns for others.
 */
import { Vector3, type WebGLRenderer } from "three";
import { ContactShadow } from "./contact";
import type { Figure } from "./figure";
import type { Ground } from "./ground";

const KEY_EVERY = 4; // pictures have one shadow of the key,
const KEY_HURRIED = 24; // or so many where something follows the hand: it changes little until it rests; and
const CONTACT_EVERY = 8; // pictures have one contact shadow where the processor draws: it changes little

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

  /** What touches the ground, in its box; the next picture has new shadows. */
  fit(touching: Figure | null, low: Vector3, high: Vector3): void {
    this.pictures = CONTACT_EVERY - 1;
    this.contact.show(touching, low, high);
    this.ground.contact(touching ? this.contact.texture : null, this.contact.low, this.contact.size);
  }

  clear(): void {
    this.contact.show(null, new Vector3(), new Vector3());
  }

  /** Before each picture: of something that follows the hand, or that has come to rest, or neither. */
  update(hurried: boolean, resting: boolean): void {
    this.pictures += 1;
    const hasty = hurried && this.software && !resting;
    this.renderer.shadowMap.needsUpdate = resting || this.pictures % (hasty ? KEY_HURRIED : KEY_EVERY) === 0;
    if (hasty || (this.software && !resting && this.pictures % CONTACT_EVERY)) return;
    this.contact.update(this.renderer);
  }

  dispose(): void {
    this.contact.dispose();
  }
}
