/** A mode is one task of the studio: it owns the right panel, may draw over the viewport, and adds commands. */

/** A named action: the palette lists it, and keys may run it. */
export interface Command {
  id: string; // "transport.play": group and verb, unique
  title: string; // as the palette shows it: "Play or pause"
  /** Keys as in "Ctrl+Shift+Z", "Space", "ArrowLeft", "g"; one list for both keymaps, or one for each. */
  keys?: string[] | { blender: string[]; maya: string[] };
  enabled?(): boolean; // a command that is not enabled is shown grey and does nothing
  run(): void | Promise<void>;
}

/**
 * `perform/mode.ts` exports `performMode(context): Mode`, `game/mode.ts` exports `gameMode(context): Mode`; `main.ts`
 * registers them. `panel` is called once, `enter` and `leave` each time.
 */
export interface Mode {
  id: string;
  title: string;
  /** Builds the mode's controls into the right panel (320 px wide by default, resizable; scrolls by itself). */
  panel(host: HTMLElement): void;
  enter(): void;
  leave(): void;
  commands?: Command[];
  /** Opens a clip that the user chose in the library or the palette; without it, the clip plays on stage. */
  openClip?(character: string, clip: string): void;
  /** Builds the overlay of the viewport. The host lets the pointer through; children opt in. */
  overlay?(host: HTMLElement): void;
  /** Builds the content below the transport, in place of the timeline's ruler and tracks. */
  timeline?(host: HTMLElement): void;
  /** Whether the mode takes the whole page: library, panel and timeline are hidden. */
  hidesDocks?: boolean;
}

/** A mode whose code is loaded when it is first opened. It has no commands, overlay or timeline of its own. */
export function lazyMode(
  id: string,
  title: string,
  load: () => Promise<Mode>,
  onError: (reason: unknown) => void,
): Mode {
  let loaded: Mode | null = null;
  let isOpen = false;
  return {
    id,
    title,
    panel(host) {
      load()
        .then((mode) => {
          loaded = mode;
          mode.panel(host);
          if (isOpen) mode.enter();
        })
        .catch(onError);
    },
    enter() {
      isOpen = true;
      loaded?.enter();
    },
    leave() {
      isOpen = false;
      loaded?.leave();
    },
  };
}

const registered: Mode[] = [];

/** Adds a mode; the top bar shows them in this order. */
export function register(mode: Mode): void {
  if (registered.some((other) => other.id === mode.id)) throw new Error(`the mode "${mode.id}" is registered twice`);
  registered.push(mode);
}

export function modes(): readonly Mode[] {
  return registered;
}
