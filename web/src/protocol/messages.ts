// Generated from the dataclasses in src/understudy/studio/messages; do not edit.

/** Binary frames: the header's size in bytes and the forms; see studio/frames.py. */
export const FRAME = { magic: 0x31465355, header: 32, joints: 1, vertices: 2, crowd: 3 } as const;

/** A character that is open, and its clips. */
export interface CharacterEntry {
  id: string;
  name: string;
  file: string;
  format: string;
  joints: number;
  vertices: number;
  shapes: number;
  controls: number;
  clips: ClipEntry[];
  notes: string[];
  cast: string;
  visible: boolean;
}

/** What is wrong with a script, in one sentence, and at which line; empty and 0 where nothing is. */
export interface Checked {
  sentence: string;
  line: number;
  steps: number;
  lines: number[];
}

/** One animation of a character. `name` is unique within the character, `title` is what a user has called it. */
export interface ClipEntry {
  name: string;
  title: string;
  seconds: number;
  frames: number;
  rate: number;
  start: number;
  labels: string[];
  about: string;
  moments: Record<string, number>;
  keyed: boolean;
  inside: string;
  source: string;
}

/** Where the page fetches what it draws (`address`, then `/texture/N` below it), and how many it will be. */
export interface Crowded {
  address: string;
  count: number;
  vertices: number;
  low: number[];
  high: number[];
}

/** The whole. */
export interface Document {
  name: string;
  characters: CharacterEntry[];
  models: ModelEntry[];
  takes: TakeEntry[];
  scripts: ScriptEntry[];
  edits: EditEntry[];
  stage: StageState;
  selection: string[];
  game: GameRecord;
}

/** An edit of a clip, as its script. */
export interface EditEntry {
  id: string;
  name: string;
  character: string;
  clip: string;
  text: string;
}

/** Where the browser can fetch the file, what it is called, and what the format could not hold. */
export interface Exported {
  url: string;
  name: string;
  size: number;
  notes: string[];
}

/** A format that can be dropped or exported. */
export interface FormatEntry {
  name: string;
  endings: string[];
  writes: boolean;
  about: string;
}

/** How a game stands. `result` is the player's; `line` the squares that decided it; `last` was played last. */
export interface Game {
  kind: "game";
  character: string;
  board: ("" | "claw" | "ember")[];
  turn: "" | "claw" | "ember";
  phase: string;
  mood: string;
  result: "" | "won" | "lost" | "draw";
  line: number[];
  last: number | null;
  strength: "hatchling" | "fledgling" | "drake" | "elder";
  pace: number;
  round: number;
  player: number;
  opponent: number;
  draws: number;
}

/** What the page needs to draw the board, and how the game stands. */
export interface GameEntered {
  game: Game;
  table: GameTable;
  strengths: GameStrength[];
}

/** How the games of this project ended so far, and how they are played. */
export interface GameRecord {
  player: number;
  character: number;
  draws: number;
  rounds: number;
  strength: string;
  pace: number;
}

/** How well the character may play. */
export interface GameStrength {
  name: "hatchling" | "fledgling" | "drake" | "elder";
  title: string;
  about: string;
}

/** Where the board stands: its middle, the width of its nine squares together, its lean (radians); metres. `ground` is the height that it stands on, `tall` how tall the character is that sits behind it. */
export interface GameTable {
  centre: [number, number, number];
  width: number;
  lean: number;
  ground: number;
  tall: number;
}

/** Something that happened: a command, a bridge that was crossed, a clip that began. */
export interface Happening {
  seconds: number;
  what: string;
  about: string;
  label: string;
}

/** The id under which a script is kept. */
export interface KeptScript {
  script: string;
}

/** The job that learns; the model's id comes with the document when it is done. */
export interface Learned {
  job: string;
}

/** A learned model: `file` is its name below the project's folder `models`. */
export interface ModelEntry {
  id: string;
  name: string;
  character: string;
  file: string;
  labels: string[];
  poses: string[];
  clips: string[];
  frames: number;
  notes: string[];
}

