/** The shell's commands. Each has a name for the palette; most have a key. */
import type { Context } from "../context";
import type { Command } from "../modes/mode";
import { type Mode, modes } from "../modes/mode";
import type { DockName, Docks } from "./docks";
import { KEYMAPS, type Keymap, type KeymapName } from "./keymap";
import { titleOf } from "./library_rows";
import { stageExportItems } from "./topbar";
import type { Transport } from "./transport";
import { showVersions } from "./versions";
import type { ViewDrag } from "./view_drag";

export interface ShellParts {
  context: Context;
  transport: Transport;
  docks: Docks;
  keymap: Keymap;
  go(mode: Mode): void;
  openFiles(): void;
  openClip(character: string, clip: string | null): void;
  openPalette(): void;
  search(): void;
  view(viewDrag: ViewDrag): void;
}

function transportCommands({ transport, context }: ShellParts): Command[] {
  const can = () => transport.playable() !== null;
  const step = (id: string, title: string, keys: Command["keys"], run: () => void): Command => ({
    id: `time.${id}`,
    title,
    keys,
    enabled: can,
    run,
  });
  const both = (...keys: string[]) => keys;
  const maya = (shared: string[], more: string[]) => ({ blender: shared, maya: [...shared, ...more] });
  return [
    {
      id: "time.play",
      title: "Play or pause",
      keys: maya(["Space"], ["Alt+v"]),
      enabled: () => context.store.character() !== null,
      run: () => transport.toggle(),
    },
    step("next", "One frame on", maya(["ArrowRight"], ["Alt+."]), () => transport.step(1)),
    step("previous", "One frame back", maya(["ArrowLeft"], ["Alt+,"]), () => transport.step(-1)),
    step("first", "To the beginning", both("Shift+ArrowLeft"), () => transport.toEnd(-1)),
    step("last", "To the end", both("Shift+ArrowRight"), () => transport.toEnd(1)),
    step("nextmark", "To the next key or moment", maya(["ArrowUp"], ["."]), () => transport.toMark(1)),
    step("previousmark", "To the previous key or moment", maya(["ArrowDown"], [","]), () => transport.toMark(-1)),
    step("loop", "Loop on or off", both("l"), () => transport.toggleLoop()),
    step("rangestart", "Begin the range here", both("["), () =>
      transport.setRange(context.store.time, Math.max(transport.range().stop, context.store.time)),
    ),
    step("rangestop", "End the range here", both("]"), () =>
      transport.setRange(Math.min(transport.range().start, context.store.time), context.store.time),
    ),
    step("whole", "Play the whole range", both("\\"), () => transport.wholeRange()),
    ...[0.25, 0.5, 1, 2].map((rate) =>
      step(`rate${rate}`, `Rate: ${rate} ×`, undefined, () => transport.setRate(rate)),
    ),
  ];
}

function viewCommands({ context: { stage }, view }: ShellParts): Command[] {
  const from = (id: string, title: string, azimuth: number, elevation: number): Command => ({
    id: `view.${id}`,
    title: `View from ${title}`,
    run: () => {
      stage.view = { ...stage.view, azimuth, elevation };
    },
  });
  return [
    {
      id: "view.all",
      title: "Frame all",
      keys: { blender: ["Home"], maya: ["Home", "a"] },
      run: () => stage.frameAll(),
    },
    { id: "view.selection", title: "Frame the selection", keys: ["f"], run: () => stage.frameSelection() },
    { id: "view.pan", title: "Move the view", keys: { blender: ["g"], maya: ["w"] }, run: () => view("pan") },
    { id: "view.turn", title: "Turn the view", keys: { blender: ["r"], maya: ["e"] }, run: () => view("turn") },
    { id: "view.zoom", title: "Zoom the view", keys: { blender: ["s"], maya: ["r"] }, run: () => view("zoom") },
    from("front", "the front", 0, 0.1),
    from("threequarter", "three quarters", 0.6, 0.2),
    from("side", "the side", Math.PI / 2, 0.1),
    from("back", "behind", Math.PI, 0.1),
    from("top", "above", 0, 1.4),
  ];
}

