/** Listeners to one kind of event. */
export class Listeners<A extends unknown[]> {
  private readonly all = new Set<(...told: A) => void>();

  /** Adds one; gives the function that takes it off. */
  readonly add = (listener: (...told: A) => void): (() => void) => {
    this.all.add(listener);
    return () => this.all.delete(listener);
  };

  tell(...told: A): void {
    for (const listener of this.all) listener(...told);
  }
}