/** The characters that a file brought, by id, and what reading had to drop or change. */
export interface Opened {
  characters: string[];
  notes: string[];
}

/** The server's clock, seconds since it began. */
export interface Pong {
  seconds: number;
}

/** A script of a performance. */
export interface ScriptEntry {
  id: string;
  name: string;
  text: string;
  model: string;
}

/** What is on stage: who, driven by what (a clip's name, a take's or a model's id), and the transport. `time` is where it stood at the last gesture; while it plays, frames carry the time. */
export interface StageState {
  character: string;
  driver: "rest" | "clip" | "take" | "model";
  drives: string;
  time: number;
  playing: boolean;
  rate: number;
  loop: boolean;
  start: number;
  stop: number | null;
}

/** A recorded performance: `file` is its name below the project's folder `takes`. */
export interface TakeEntry {
  id: string;
  name: string;
  character: string;
  file: string;
  seconds: number;
  frames: number;
  rate: number;
  model: string;
}

/** The take that was recorded; empty where the recording has only begun, or was thrown away. */
export interface Taken {
  take: string;
}

/** Where a voice is in the latent space of its label, and how much it counts. */
export interface VoicePlace {
  label: string;
  x: number[];
  weight: number;
}

/** Stop a job. */
export interface CancelRequest {
  kind: "cancel";
  job: string;
}

/** Read a script and hold it against a model. */
export interface CheckScriptRequest {
  kind: "checkScript";
  model: string;
  text: string;
}

/** Close a character, with what was made of it. */
export interface CloseRequest {
  kind: "close";
  character: string;
}

/** Put many characters of a model on stage; asked again, the same crowd grows or shrinks. Another seed makes other characters of them. `vertices` is how fine each should be, where a page cannot draw all. */
export interface CrowdRequest {
  kind: "crowd";
  model: string;
  count?: number;
  seed?: number;
  vertices?: number;
}

/** All look at a point of the world, metres; None lets them look ahead. */
export interface CrowdLookRequest {
  kind: "crowdLook";
  point: [number, number, number] | null;
}

/** Take something out of the project. A clip is `character/clip`. */
export interface DeleteRequest {
  kind: "delete";
  what: "character" | "clip" | "model" | "take" | "script" | "edit";
  target: string;
}

/** How lively, how still, and how far the eyes follow; what is None stays. */
export interface DialRequest {
  kind: "dial";
  liveliness?: number | null;
  stillness?: number | null;
  gaze?: number | null;
}

/** The crowd goes. */
export interface EndCrowdRequest {
  kind: "endCrowd";
}

/** Play with the character on stage; a game that runs goes on. `seed` None: another game each time. */
export interface EnterGameRequest {
  kind: "enterGame";
  strength?: "hatchling" | "fledgling" | "drake" | "elder" | null;
  pace?: number | null;
  seed?: number | null;
}

/** Write a character with its clips, one clip (`character/clip`), a take, a script or a model as a file. */
export interface ExportRequest {
  kind: "export";
  what: "character" | "clip" | "model" | "take" | "script" | "edit";
  target: string;
  format: string;
}

/** Keep a script in the project: a new one, or another text for one that there is. */
export interface KeepScriptRequest {
  kind: "keepScript";
  name: string;
  text: string;
  model?: string;
  script?: string | null;
}

/** The labels of a clip; none takes them off. */
export interface LabelRequest {
  kind: "label";
  character: string;
  clip: string;
  labels: string[];
}

/** Learn a character from its clips; of some labels only, where any is named. */
export interface LearnRequest {
  kind: "learn";
  character: string;
  labels?: string[];
  name?: string;
}

/** The page has turned to something else; the game waits. */
export interface LeaveGameRequest {
  kind: "leaveGame";
}

/** Where the pointer is on stage, in the world, metres; None where it has left. */
export interface LookRequest {
  kind: "look";
  point: [number, number, number] | null;
}

