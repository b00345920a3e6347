/** The edit mode's commands: the palette lists them, keys run them, as Blender's and Maya's users expect. */
import type { Command } from "../modes/mode";
import type { EditActions } from "./actions";
import type { Operation } from "./drag";
import type { EditSession } from "./session";
import type { EditView, Tool } from "./view";

export interface Does {
  actions: EditActions;
  follow(operation: Operation): void;
  /** Esc, where nothing is dragged. */
  dismiss(): void;
}

export function editCommands(session: EditSession, view: EditView, does: Does): Command[] {
  const { actions } = does;
  const ready = (): boolean => session.state !== null && !session.state.baked;
  const inHand = (): boolean => ready() && actions.point() !== null;
  const command = (id: string, title: string, keys: Command["keys"], run: () => void, enabled = ready): Command => ({
    id: `edit.${id}`,
    title,
    keys,
    enabled,
    run,
  });
  const take = (tool: Tool) => () => {
    view.tool = tool;
  };
  /** Blender's keys begin a gesture at once, Maya's take the tool. */
  const operation = (name: Operation, title: string, blender: string, maya: string): Command[] => [
    command(
      `${name}`,
      `${title} the point in hand: the pointer leads, a click keeps it`,
      { blender: [blender], maya: [] },
      () => {
        view.tool = name;
        does.follow(name);
      },
    ),
    command(`${name}Tool`, `${title} tool`, { blender: [`Shift+${blender}`], maya: [maya] }, take(name)),
  ];
  return [
    ...operation("move", "Move", "g", "w"),
    ...operation("turn", "Turn", "r", "e"),
    ...operation("time", "Change the timing of", "s", "r"),
    command("sketch", "Sketch a path", ["d"], take("sketch")),
    command("pose", "Pose the whole body, or bend curves", ["b"], () => {
      view.posing = !view.posing;
      if (view.posing && (view.tool === "time" || view.tool === "sketch")) view.tool = "move";
    }),
    command("picks", "Pick joints, or points of the skin", ["Shift+b"], () => {
      view.picks = view.picks === "joint" ? "skin" : "joint";
    }),
    command("pin", "Pin the point in hand, or release it", ["p"], () => actions.togglePin(actions.point()), inHand),
    command(
      "contact",
      "Let the point in hand stand still between these keys",
      ["c"],
      () => actions.contact(actions.point()),
      inHand,
    ),
    command(
      "hold",
      "Hold the point in hand at this moment",
      ["k"],
      () => actions.hold(actions.point(), actions.now()),
      inHand,
    ),
    command(
      "release",
      "Release all that is held of the point in hand",
      ["Alt+p"],
      () => actions.releasePoint(actions.point()),
      inHand,
    ),
    command("hide", "Hide the path in hand", ["h"], () => view.active !== null && actions.hide(view.active), inHand),
    command("hideOthers", "Hide all other paths", ["Shift+h"], () => actions.hideOthers(), inHand),
    command("key", "Set keys here", { blender: ["i"], maya: ["s"] }, () => actions.key()),
    command(
      "unkey",
      "Remove the keys here",
      ["Alt+i"],
      () => actions.unkey(),
      () => ready() && actions.atKey(),
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
    command("ghosts", "Ghosts on or off", ["o"], () => view.show({ ghosts: view.display.ghosts ? 0 : 2 })),
    command("ticks", "Orientation ticks on or off", ["Shift+o"], () => view.show({ ticks: !view.display.ticks })),
    command("speed", "Speed as colour on or off", undefined, () => view.show({ speed: !view.display.speed })),
    command("camera", "Paths as a camera sees them that follows the character", undefined, () =>
      view.show({ camera: !view.display.camera }),
    ),
    command("dismiss", "Let go", ["Escape"], does.dismiss),
  ];
}
