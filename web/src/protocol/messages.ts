// Generated from the dataclasses in src/understudy/studio/messages; do not edit.

/** Binary frames: the header's size in bytes and the forms; see studio/source.py. */
export const FRAME = { magic: 0x31465355, header: 32, joints: 1, vertices: 2, crowd: 3, paths: 4, graph: 5, ghosts: 6, pathsStream: 2, graphStream: 3, ghostsStream: 4 } as const;

/** A bone, in Unity's names, with the joint of the source and that of the target; an empty name is none. */
export interface BoneMatch {
  bone: string;
  source: string;
  target: string;
  foundBy: string;
  certainty: number;
}

/** A channel by name; an empty `channel` is all channels of the target. */
export interface ChannelRef {
  target: string;
  channel: string;
}

/** An open character and its clips. */
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

/** One animation of a character. `name` is unique within the character; `title` is the name that the user sees. */
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

/** A point that is in contact, and so does not move, from `start` to `stop`. */
export interface ContactEntry {
  id: string;
  point: PointRef;
  start: number;
  stop: number;
  orientation: boolean;
}

/** A part of the body that is in contact with the floor from `start` to `stop`, seconds. */
export interface ContactSpan {
  part: string;
  start: number;
  stop: number;
}

/** Where the page fetches the description (`address`, then `/texture/N` below it), and the size of the crowd. */
export interface CrowdStarted {
  address: string;
  count: number;
  vertices: number;
  low: number[];
  high: number[];
}

/** A whole project. */
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

/** A drag has begun, with the position and orientation of its point, and the feet that it holds. */
export interface EditBegun {
  gesture: number;
  place: [number, number, number];
  turn: [number, number, number, number];
  feet: StanceEntry[];
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

/** The id of a constraint. */
export interface EditConstraintId {
  held: string;
}

/** The number of a motion curve. */
export interface EditCurveShown {
  curve: number;
}

/** The result of a change: the number of keys, and whether anything changed. */
export interface EditEnded {
  keys: number;
  changed: boolean;
}

/** An edit of a clip: its curves and its constraints. `file` is the name of the curves below the project's folder `edits`; it is empty while they are the clip's own. `hold_feet` says whether feet that stand are held; None: where keys come from a fitter, and in a dense clip. */
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
  holdFeet: boolean | null;
  looseFeet: LooseFoot[];
}

/** One thing that keeps an edit from its goal. The distances are those of the edit, not of this obstacle alone. */
export interface EditObstacle {
  kind: string;
  target: string;
  reachedM: number;
  requiredM: number;
  share: number;
  sentence: string;
}

/** The opened edit. */
export interface EditOpened {
  edit: EditState;
}

/** The result of a reduction: keys of all channels, and the largest error of any joint. */
export interface EditReduced {
  keys: number;
  sourceKeys: number;
  error: number;
  angle: number;
  seconds: number;
  replaced: boolean;
}

/** How well the point follows the stroke. A preview that a newer one replaced has `replaced` and no figures. */
export interface EditSketched {
  reached: boolean;
  distance: number;
  sentence: string;
  notes: string[];
  change: MotionChange | null;
  replaced: boolean;
}

/** The open edit. It changes with keys and constraints, not during a drag. */
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
  windowed: boolean;
  estimate: number;
  keys: number;
  sourceKeys: number;
  channels: EditChannel[];
  pins: PinEntry[];
  contacts: ContactEntry[];
  holds: HoldEntry[];
  limits: LimitEntry[];
  stiffness: Record<string, number>;
  holdFeet: boolean;
  feet: StanceEntry[];
  curves: MotionCurveEntry[];
  copied: boolean;
  pairs: boolean;
  revision: number;
}

/** The address of the file, its name and size, and notes of what the format could not hold. */
export interface Exported {
  url: string;
  name: string;
  size: number;
  notes: string[];
}

