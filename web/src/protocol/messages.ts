// Generated from the dataclasses in src/understudy/studio/messages; do not edit.

/** Binary frames: the header's size in bytes and the forms; see studio/frames.py. */
export const FRAME = { magic: 0x31465355, header: 32, joints: 1, vertices: 2, crowd: 3, paths: 4, graph: 5, ghosts: 6, pathsStream: 2, graphStream: 3, ghostsStream: 4 } as const;

/** A channel by name; an empty `channel` is all channels of the target. */
export interface ChannelRef {
  target: string;
  channel: string;
}

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

/** A point that stands still from `start` to `stop`. */
export interface ContactEntry {
  id: string;
  point: PointRef;
  start: number;
  stop: number;
  orientation: boolean;
}

/** Where the page fetches what it draws (`address`, then `/texture/N` below it), and how many it will be. */
export interface CrowdStarted {
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
  paths: PathEntry[];
}

/** A gesture, and where its point is before it. */
export interface EditBegun {
  gesture: number;
  place: [number, number, number];
  turn: [number, number, number, number];
}

/** One keyed channel. `times` are its keys, none where the clip is baked. */
export interface EditChannel {
  target: string;
  channel: string;
  columns: string[];
  times: number[];
  keys: number;
  beyond: [string, string];
}

/** The id under which something is held. */
export interface EditConstraintId {
  held: string;
}

/** The number of a motion curve. */
export interface EditCurveShown {
  curve: number;
}

/** What a gesture left: the keys as before, and whether anything changed. */
export interface EditEnded {
  keys: number;
  changed: boolean;
}

/** A clip that is being edited: its curves, and what is held while they are. `file` is the name of the curves below the project's folder `edits`; empty as long as they are the clip's own. */
export interface EditEntry {
  id: string;
  name: string;
  character: string;
  clip: string;
  file: string;
  keys: number;
  pins: PinEntry[];
  contacts: ContactEntry[];
  holds: HoldEntry[];
  limits: LimitEntry[];
  stiffness: Record<string, number>;
}

/** One thing that keeps an edit from its goal, with its share of the resistance. */
export interface EditObstacle {
  cause: string;
  what: string;
  share: number;
  sentence: string;
}

/** What was opened. */
export interface EditOpened {
  edit: EditState;
}

/** What a reduction gives: keys are counted for each channel, the error is the farthest that any joint is off. */
export interface EditReduced {
  keys: number;
  sourceKeys: number;
  error: number;
  angle: number;
  seconds: number;
  replaced: boolean;
}

/** How well the stroke is met. */
export interface EditSketched {
  reached: boolean;
  distance: number;
  sentence: string;
  notes: string[];
}

/** What is being edited. It changes with keys and with what is held, not while something is dragged. */
export interface EditState {
  edit: string;
  character: string;
  clip: string;
  name: string;
  seconds: number;
  rate: number;
  frames: number;
  size: number;
  baked: boolean;
  estimate: number;
  keys: number;
  sourceKeys: number;
  channels: EditChannel[];
  pins: PinEntry[];
  contacts: ContactEntry[];
  holds: HoldEntry[];
  limits: LimitEntry[];
  stiffness: Record<string, number>;
  curves: MotionCurveEntry[];
  copied: boolean;
  pairs: boolean;
  revision: number;
}

/** Where the browser can fetch the file, what it is called, and what the format could not hold. */
export interface Exported {
  url: string;
  name: string;
  size: number;
  notes: string[];
}

