/** Listeners to one kind of event. */
export class Listeners<A extends unknown[]> {
  private readonly all = new Set<(...args: A) => void>();

  /** Adds a listener; returns the function that removes it. */
  readonly add = (listener: (...args: A) => void): (() => void) => {
    this.all.add(listener);
    return () => this.all.delete(listener);
  };

  emit(...args: A): void {
    for (const listener of this.all) listener(...args);
  }
}