/** The ids of the characters in a file, and notes of what the reader dropped or changed. */
export interface FileOpened {
  characters: string[];
  notes: string[];
}

/** A file format that can be opened or exported. */
export interface FormatEntry {
  name: string;
  endings: string[];
  writes: boolean;
  about: string;
}

/** The state of a game. `result` is the player's; `line` has the winning squares; `last` is the last move. */
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

/** The placement of the board, and the state of the game. */
export interface GameEntered {
  game: Game;
  table: GameTable;
  strengths: GameStrength[];
}

/** The results of the games in this project, and their settings. */
export interface GameRecord {
  player: number;
  character: number;
  draws: number;
  rounds: number;
  strength: string;
  pace: number;
}

/** A strength at which the character can play. */
export interface GameStrength {
  name: "hatchling" | "fledgling" | "drake" | "elder";
  title: string;
  about: string;
}

/** The placement of the board: its centre, its width, its tilt (`lean`, radians); metres. `ground` is the height of the floor, `tall` the height of the character behind the board. */
export interface GameTable {
  centre: [number, number, number];
  width: number;
  lean: number;
  ground: number;
  tall: number;
}

/** A point that keeps its position at one time. */
export interface HoldEntry {
  id: string;
  point: PointRef;
  time: number;
  orientation: boolean;
}

/** The id of a stored script. */
export interface KeptScript {
  script: string;
}

/** A change of a key; None leaves a value as it is. Handles are (dt, dv), both forward in time, and final if given. The other handle of a key that is not broken turns along, and handles of segments whose length changes keep their share of it, unless they are given too. */
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

/** A key of a channel by its index in the curves before the drag; `column` None is all columns. */
export interface KeyRef {
  target: string;
  channel: string;
  key: number;
  column: number | null;
}

/** Many keys of a channel by index, as half-open runs; `columns` None is all. */
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

/** The position of a blend source in the latent space of its label, and its weight. */
export interface LatentPlace {
  label: string;
  x: number[];
  weight: number;
}

/** The training job; the document has the model when it is done. */
export interface LearningStarted {
  job: string;
}

/** A column that stays within a range; None is no bound. */
export interface LimitEntry {
  target: string;
  column: string;
  low: number | null;
  high: number | null;
}

