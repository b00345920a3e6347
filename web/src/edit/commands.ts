/** The commands of the edit mode, for the palette and for keys as in Blender and Maya. */
import type { Command } from "../modes/mode";
import type { EditActions } from "./actions";
import type { Operation } from "./drag";
import type { EditSession } from "./session";
import type { EditView, Tool } from "./view";

export interface EditCommandActions {
  actions: EditActions;
  followPointer(operation: Operation): void;
  /** Esc without a drag. */
  dismiss(): void;
}

export function editCommands(session: EditSession, view: EditView, does: EditCommandActions): Command[] {
  const { actions } = does;
  const ready = (): boolean => session.state !== null;
  const hasKeys = (): boolean => session.state !== null && !session.state.baked;
  const hasActivePoint = (): boolean => ready() && actions.point() !== null;
  const command = (id: string, title: string, keys: Command["keys"], run: () => void, enabled = ready): Command => ({
    id: `edit.${id}`,
    title,
    keys,
    enabled,
    run,
  });
  const setTool = (tool: Tool) => () => {
    view.tool = tool;
  };
  /** Blender's keys begin a drag at once, Maya's choose the tool. */
  const operation = (name: Operation, title: string, blender: string, maya: string): Command[] => [
    command(
      `${name}`,
      `${title} the active point: it follows the pointer until a click`,
      { blender: [blender], maya: [] },
      () => {
        view.tool = name;
        does.followPointer(name);
      },
    ),
    command(`${name}Tool`, `${title} tool`, { blender: [`Shift+${blender}`], maya: [maya] }, setTool(name)),
  ];
  return [
    ...operation("move", "Move", "g", "w"),
    ...operation("turn", "Turn", "r", "e"),
    ...operation("time", "Change the timing of", "s", "r"),
    command("sketch", "Sketch a path", ["d"], setTool("sketch")),
    command(
      "pose",
      "Pose the whole body, or bend curves",
      ["b"],
      () => {
        view.posing = !view.posing;
        if (view.posing && (view.tool === "time" || view.tool === "sketch")) view.tool = "move";
      },
      hasKeys,
    ),
    command("picks", "Pick joints, or points of the skin", ["Shift+b"], () => {
      view.picks = view.picks === "joint" ? "skin" : "joint";
    }),
    command(
      "pin",
      "Pin the active point, or release it",
      ["p"],
      () => actions.togglePin(actions.point()),
      hasActivePoint,
    ),
    command(
      "contact",
      "Let the active point stand still between these keys",
      ["c"],
      () => actions.contact(actions.point()),
      hasActivePoint,
    ),
    command(
      "hold",
      "Hold the active point at this moment",
      ["k"],
      () => actions.hold(actions.point(), actions.now()),
      hasActivePoint,
    ),
    command(
      "release",
      "Release all constraints of the active point",
      ["Alt+p"],
      () => actions.releasePoint(actions.point()),
      hasActivePoint,
    ),
    command(
      "hide",
      "Hide the active path",
      ["h"],
      () => view.active !== null && actions.hide(view.active),
      hasActivePoint,
    ),
    command("hideOthers", "Hide all other paths", ["Shift+h"], () => actions.hideOthers(), hasActivePoint),
    command("key", "Set keys here", { blender: ["i"], maya: ["s"] }, () => actions.key(), hasKeys),
    command(
      "unkey",
      "Remove the keys here",
      ["Alt+i"],
      () => actions.unkey(),
      () => hasKeys() && actions.atKey(),
    ),
    command("copy", "Copy the pose", ["Ctrl+c"], () => actions.copyPose()),
    command(
      "paste",
      "Paste the pose",
      ["Ctrl+v"],
      () => actions.pastePose(false),
      () => session.state?.copied ?? false,
    ),
    command(
      "mirror",
      "Paste the pose mirrored",
      ["Ctrl+Shift+v"],
      () => actions.pastePose(true),
      () => Boolean(session.state?.copied && session.state.pairs),
    ),
    command("nextKey", "To the next key", { blender: ["ArrowUp"], maya: ["ArrowUp", "."] }, () => actions.toKey(1)),
    command("previousKey", "To the previous key", { blender: ["ArrowDown"], maya: ["ArrowDown", ","] }, () =>
      actions.toKey(-1),
    ),
    command("feet", "Hold the feet that stand, on or off", ["Shift+f"], () => actions.toggleFeet()),
    command("ghosts", "Ghosts on or off", ["o"], () => view.show({ ghosts: view.display.ghosts ? 0 : 2 })),
    command("ticks", "Orientation ticks on or off", ["Shift+o"], () => view.show({ ticks: !view.display.ticks })),
    command("speed", "Speed as colour on or off", undefined, () => view.show({ speed: !view.display.speed })),
    command("camera", "Paths relative to the character, on or off", undefined, () =>
      view.show({ camera: !view.display.camera }),
    ),
    command("dismiss", "Dismiss or deselect", ["Escape"], does.dismiss),
  ];
}
