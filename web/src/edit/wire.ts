/** The streams of an edit's binary frames, and its state. */

export const CURVES_STREAM = 2;
export const GRAPH_STREAM = 3;

/** A channel that has keys: a rotation of a joint, the weight of a shape. */
export interface EditChannel {
  target: string;
  kind: string;
  times: number[];
}

export interface EditState {
  character: string;
  clip: string;
  baked: boolean;
  keys: number;
  channels: EditChannel[];
}
