/** The page: creates connection, store, stage, shell and modes. */
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
import { type Command, lazyMode, type Mode, modes, register } from "./modes/mode";
import { performMode } from "./perform/mode";
import { connect, socketAddress } from "./protocol/connection";
import { createSocketOpener } from "./protocol/socket";
import SocketWorker from "./protocol/socket_worker?worker&inline";
import { addCommands } from "./shell/actions";
import { createClickSelection } from "./shell/click_selection";
import { createDocks } from "./shell/docks";
import { createFileDrop } from "./shell/file_drop";
import { inspectorMode } from "./shell/inspector";
import { createJobs } from "./shell/jobs";
import { createKeymap } from "./shell/keymap";
import { createLibrary } from "./shell/library";
import { createModes, type Modes } from "./shell/modes";
import { createNotices } from "./shell/notices";
import { createPalette } from "./shell/palette";
import { createPerformanceOverlay } from "./shell/performance_overlay";
import { syncStage } from "./shell/stage_sync";
import { createTimeline } from "./shell/timeline";
import { createTopbar } from "./shell/topbar";
import { createTransport } from "./shell/transport";
import { createViewDrag } from "./shell/view_drag";
import { createViewMenu } from "./shell/view_menu";
import { createWelcome } from "./shell/welcome";
import { createStage } from "./stage/api";
import { createStore } from "./store";

/** The commands of a mode; each enters the mode first, so the palette can offer them everywhere. */
function commandsOf(mode: Mode, shown: Modes): Command[] {
  return (mode.commands ?? []).map((command) => ({
    ...command,
    run: () => {
      shown.go(mode);
      return command.run();
    },
  }));
}

function start(root: HTMLElement): void {
  const docks = createDocks(root);
  const notices = createNotices(docks.messages);
  window.addEventListener("error", (event) => notices.showError(event.error ?? event.message));
  window.addEventListener("unhandledrejection", (event) => notices.showError(event.reason));

  const connection = connect(
    socketAddress(location.href),
    createSocketOpener(() => new SocketWorker()),
  );
  const store = createStore(connection);
  const stage = createStage(docks.viewport);
  const context: Context = { stage, connection, store, notices };
  const transport = createTransport(context);
  connection.onFrame((data) => stage.frame(data));
  connection.onPending((asking) => stage.setAwaitingAnswer(asking));
  const acknowledge = (sequence: number, stream: number): void => connection.send({ kind: "seen", sequence, stream });
  stage.onSeen(acknowledge);
  stage.onSkipped(acknowledge);
  connection.on("notice", (notice) => notices.show(notice.level, notice.sentence, notice.hint));

  register(gameMode(context));
  register(performMode(context));
  register(editMode(context));
  const loadTransfer = async () => (await import("./transfer/mode")).transferMode(context);
  register(lazyMode("transfer", "Transfer", loadTransfer, notices.showError));
  register(crowdMode(context));
  register(inspectorMode(context, transport));
  const modeSwitcher = createModes(docks, notices.showError);
  const keymap = createKeymap(notices.showError);
  const palette = createPalette(keymap);
  const fileDrop = createFileDrop(docks.messages, context);
  const openClip = (character: string, clip: string | null): void => {
    const mode = modeSwitcher.current;
    if (clip !== null && mode?.openClip) mode.openClip(character, clip);
    else connection.request({ kind: "show", character, clip }).catch(notices.showError);
  };
  const library = createLibrary(docks.library, context, fileDrop.choose, openClip);
  const view = createViewDrag(context, docks.overlay);
  const topbar = createTopbar(docks, context, modeSwitcher.go, palette.open);
  addCommands({
    context,
    transport,
    docks,
    keymap,
    go: modeSwitcher.go,
    openFiles: fileDrop.choose,
    openClip,
    openPalette: palette.open,
    search: library.focusSearch,
    view,
  });
  for (const mode of modes()) keymap.add(commandsOf(mode, modeSwitcher), () => modeSwitcher.current === mode);
  createJobs(docks.messages, context);
  createTimeline(docks.timeline, context, transport);
  createPerformanceOverlay(docks.corner, context);
  createViewMenu(docks.overlay, keymap);
  createClickSelection(context, () => modeSwitcher.current?.id === "stage");
  createWelcome(docks.overlay, context, modeSwitcher.go);
  syncStage(context, docks.overlay);
  modeSwitcher.onChange((mode) => topbar.markMode(mode));
  modeSwitcher.start();
}

const root = document.getElementById("studio") as HTMLElement;
// Let the browser paint index.html first: creating the stage may take a second with software rendering.
await new Promise((seen) => requestAnimationFrame(() => setTimeout(seen)));
try {
  start(root);
} catch (reason) {
  // Show the reason instead of a blank page; most often the browser has no WebGL2.
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