function pageCommands({ docks, keymap, go, openFiles, openPalette, search, context }: ShellParts): Command[] {
  const { store, connection, notices } = context;
  const dock = (name: DockName, key: string): Command => ({
    id: `dock.${name}`,
    title: `Show or hide the ${name}`,
    keys: [key],
    run: () => docks.toggle(name),
  });
  const find = (): void => {
    docks.toggle("library", true);
    search();
  };
  return [
    { id: "page.palette", title: "Find a command", keys: ["Ctrl+k", "F3"], run: openPalette },
    { id: "page.open", title: "Open files…", keys: ["Ctrl+o"], run: openFiles },
    { id: "page.search", title: "Search the library", keys: ["Ctrl+f", "/"], run: find },
    {
      id: "edit.undo",
      title: "Undo",
      keys: { blender: ["Ctrl+z"], maya: ["Ctrl+z", "z"] },
      enabled: () => store.canUndo,
      run: async () => void (await connection.request({ kind: "undo" })),
    },
    {
      id: "edit.redo",
      title: "Redo",
      keys: { blender: ["Ctrl+Shift+z", "Ctrl+y"], maya: ["Ctrl+Shift+z", "Ctrl+y", "Shift+z"] },
      enabled: () => store.canRedo,
      run: async () => void (await connection.request({ kind: "redo" })),
    },
    { id: "page.versions", title: "Versions of the project…", run: () => showVersions(connection, notices) },
    dock("library", "t"),
    dock("panel", "n"),
    dock("timeline", "y"),
    ...(Object.entries(KEYMAPS) as [KeymapName, string][]).map(
      ([name, title]): Command => ({
        id: `keymap.${name}`,
        title: `Keys: ${title}`,
        enabled: () => keymap.name !== name,
        run: () => keymap.use(name),
      }),
    ),
    ...modes().map(
      (mode, index): Command => ({
        id: `mode.${mode.id}`,
        title: `Mode: ${mode.title}`,
        keys: [`Alt+${index + 1}`],
        run: () => go(mode),
      }),
    ),
  ];
}

/** "Export as glTF: This clip: walk", one for each thing and format. */
function exportCommands(context: Context): Command[] {
  let heading = "";
  return stageExportItems(context).flatMap((item): Command[] => {
    if (item.heading) heading = item.title;
    return item.heading
      ? []
      : [{ id: `export.${heading}.${item.title}`, title: `${item.title}: ${heading}`, run: item.run }];
  });
}

/** Commands that depend on the document: one for each clip, character and format. */
function documentCommands({ context, openClip }: ShellParts): Command[] {
  const { store, connection } = context;
  const show = (character: string, clip: string | null) => () => openClip(character, clip);
  const shown = store.character();
  return [
    ...(store.document?.characters ?? []).map(
      (character): Command => ({
        id: `show.${character.id}`,
        title: `Character: ${character.name}`,
        run: show(character.id, character.clips[0]?.name ?? null),
      }),
    ),
    ...(shown?.clips ?? []).map(
      (clip): Command => ({
        id: `clip.${clip.name}`,
        title: `Clip: ${titleOf(clip)}`,
        run: show(shown?.id ?? "", clip.name),
      }),
    ),
    ...exportCommands(context),
    ...(store.hello?.cast ?? []).map(
      (name): Command => ({
        id: `cast.${name}`,
        title: `Open the built-in ${name}`,
        run: async () => void (await connection.request({ kind: "open", path: name })),
      }),
    ),
  ];
}

export function addCommands(parts: ShellParts): void {
  parts.keymap.add([...pageCommands(parts), ...transportCommands(parts), ...viewCommands(parts)]);
  parts.keymap.addSource(() => documentCommands(parts));
}