/** Another round; the strength stays where it is None. */
export interface NewGameRequest {
  kind: "newGame";
  strength?: "hatchling" | "fledgling" | "drake" | "elder" | null;
}

/** Open a file below one of the opened folders, or a member of the built-in cast (`dragon`). */
export interface OpenRequest {
  kind: "open";
  path: string;
}

/** How long the character thinks and reacts: 1 as it likes to, below that shorter. The game goes on. */
export interface PaceGameRequest {
  kind: "paceGame";
  pace: number;
}

/** Put a model's character on stage, live. */
export interface PerformRequest {
  kind: "perform";
  model: string;
}

/** Is anybody there. */
export interface PingRequest {
  kind: "ping";
}

/** Take a square, 0 to 8 row by row. Where that is not allowed, the character says so in its own way. */
export interface PlaceMarkRequest {
  kind: "placeMark";
  square: number;
}

/** Play or pause. */
export interface PlayRequest {
  kind: "play";
  playing: boolean;
}

/** Where the player points, in the world (metres); None where the pointer has left. */
export interface PointAtRequest {
  kind: "pointAt";
  place?: [number, number, number] | null;
}

/** Begin to record what is shown, or end it: the take is kept in the project, unless it is thrown away. */
export interface RecordRequest {
  kind: "record";
  recording: boolean;
  discard?: boolean;
  name?: string;
}

/** Make it again. */
export interface RedoRequest {
  kind: "redo";
}

/** Call something else. A clip is `character/clip`. */
export interface RenameRequest {
  kind: "rename";
  what: "character" | "clip" | "model" | "take" | "script" | "edit" | "project";
  target: string;
  name: string;
}

/** Perform a script on stage from now on. */
export interface RunScriptRequest {
  kind: "runScript";
  text: string;
  name?: string;
}

/** Go to a time, seconds from the beginning of what is on stage. */
export interface SeekRequest {
  kind: "seek";
  time: number;
}

/** A frame has been drawn; sent without an id. */
export interface SeenRequest {
  kind: "seen";
  sequence: number;
  stream?: number;
}

/** What is selected, by name; joints, parts, channels. */
export interface SelectRequest {
  kind: "select";
  names: string[];
}

/** Put a character on stage: with a clip, or with a take of it, or at rest. */
export interface ShowRequest {
  kind: "show";
  character: string;
  clip?: string | null;
  take?: string | null;
}

/** Leave the script that runs. */
export interface StopScriptRequest {
  kind: "stopScript";
}

/** A command for the character on stage, which takes over at once; what it has no use for stays None. */
export interface TellRequest {
  kind: "tell";
  command: "move" | "idle" | "transition" | "play" | "mix" | "look";
  label?: string | null;
  pose?: string | null;
  poses?: string[] | null;
  clip?: string | null;
  labels?: string[] | null;
  weight?: number | null;
  start?: number | null;
  stop?: number | null;
  seconds?: number | null;
  hover?: number | null;
  path?: "graph" | "straight" | null;
  at?: string | [number, number, number] | null;
}

/** How it plays: the rate (1 is as recorded), round and round or once, and the range; what is None stays. */
export interface TransportRequest {
  kind: "transport";
  rate?: number | null;
  loop?: boolean | null;
  start?: number | null;
  stop?: number | null;
  whole?: boolean;
}

/** Take the last change back. */
export interface UndoRequest {
  kind: "undo";
}

/** Once a second: what the crowd costs. */
export interface CrowdStatsEvent {
  kind: "crowdStats";
  count: number;
  fps: number;
  ms: number;
  share: number;
  bytes: number;
}

/** The document, whole; `undoes` and `redoes` say what the next undo or redo would take back or make again. */
export interface DocumentChangedEvent {
  kind: "document";
  document: Document;
  canUndo: boolean;
  canRedo: boolean;
  undoes: string;
  redoes: string;
}

/** The answer to a request that was met. */
export interface DoneEvent {
  kind: "done";
  id: number;
  result: unknown;
}

