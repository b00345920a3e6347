/** The page: connection, store, stage, shell and modes, put together. */
import "./theme.css";
import "./controls/controls.css";
import "./shell/frame.css";
import "./shell/library.css";
import "./shell/panels.css";
import type { Context } from "./context";
import { crowdMode } from "./crowd/mode";
import { h } from "./dom";
import { editMode } from "./edit/mode";
import { gameMode } from "./game/mode";
import { type Command, type Mode, modes, register } from "./modes/mode";
import { performMode } from "./perform/mode";
import { connect, socketAddress } from "./protocol/connection";
import { socketsIn } from "./protocol/socket";
import SocketWorker from "./protocol/socket_worker?worker&inline";
import { addCommands } from "./shell/actions";
import { createPicking } from "./shell/click_selection";
import { createDocks } from "./shell/docks";
import { createDropping } from "./shell/file_drop";
import { inspectorMode } from "./shell/inspector";
import { createJobs } from "./shell/jobs";
import { createKeymap } from "./shell/keymap";
import { createLibrary } from "./shell/library";
import { createModes, type Modes } from "./shell/modes";
import { createNotices } from "./shell/notices";
import { createPalette } from "./shell/palette";
import { createFigures } from "./shell/performance_overlay";
import { keepStaged } from "./shell/stage_sync";
import { createTimeline } from "./shell/timeline";
import { createTopbar } from "./shell/topbar";
import { createTransport } from "./shell/transport";
import { createViewing } from "./shell/view_drag";
import { createViewMenu } from "./shell/view_menu";
import { createWelcome } from "./shell/welcome";
import { createStage } from "./stage/api";
import { createStore } from "./store";

/** A mode's commands, which enter the mode first: the palette offers them everywhere. */
function entering(mode: Mode, shown: Modes): Command[] {
  return (mode.commands ?? []).map((command) => ({
    ...command,
    run: () => {
      shown.go(mode);
      return command.run();
    },
  }));
}

function begin(root: HTMLElement): void {
  const docks = createDocks(root);
  const notices = createNotices(docks.messages);
  window.addEventListener("error", (event) => notices.failed(event.error ?? event.message));
  window.addEventListener("unhandledrejection", (event) => notices.failed(event.reason));

  const connection = connect(
    socketAddress(location.href),
    socketsIn(() => new SocketWorker()),
  );
  const store = createStore(connection);
  const stage = createStage(docks.viewport);
  const context: Context = { stage, connection, store, notices };
  const transport = createTransport(context);
  connection.onFrame((data) => stage.frame(data));
  connection.onAsking((asking) => stage.awaits(asking));
  const seen = (sequence: number, stream: number): void => connection.tell({ kind: "seen", sequence, stream });
  stage.onSeen(seen);
  stage.onSkipped(seen);
  connection.on("notice", (notice) => notices.show(notice.level, notice.sentence, notice.hint));

  register(gameMode(context));
  register(performMode(context));
  register(editMode(context));
  register(crowdMode(context));
  register(inspectorMode(context, transport));
  const shown = createModes(docks, notices.failed);
  const keymap = createKeymap(notices.failed);
  const palette = createPalette(keymap);
  const dropping = createDropping(docks.messages, context);
  const library = createLibrary(docks.library, context, dropping.choose);
  const view = createViewing(context, docks.overlay);
  const topbar = createTopbar(docks, context, shown.go, palette.open);
  addCommands({
    context,
    transport,
    docks,
    keymap,
    go: shown.go,
    openFiles: dropping.choose,
    openPalette: palette.open,
    search: library.focusSearch,
    view,
  });
  for (const mode of modes()) keymap.add(entering(mode, shown), () => shown.current === mode);
  createJobs(docks.messages, context);
  createTimeline(docks.timeline, context, transport);
  createFigures(docks.corner, context);
  createViewMenu(docks.overlay, keymap);
  createPicking(context, () => shown.current?.id === "stage");
  createWelcome(docks.overlay, context, shown.go);
  keepStaged(context, docks.overlay);
  shown.onChange((mode) => topbar.mark(mode));
  shown.begin();
}

const root = document.getElementById("studio") as HTMLElement;
// What index.html holds is seen first: making the stage may take a second where no graphics card helps.
await new Promise((seen) => requestAnimationFrame(() => setTimeout(seen)));
try {
  begin(root);
} catch (reason) {
  // Never a blank screen: most often the browser has no WebGL2.
  const why = reason instanceof Error ? reason.message : String(reason);
  root.replaceChildren(
    h(
      "div",
      { class: "fatal", role: "alert" },
      h("h1", {}, "The studio could not start"),
      h("p", {}, why),
      h(
        "p",
        { class: "muted" },
        "It draws with WebGL2: try a current browser, with hardware acceleration or software rendering switched on.",
      ),
    ),
  );
  throw reason;
}