/** A foot that was let go: the one of its stances that contains `time` (seconds) is not held. */
export interface LooseFoot {
  joint: string;
  time: number;
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

/** How an edit changed the motion as a whole, measured on the finished curves. */
export interface MotionChange {
  askedM: number;
  furthestM: number;
  start: number;
  stop: number;
  othersM: number;
  otherJoint: string;
  speedRatio: number;
  accelerationRatio: number;
  extraTurns: number;
}

/** A motion curve on stage: `curve` is its number in the frames of stream 2. */
export interface MotionCurveEntry {
  curve: number;
  point: PointRef;
  name: string;
  camera: boolean;
}

/** A motion curve that is shown while its clip is edited: `curve` is its number. */
export interface PathEntry {
  character: string;
  clip: string;
  curve: number;
  point: PointRef;
  name: string;
  camera: boolean;
}

/** An event of the performance: a command, a crossed bridge, the start of a clip. */
export interface PerformanceLogEntry {
  seconds: number;
  what: string;
  about: string;
  label: string;
}

/** A point that keeps its path; without `start` and `stop` over the whole range of an edit. */
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

/** The server's clock, seconds since its start. */
export interface Pong {
  seconds: number;
}

/** The versions of the project, newest first. */
export interface ProjectVersions {
  versions: VersionEntry[];
}

/** The first error of a script, as a sentence and a line; empty and 0 if there is none. */
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

/** The stage: the character, what drives it (a clip's name; a take's, a model's or an edit's id), and the transport. `time` is the playhead at the last user action; during playback the frames carry the time. */
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

/** A foot that stands from `start` to `stop`; `held` unless it was let go or feet are not held. */
export interface StanceEntry {
  joint: string;
  start: number;
  stop: number;
  held: boolean;
}

/** A change that gets a blocked edit further; the numbers are those of a solve with this change. */
export interface SuggestionEntry {
  which: number;
  way: "release" | "widen" | "insert";
  what: string[];
  constraint: "" | "pin" | "contact" | "hold" | "foot";
  start: number | null;
  stop: number | null;
  falloff: number | null;
  sentence: string;
  reached: boolean;
  keys: number;
  reachedM: number;
  requiredM: number;
  reachedRad: number;
  requiredRad: number;
  slipM: number;
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

/** The id of the recorded take; empty if the recording has only begun or was discarded. */
export interface TakeRecorded {
  take: string;
}

/** The take with the motion, the bones, the contacts, and the ratio of the sizes, target over source. */
export interface TransferOutcome {
  take: string;
  bones: BoneMatch[];
  contacts: ContactSpan[];
  size: number | null;
}

/** An earlier version of the project: when it was saved, and how much it holds. */
export interface VersionEntry {
  name: string;
  time: string;
  characters: number;
  models: number;
  takes: number;
  edits: number;
}

/** Stop a job. */
export interface CancelRequest {
  kind: "cancel";
  job: string;
}

/** Check a script against a model. */
export interface CheckScriptRequest {
  kind: "checkScript";
  model: string;
  text: string;
}

/** Close a character with its models, takes, scripts and edits. */
export interface CloseRequest {
  kind: "close";
  character: string;
}

/** Put many characters of a model on stage; a second request resizes the same crowd. Another seed gives other performances. `vertices` is the number of vertices of each character. */
export interface StartCrowdRequest {
  kind: "crowd";
  model: string;
  count?: number;
  seed?: number;
  vertices?: number;
}

/** All characters look at a point of the world, metres; None is straight ahead. */
export interface CrowdLookRequest {
  kind: "crowdLook";
  point: [number, number, number] | null;
}

/** Delete an entry of the project. A clip is `character/clip`. */
export interface DeleteRequest {
  kind: "delete";
  what: "character" | "clip" | "model" | "take" | "script" | "edit";
  target: string;
}

/** Set liveliness, stillness and gaze; None leaves a value as it is. */
export interface SetLiveSettingsRequest {
  kind: "dial";
  liveliness?: number | null;
  stillness?: number | null;
  gaze?: number | null;
}

/** Go back to the committed curves from a preview of keys or of a tween. */
export interface EditAbandonRequest {
  kind: "editAbandon";
}

/** Begin to drag a point at a time between keys; the stage goes to that time. */
export interface EditBeginRequest {
  kind: "editBegin";
  operation: "move" | "turn" | "time";
  point: PointRef;
  time: number;
  edges?: "smooth" | "broken";
  falloff?: number | null;
}

/** Keep a point in place over a range of time: the curves are solved for it at once, as one undo step. */
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

/** The goal of the drag: a move has `to`, a rotation `turn`, timing `factor` (2 is twice as fast). Another `falloff` than before prepares the drag again, from the curves before it. */
export interface EditDragRequest {
  kind: "editDrag";
  gesture: number;
  number: number;
  to?: [number, number, number] | null;
  turn?: [number, number, number, number] | null;
  factor?: number | null;
  falloff?: number | null;
}

/** End the drag: commit it as one undo step, or cancel it. */
export interface EditEndRequest {
  kind: "editEnd";
  gesture: number;
  commit: boolean;
}

/** Ghosts: poses that are shown besides the stage's, sent as frames of stream 4. An empty list hides them. */
export interface EditGhostsRequest {
  kind: "editGhosts";
  times: number[];
}

/** The channels and the range of the graph editor, which are sent as frames of stream 3 from now on. */
export interface EditGraphRequest {
  kind: "editGraph";
  channels: ChannelRef[];
  start?: number | null;
  stop?: number | null;
  samples?: number;
}

/** Hold the position of a point at one time. */
export interface EditHoldRequest {
  kind: "editHold";
  point: PointRef;
  time: number;
  orientation?: boolean;
  held?: string | null;
}

/** Hold the feet that stand while something else is dragged, or do not; None: as the clip's keys suggest. */
export interface EditHoldFeetRequest {
  kind: "editHoldFeet";
  hold: boolean | null;
}

/** Let go the foot that stands at a time, or hold it again. A drag that was just released is solved again. */
export interface EditHoldFootRequest {
  kind: "editHoldFoot";
  joint: string;
  time: number;
  hold: boolean;
}

/** Set keys at a time, of all channels or of some; the motion stays as it is. */
export interface EditKeyRequest {
  kind: "editKey";
  time: number;
  channels?: ChannelRef[] | null;
}

/** Keys as the graph editor and the dope sheet change them: shown while not `final`, then one undo step. Keys are numbered as they were before the drag. First `transform`, then `changes`, then `broken` and `automatic` of `keys` and `runs`, then deletions and insertions. Where several channels have one target and one kind, `weights:3` is the channel with the number 3 in the state. */
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

/** Keep a column within a range, radians or metres; without low and high the limit is removed. The request is refused if keys lie outside; with `fit` the range is widened to include them. */
export interface EditLimitRequest {
  kind: "editLimit";
  target: string;
  column: string;
  low?: number | null;
  high?: number | null;
  fit?: boolean;
}

/** Accept a suggestion of the last outcome, by its number, as one undo step. */
export interface EditAcceptSuggestionRequest {
  kind: "editOffer";
  which: number;
}

/** Edit a clip: its own keys, or its earlier edit. */
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

/** Pin the path of a point; `held` is the id of an existing pin to change. */
export interface EditPinRequest {
  kind: "editPin";
  point: PointRef;
  orientation?: boolean;
  start?: number | null;
  stop?: number | null;
  held?: string | null;
}

/** Begin to drag a point of the pose at a time. Without `key` only channels with a key there move. */
export interface EditPoseBeginRequest {
  kind: "editPoseBegin";
  point: PointRef;
  time: number;
  operation?: "move" | "turn";
  pins?: PointRef[];
  key?: boolean;
}

/** The goal of the pose drag. */
export interface EditPoseDragRequest {
  kind: "editPoseDrag";
  gesture: number;
  number: number;
  to?: [number, number, number] | null;
  turn?: [number, number, number, number] | null;
}

/** End the pose drag: write the pose into keys, or cancel it. */
export interface EditPoseEndRequest {
  kind: "editPoseEnd";
  gesture: number;
  commit: boolean;
}

/** Reduce the clip to few keys. A preview only returns the result; a newer one replaces it. `keys` says where they are: at poses and where channels need more, at times of each channel, or at common times. */
export interface EditReduceRequest {
  kind: "editReduce";
  tolerance: number;
  angle?: number | null;
  preview?: boolean;
  keys?: "poses" | "fewest" | "shared";
}

/** Remove a pin, a contact or a hold. */
export interface EditReleaseRequest {
  kind: "editRelease";
  held: string;
}

/** Let a point follow a stroke from one time to another, as one undo step. It takes a second or two. A preview shows the result without keeping it (`EditAbandon` ends it); of waiting previews only the newest runs. */
export interface EditSketchRequest {
  kind: "editSketch";
  point: PointRef;
  stroke: [number, number, number][];
  start: number;
  stop: number;
  falloff?: number | null;
  preview?: boolean;
}

/** The cost of moving a joint: 1 is the default, 0 is free, None resets it. */
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

/** Keep a share of the last drag, 0 to 1, as one undo step; it is refused once the clip has changed otherwise. */
export interface EditWeighRequest {
  kind: "editWeigh";
  weight: number;
}

/** Remove the crowd. */
export interface EndCrowdRequest {
  kind: "endCrowd";
}

/** Play with the character on stage; a running game continues. `seed` None: another game each time. */
export interface EnterGameRequest {
  kind: "enterGame";
  strength?: "hatchling" | "fledgling" | "drake" | "elder" | null;
  pace?: number | null;
  seed?: number | null;
}

/** Write a character with its clips, one clip (`character/clip`), an edit, a take, a script or a model as a file. An edit is written with a key on every frame, which every program shows alike, or with its own `keys`. */
export interface ExportRequest {
  kind: "export";
  what: "character" | "clip" | "model" | "take" | "script" | "edit";
  target: string;
  format: string;
  keys?: boolean;
}

/** Store a script in the project: a new one, or a new text for an existing one. */
export interface KeepScriptRequest {
  kind: "keepScript";
  name: string;
  text: string;
  model?: string;
  script?: string | null;
}

/** Set the labels of a clip; an empty list removes them. */
export interface LabelRequest {
  kind: "label";
  character: string;
  clip: string;
  labels: string[];
}

/** Train a model of a character from its clips, of all labels or of the named ones. */
export interface LearnRequest {
  kind: "learn";
  character: string;
  labels?: string[];
  name?: string;
}

/** The page has left the mode; the game is paused. */
export interface LeaveGameRequest {
  kind: "leaveGame";
}

/** The pointer on stage, as a point of the world in metres; None if it has left. */
export interface SetPointerRequest {
  kind: "look";
  point: [number, number, number] | null;
}

/** Start another round; None keeps the strength. */
export interface NewGameRequest {
  kind: "newGame";
  strength?: "hatchling" | "fledgling" | "drake" | "elder" | null;
}

/** Open a file below one of the allowed folders, or a member of the built-in cast (`dragon`). */
export interface OpenRequest {
  kind: "open";
  path: string;
}

/** Go back to an earlier version of the project; undo returns to the present one. */
export interface OpenVersionRequest {
  kind: "openVersion";
  version: string;
}

/** The duration of thinking and reacting: 1 is the default, smaller is faster. */
export interface PaceGameRequest {
  kind: "paceGame";
  pace: number;
}

/** Put a model's character on stage, performing live. */
export interface PerformRequest {
  kind: "perform";
  model: string;
}

/** Check the connection. */
export interface PingRequest {
  kind: "ping";
}

/** Take a square, 0 to 8 row by row. If that is not allowed, the character reacts too. */
export interface PlaceMarkRequest {
  kind: "placeMark";
  square: number;
}

/** Play or pause. */
export interface SetPlayingRequest {
  kind: "play";
  playing: boolean;
}

/** The player's pointer in the world, metres; None if it has left the stage. */
export interface PointAtRequest {
  kind: "pointAt";
  place?: [number, number, number] | null;
}

/** Begin or end a recording. The take is stored in the project, unless it is discarded. */
export interface RecordRequest {
  kind: "record";
  recording: boolean;
  discard?: boolean;
  name?: string;
}

/** Redo the next change. */
export interface RedoRequest {
  kind: "redo";
}

/** Rename an entry. A clip is `character/clip`. */
export interface RenameRequest {
  kind: "rename";
  what: "character" | "clip" | "model" | "take" | "script" | "edit" | "project";
  target: string;
  name: string;
}

/** Perform a script on stage, starting now. */
export interface RunScriptRequest {
  kind: "runScript";
  text: string;
  name?: string;
}

/** Go to a time, seconds from the beginning. */
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

/** Set the selection, by name: joints, parts, channels. */
export interface SelectRequest {
  kind: "select";
  names: string[];
}

/** Put a character on stage: with a clip, with a take, or in its rest pose. */
export interface ShowRequest {
  kind: "show";
  character: string;
  clip?: string | null;
  take?: string | null;
}

/** Stop the running script. */
export interface StopScriptRequest {
  kind: "stopScript";
}

/** A command for the character on stage, which takes over at once; fields that it does not use stay None. */
export interface GiveCommandRequest {
  kind: "tell";
  command: "move" | "idle" | "transition" | "play" | "mix" | "look" | "go" | "turn";
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
  speed?: number | null;
  heading?: number | null;
}

/** Put a clip of one character onto another, and show it. It goes by the bones of both; onto a built-in character without arms and legs, by the pose pairs that it has. `bones` corrects the joints of the target by bone; an empty joint takes a bone away. With `replaces`, the motion takes the place of that take. */
export interface TransferRequest {
  kind: "transfer";
  source: string;
  clip: string;
  target: string;
  bones: Record<string, string>;
  size?: number | null;
  physics?: boolean;
  springs?: boolean;
  replaces?: string | null;
}

/** Set the playback rate (1 is as recorded), the loop and the range; None leaves a value as it is. */
export interface TransportRequest {
  kind: "transport";
  rate?: number | null;
  loop?: boolean | null;
  start?: number | null;
  stop?: number | null;
  whole?: boolean;
}

/** Undo the last change. */
export interface UndoRequest {
  kind: "undo";
}

/** List the earlier versions of the project. */
export interface ListVersionsRequest {
  kind: "versions";
}

/** The cost of the crowd, once a second. */
export interface CrowdStatsEvent {
  kind: "crowdStats";
  count: number;
  fps: number;
  ms: number;
  share: number;
  bytes: number;
}

/** The whole document; `undoes` and `redoes` name the change of the next undo or redo. */
export interface DocumentChangedEvent {
  kind: "document";
  document: Document;
  canUndo: boolean;
  canRedo: boolean;
  undoes: string;
  redoes: string;
}

/** The answer to a request that succeeded. */
export interface RequestDoneEvent {
  kind: "done";
  id: number;
  result: unknown;
}

/** The state of the edit on stage. */
export interface EditChangedEvent {
  kind: "edit";
  state: EditState;
}

/** The result of one drag goal. `frame` and `paths` are the numbers of its frames (streams 0 and 2). A blocked result is sent again with suggestions (`offers`), after the pointer has rested or was released. At the release a patient search finishes the drag: its result is `released`, with the `change` of the motion. */
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
  radius: number | null;
  released: boolean;
  change: MotionChange | null;
  feet: StanceEntry[];
}

/** The answer to a request that failed: what happened, and what to do next. */
export interface RequestFailedEvent {
  kind: "failed";
  id: number;
  sentence: string;
  hint: string;
}

/** The state of a game. `result` is the player's; `line` has the winning squares; `last` is the last move. */
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

/** The progress of a job, and the seconds since its start. */
export interface JobChangedEvent {
  kind: "job";
  id: string;
  name: string;
  done: number;
  total: number;
  seconds: number;
  state: "running" | "done" | "failed" | "cancelled";
  sentence: string;
  task: "open" | "export" | "learn" | "reduce" | "sketch" | "transfer" | "other";
}

/** A sentence for the user, and what to do next. */
export interface NoticeEvent {
  kind: "notice";
  level: "info" | "warning" | "error";
  sentence: string;
  hint: string;
}

/** The state of the performance, 20 times a second. */
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
  stepNumber: number;
  stepSeconds: number;
  liveliness: number;
  stillness: number;
  gaze: number | null;
  speed: number;
  maxSpeed: number | null;
  events: PerformanceLogEntry[];
}

/** The server's cost of a frame and the traffic, once a second while frames are sent. */
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
  | EditHoldFeetRequest
  | EditHoldFootRequest
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
  | EditWeighRequest
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
  | OpenVersionRequest
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
  | TransferRequest
  | TransportRequest
  | UndoRequest
  | ListVersionsRequest;

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
  "editHoldFeet": null;
  "editHoldFoot": null;
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
  "editWeigh": EditEnded;
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
  "openVersion": null;
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
  "transfer": TransferOutcome;
  "transport": null;
  "undo": null;
  "versions": ProjectVersions;
}