/** The characters that a file brought, by id, and what reading had to drop or change. */
export interface FileOpened {
  characters: string[];
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

/** A point that passes, at one moment, where it passed. */
export interface HoldEntry {
  id: string;
  point: PointRef;
  time: number;
  orientation: boolean;
}

/** The id under which a script is kept. */
export interface KeptScript {
  script: string;
}

/** What becomes of a key; what is None stays. Handles are (dt, dv), both forward in time, and final where given. The other handle of a key that is not broken turns along, and handles of segments whose length changes keep their share of it, unless they are given too. */
export interface KeyChange {
  target: string;
  channel: string;
  key: number;
  column: number | null;
  time: number | null;
  value: number | null;
  before: [number, number] | null;
  after: [number, number] | null;
  interpolation: "stepped" | "linear" | "bezier" | null;
}

/** A new key on the curve as it is, or with another value in one column. */
export interface KeyInsert {
  target: string;
  channel: string;
  time: number;
  column: number | null;
  value: number | null;
}

/** A key of a channel by its place, as the curves had it before the gesture; `column` None is all columns. */
export interface KeyRef {
  target: string;
  channel: string;
  key: number;
  column: number | null;
}

/** Many keys of a channel by their places, as runs from the first to before the last; `columns` None is all. */
export interface KeyRuns {
  target: string;
  channel: string;
  columns: number[] | null;
  runs: [number, number][];
}

/** Keys moved and scaled at once: t' = s t + o, v' = r v + p, with (s, o) of `time` and (r, p) of `value`. A handle keeps its share of its segment and follows the scale: dt' = q dt, dv' = q f dv, with q the new length of the segment over the old, and f = r / s at a chosen key and column, 1 / s in its other columns, 1 at other keys. */
export interface KeyTransform {
  keys: KeyRuns[];
  time: [number, number];
  value: [number, number];
}

/** Where a voice is in the latent space of its label, and how much it counts. */
export interface LatentPlace {
  label: string;
  x: number[];
  weight: number;
}

/** The job that learns; the model's id comes with the document when it is done. */
export interface LearningStarted {
  job: string;
}

/** A column that stays within a range; None is without a bound. */
export interface LimitEntry {
  target: string;
  column: string;
  low: number | null;
  high: number | null;
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

/** A motion curve on stage: `curve` is its number in the frames of stream 2. */
export interface MotionCurveEntry {
  curve: number;
  point: PointRef;
  name: string;
  camera: boolean;
}

/** A motion curve that is shown of a clip while it is edited: `curve` is its number. */
export interface PathEntry {
  character: string;
  clip: string;
  curve: number;
  point: PointRef;
  name: string;
  camera: boolean;
}

/** Something that happened: a command, a bridge that was crossed, a clip that began. */
export interface PerformanceLogEntry {
  seconds: number;
  what: string;
  about: string;
  label: string;
}

/** A point that keeps its path; without `start` and `stop` wherever an edit reaches. */
export interface PinEntry {
  id: string;
  point: PointRef;
  position: boolean;
  orientation: boolean;
  start: number | null;
  stop: number | null;
}

/** A point of a character: fixed to a joint, at an offset in its frame (m), or a vertex counted over all parts. */
export interface PointRef {
  joint: string;
  offset: [number, number, number];
  vertex: number | null;
}

/** The server's clock, seconds since it began. */
export interface Pong {
  seconds: number;
}

/** What is wrong with a script, in one sentence, and at which line; empty and 0 where nothing is. */
export interface ScriptCheck {
  sentence: string;
  line: number;
  steps: number;
  lines: number[];
}

/** A script of a performance. */
export interface ScriptEntry {
  id: string;
  name: string;
  text: string;
  model: string;
}

/** What is on stage: who, driven by what (a clip's name; a take's, a model's or an edit's id), and the transport. `time` is where it stood at the last gesture; while it plays, frames carry the time. */
export interface StageState {
  character: string;
  driver: "rest" | "clip" | "take" | "model" | "edit";
  drives: string;
  time: number;
  playing: boolean;
  rate: number;
  loop: boolean;
  start: number;
  stop: number | null;
}

/** A way on for a blocked edit, already tried out. */
export interface SuggestionEntry {
  which: number;
  way: "release" | "widen" | "insert";
  sentence: string;
  reached: boolean;
  keys: number;
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
export interface TakeRecorded {
  take: string;
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
export interface StartCrowdRequest {
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
export interface SetLiveSettingsRequest {
  kind: "dial";
  liveliness?: number | null;
  stillness?: number | null;
  gaze?: number | null;
}

/** Go back to the curves before keys or a tween were shown that are not final. */
export interface EditAbandonRequest {
  kind: "editAbandon";
}

/** Take hold of a point at a time between keys; the stage goes to that time. */
export interface EditBeginRequest {
  kind: "editBegin";
  operation: "move" | "turn" | "time";
  point: PointRef;
  time: number;
  edges?: "smooth" | "broken";
}

/** Let a point stand still for a while: the curves are solved for it at once, as one undo step. */
export interface EditContactRequest {
  kind: "editContact";
  point: PointRef;
  start: number;
  stop: number;
  orientation?: boolean;
  held?: string | null;
}

/** Copy the pose at a time. */
export interface EditCopyPoseRequest {
  kind: "editCopyPose";
  time: number;
}

/** Show the motion curve of a point, or hide one: by its number, or by its point. */
export interface EditCurveRequest {
  kind: "editCurve";
  shown: boolean;
  point?: PointRef | null;
  curve?: number | null;
  camera?: boolean;
}

/** Where the point should be now: a move has `to`, a turn has `turn`, timing has `factor` (2 is twice as fast). */
export interface EditDragRequest {
  kind: "editDrag";
  gesture: number;
  number: number;
  to?: [number, number, number] | null;
  turn?: [number, number, number, number] | null;
  factor?: number | null;
}

/** End the gesture: keep it as one undo step, or go back to before it. */
export interface EditEndRequest {
  kind: "editEnd";
  gesture: number;
  commit: boolean;
}

/** Poses that are shown besides the one on stage; none takes them off. They follow as frames of stream 4. */
export interface EditGhostsRequest {
  kind: "editGhosts";
  times: number[];
}

/** Which channels the graph editor shows, and over which range; they follow as frames of stream 3 ever after. */
export interface EditGraphRequest {
  kind: "editGraph";
  channels: ChannelRef[];
  start?: number | null;
  stop?: number | null;
  samples?: number;
}

/** Let a point pass where it passes, at one moment. */
export interface EditHoldRequest {
  kind: "editHold";
  point: PointRef;
  time: number;
  orientation?: boolean;
  held?: string | null;
}

/** Set keys at a time, of all channels or of some; the motion stays as it is. */
export interface EditKeyRequest {
  kind: "editKey";
  time: number;
  channels?: ChannelRef[] | null;
}

/** Keys as the graph editor and the dope sheet change them: shown while not `final`, then one undo step. Keys are numbered as they were before the gesture, all the while. First `transform`, then `changes`, then `broken` and `automatic` of `keys` and `runs`, then what is to be deleted and inserted. Where several channels have one target and one kind, `weights:3` is the channel with the number 3 in the state. */
export interface EditKeysRequest {
  kind: "editKeys";
  transform?: KeyTransform | null;
  changes?: KeyChange[];
  keys?: KeyRef[];
  runs?: KeyRuns[];
  broken?: boolean | null;
  automatic?: "auto" | "smooth" | "flat" | "linear" | "stepped" | null;
  delete?: KeyRef[];
  deleteRuns?: KeyRuns[];
  insert?: KeyInsert[];
  final?: boolean;
  number?: number;
}

/** Keep a column within a range, radians or metres; without low and high the limit is lifted. Keys that lie outside refuse it; with `fit` the range is made as wide as they need it. */
export interface EditLimitRequest {
  kind: "editLimit";
  target: string;
  column: string;
  low?: number | null;
  high?: number | null;
  fit?: boolean;
}

/** Accept one of the offers of the last outcome, by its number, as one undo step. */
export interface EditAcceptSuggestionRequest {
  kind: "editOffer";
  which: number;
}

/** Edit a clip: its own keys, or what was made of them before. */
export interface EditOpenRequest {
  kind: "editOpen";
  character: string;
  clip: string;
}

/** Set the copied pose as keys at a time, left and right exchanged if asked; of all channels or of some. */
export interface EditPastePoseRequest {
  kind: "editPastePose";
  time: number;
  mirror?: boolean;
  channels?: ChannelRef[] | null;
}

/** Keep the path of a point while others are moved; `held` changes a pin that there is. */
export interface EditPinRequest {
  kind: "editPin";
  point: PointRef;
  orientation?: boolean;
  start?: number | null;
  stop?: number | null;
  held?: string | null;
}

/** Take hold of a point of the pose at a time. Without `key` only channels with a key there move. */
export interface EditPoseBeginRequest {
  kind: "editPoseBegin";
  point: PointRef;
  time: number;
  operation?: "move" | "turn";
  pins?: PointRef[];
  key?: boolean;
}

/** Where the point of the pose should be now. */
export interface EditPoseDragRequest {
  kind: "editPoseDrag";
  gesture: number;
  number: number;
  to?: [number, number, number] | null;
  turn?: [number, number, number, number] | null;
}

/** End it: write the pose into keys, or go back to before it. */
export interface EditPoseEndRequest {
  kind: "editPoseEnd";
  gesture: number;
  commit: boolean;
}

/** Turn the clip into few keys. A preview only tells what that gives; a newer one replaces it. With `shared` keys all channels have theirs at the same times, as poses. */
export interface EditReduceRequest {
  kind: "editReduce";
  tolerance: number;
  angle?: number | null;
  preview?: boolean;
  shared?: boolean;
}

/** Let go of a pin, a contact or a hold. */
export interface EditReleaseRequest {
  kind: "editRelease";
  held: string;
}

/** Let a point follow a stroke from one time to another, as one undo step. It takes a second or two. */
export interface EditSketchRequest {
  kind: "editSketch";
  point: PointRef;
  stroke: [number, number, number][];
  start: number;
  stop: number;
}

/** How unwillingly a joint takes part: 1 is usual, 0 costs nothing, None is usual again. */
export interface EditStiffnessRequest {
  kind: "editStiffness";
  target: string;
  value?: number | null;
}

/** A pose between the neighbouring keys, as keys at a time: 0 is the one before, 1 the one after, beyond overshoots. It is one undo step when `final`, and only shown before. */
export interface EditTweenRequest {
  kind: "editTween";
  time: number;
  share: number;
  channels?: ChannelRef[] | null;
  final?: boolean;
  number?: number;
}

/** Remove the keys at a time, of all channels or of some. */
export interface EditUnkeyRequest {
  kind: "editUnkey";
  time: number;
  channels?: ChannelRef[] | null;
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

/** Write a character with its clips, one clip (`character/clip`), an edit, a take, a script or a model as a file. An edit has a key on every frame, which every program shows alike, unless its `keys` are asked for. */
export interface ExportRequest {
  kind: "export";
  what: "character" | "clip" | "model" | "take" | "script" | "edit";
  target: string;
  format: string;
  keys?: boolean;
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
export interface SetPointerRequest {
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
export interface SetPlayingRequest {
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
export interface FrameDrawnRequest {
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
export interface GiveCommandRequest {
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
export interface RequestDoneEvent {
  kind: "done";
  id: number;
  result: unknown;
}

/** The state of the edit on stage; a stage whose driver is no edit has none. */
export interface EditChangedEvent {
  kind: "edit";
  state: EditState;
}

/** What one drag came to. `frame` and `paths` are the numbers of the frames (streams 0 and 2) that belong to it. It comes again, with offers, once they are worked out: when the pointer rests on a blocked edit, or when it is let go. */
export interface EditOutcomeEvent {
  kind: "editOutcome";
  gesture: number;
  number: number;
  reached: boolean;
  distance: number;
  angle: number;
  drift: number;
  ms: number;
  place: [number, number, number] | null;
  turn: [number, number, number, number] | null;
  ghost: [number, number, number] | null;
  sentence: string;
  blocks: EditObstacle[];
  offers: SuggestionEntry[];
  pending: boolean;
  frame: number;
  paths: number;
}

/** The answer to one that was not: what happened, and what to do next. */
export interface RequestFailedEvent {
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
export interface PerformanceStatusEvent {
  kind: "performing";
  model: string;
  time: number;
  label: string;
  doing: string;
  done: boolean;
  voices: LatentPlace[];
  ms: number;
  recorded: number | null;
  step: string;
  stepSeconds: number;
  liveliness: number;
  stillness: number;
  gaze: number | null;
  events: PerformanceLogEntry[];
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
  | StartCrowdRequest
  | CrowdLookRequest
  | DeleteRequest
  | SetLiveSettingsRequest
  | EditAbandonRequest
  | EditBeginRequest
  | EditContactRequest
  | EditCopyPoseRequest
  | EditCurveRequest
  | EditDragRequest
  | EditEndRequest
  | EditGhostsRequest
  | EditGraphRequest
  | EditHoldRequest
  | EditKeyRequest
  | EditKeysRequest
  | EditLimitRequest
  | EditAcceptSuggestionRequest
  | EditOpenRequest
  | EditPastePoseRequest
  | EditPinRequest
  | EditPoseBeginRequest
  | EditPoseDragRequest
  | EditPoseEndRequest
  | EditReduceRequest
  | EditReleaseRequest
  | EditSketchRequest
  | EditStiffnessRequest
  | EditTweenRequest
  | EditUnkeyRequest
  | EndCrowdRequest
  | EnterGameRequest
  | ExportRequest
  | KeepScriptRequest
  | LabelRequest
  | LearnRequest
  | LeaveGameRequest
  | SetPointerRequest
  | NewGameRequest
  | OpenRequest
  | PaceGameRequest
  | PerformRequest
  | PingRequest
  | PlaceMarkRequest
  | SetPlayingRequest
  | PointAtRequest
  | RecordRequest
  | RedoRequest
  | RenameRequest
  | RunScriptRequest
  | SeekRequest
  | FrameDrawnRequest
  | SelectRequest
  | ShowRequest
  | StopScriptRequest
  | GiveCommandRequest
  | TransportRequest
  | UndoRequest;

export type StudioEvent =
  | CrowdStatsEvent
  | DocumentChangedEvent
  | RequestDoneEvent
  | EditChangedEvent
  | EditOutcomeEvent
  | RequestFailedEvent
  | GameEvent
  | HelloEvent
  | JobChangedEvent
  | NoticeEvent
  | PerformanceStatusEvent
  | StatsEvent;

/** What each kind of request is answered with. */
export interface Results {
  "cancel": null;
  "checkScript": ScriptCheck;
  "close": null;
  "crowd": CrowdStarted;
  "crowdLook": null;
  "delete": null;
  "dial": null;
  "editAbandon": null;
  "editBegin": EditBegun;
  "editContact": EditConstraintId;
  "editCopyPose": null;
  "editCurve": EditCurveShown;
  "editDrag": null;
  "editEnd": EditEnded;
  "editGhosts": null;
  "editGraph": null;
  "editHold": EditConstraintId;
  "editKey": EditEnded;
  "editKeys": EditEnded;
  "editLimit": null;
  "editOffer": EditEnded;
  "editOpen": EditOpened;
  "editPastePose": EditEnded;
  "editPin": EditConstraintId;
  "editPoseBegin": EditBegun;
  "editPoseDrag": null;
  "editPoseEnd": EditEnded;
  "editReduce": EditReduced;
  "editRelease": null;
  "editSketch": EditSketched;
  "editStiffness": null;
  "editTween": EditEnded;
  "editUnkey": EditEnded;
  "endCrowd": null;
  "enterGame": GameEntered;
  "export": Exported;
  "keepScript": KeptScript;
  "label": null;
  "learn": LearningStarted;
  "leaveGame": null;
  "look": null;
  "newGame": null;
  "open": FileOpened;
  "paceGame": null;
  "perform": null;
  "ping": Pong;
  "placeMark": null;
  "play": null;
  "pointAt": null;
  "record": TakeRecorded;
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