/** The answer to one that was not: what happened, and what to do next. */
export interface FailedEvent {
  kind: "failed";
  id: number;
  sentence: string;
  hint: string;
}

/** How a game stands. `result` is the player's; `line` the squares that decided it; `last` was played last. */
export interface GameEvent {
  kind: "game";
  character: string;
  board: ("" | "claw" | "ember")[];
  turn: "" | "claw" | "ember";
  phase: string;
  mood: string;
  result: "" | "won" | "lost" | "draw";
  line: number[];
  last: number | null;
  strength: "hatchling" | "fledgling" | "drake" | "elder";
  pace: number;
  round: number;
  player: number;
  opponent: number;
  draws: number;
}

/** The first event of a connection. */
export interface HelloEvent {
  kind: "hello";
  version: string;
  session: string;
  modes: string[];
  formats: FormatEntry[];
  cast: string[];
  largestUpload: number;
}

/** Long work: how far, and for how long. */
export interface JobChangedEvent {
  kind: "job";
  id: string;
  name: string;
  done: number;
  total: number;
  seconds: number;
  state: "running" | "done" | "failed" | "cancelled";
  sentence: string;
}

/** A sentence for the user, and what to do next. */
export interface NoticeEvent {
  kind: "notice";
  level: "info" | "warning" | "error";
  sentence: string;
  hint: string;
}

/** How the performance goes, 20 times a second. */
export interface PerformingEvent {
  kind: "performing";
  model: string;
  time: number;
  label: string;
  doing: string;
  done: boolean;
  voices: VoicePlace[];
  ms: number;
  recorded: number | null;
  step: string;
  stepSeconds: number;
  liveliness: number;
  stillness: number;
  gaze: number | null;
  events: Happening[];
}

/** Once a second while frames are sent: what a frame costs the server, and what goes over the wire. */
export interface StatsEvent {
  kind: "stats";
  ms: number;
  fps: number;
  bytes: number;
  dropped: number;
}

export type StudioRequest =
  | CancelRequest
  | CheckScriptRequest
  | CloseRequest
  | CrowdRequest
  | CrowdLookRequest
  | DeleteRequest
  | DialRequest
  | EndCrowdRequest
  | EnterGameRequest
  | ExportRequest
  | KeepScriptRequest
  | LabelRequest
  | LearnRequest
  | LeaveGameRequest
  | LookRequest
  | NewGameRequest
  | OpenRequest
  | PaceGameRequest
  | PerformRequest
  | PingRequest
  | PlaceMarkRequest
  | PlayRequest
  | PointAtRequest
  | RecordRequest
  | RedoRequest
  | RenameRequest
  | RunScriptRequest
  | SeekRequest
  | SeenRequest
  | SelectRequest
  | ShowRequest
  | StopScriptRequest
  | TellRequest
  | TransportRequest
  | UndoRequest;

export type StudioEvent =
  | CrowdStatsEvent
  | DocumentChangedEvent
  | DoneEvent
  | FailedEvent
  | GameEvent
  | HelloEvent
  | JobChangedEvent
  | NoticeEvent
  | PerformingEvent
  | StatsEvent;

/** What each kind of request is answered with. */
export interface Results {
  "cancel": null;
  "checkScript": Checked;
  "close": null;
  "crowd": Crowded;
  "crowdLook": null;
  "delete": null;
  "dial": null;
  "endCrowd": null;
  "enterGame": GameEntered;
  "export": Exported;
  "keepScript": KeptScript;
  "label": null;
  "learn": Learned;
  "leaveGame": null;
  "look": null;
  "newGame": null;
  "open": Opened;
  "paceGame": null;
  "perform": null;
  "ping": Pong;
  "placeMark": null;
  "play": null;
  "pointAt": null;
  "record": Taken;
  "redo": null;
  "rename": null;
  "runScript": null;
  "seek": null;
  "seen": null;
  "select": null;
  "show": null;
  "stopScript": null;
  "tell": null;
  "transport": null;
  "undo": null;
}
