/** Play, step, seek and range. Only the newest seek is sent, so none queue up. */
import type { Context } from "../context";
import type { Span } from "./ruler";

export interface Playable {
  name: string;
  seconds: number;
  rate: number; // frames per second
  frames: number;
  labels: string[];
  moments: Record<string, number>;
}

export interface Transport {
  /** The clip or take on stage; null for a live performance or an empty stage. */
  playable(): Playable | null;
  range(): Span;
  toggle(): void;
  seek(time: number): void;
  step(frames: number): void;
  toEnd(sign: 1 | -1): void;
  /** To the next moment, range end or clip end before (-1) or after (1) now. */
  toMark(sign: 1 | -1): void;
  setRange(start: number, stop: number): void;
  wholeRange(): void;
  setRate(rate: number): void;
  toggleLoop(): void;
}

/** The times that the up and down keys step through: ends, moments and range, sorted and unique. */
export function marks(playable: Playable, range: Span): number[] {
  const all = [0, playable.seconds, range.start, range.stop, ...Object.values(playable.moments)];
  return [...new Set(all.map((time) => Math.round(time * 1e6) / 1e6))].sort((a, b) => a - b);
}

export function createTransport({ connection, store, notices }: Context): Transport {
  let pendingTime: number | null = null; // the newest time that was not sent yet
  let sending = false;

  async function send(): Promise<void> {
    if (sending) return;
    sending = true;
    try {
      while (pendingTime !== null) {
        const time = pendingTime;
        pendingTime = null;
        await connection.request({ kind: "seek", time });
      }
    } catch (reason) {
      pendingTime = null;
      notices.showError(reason);
    } finally {
      sending = false;
      store.endPrediction();
    }
  }

  function currentPlayable(): Playable | null {
    const edit = store.edit();
    const clip = edit ? (store.character()?.clips.find((entry) => entry.name === edit.clip) ?? null) : store.clip();
    if (clip) return { ...clip, name: clip.title || clip.name };
    const take = store.take();
    return take ? { ...take, labels: [], moments: {} } : null;
  }

  function range(): Span {
    const seconds = currentPlayable()?.seconds ?? 0;
    const stage = store.document?.stage;
    const start = Math.min(stage?.start ?? 0, seconds);
    return { start, stop: Math.max(start, Math.min(stage?.stop ?? seconds, seconds)) };
  }

  function seek(time: number): void {
    const playable = currentPlayable();
    if (!playable) return;
    const inside = Math.min(playable.seconds, Math.max(0, time));
    store.predictTime(inside);
    pendingTime = inside;
    void send();
  }

  const request = (message: Parameters<typeof connection.request>[0]) =>
    void connection.request(message).catch(notices.showError);
  return {
    playable: currentPlayable,
    range,
    seek,
    toggle() {
      const stage = store.document?.stage;
      if (!stage || stage.driver === "rest") return;
      request({ kind: "play", playing: !stage.playing });
      const what = currentPlayable();
      const rate = what?.rate || 30;
      if (what && stage.playing) seek(Math.round(store.time * rate) / rate); // pausing snaps to a frame
    },
    step(frames) {
      const what = currentPlayable();
      if (!what) return;
      if (store.document?.stage.playing) request({ kind: "play", playing: false });
      const rate = what.rate || 30;
      seek((Math.round(store.time * rate) + frames) / rate);
    },
    toEnd: (sign) => seek(sign < 0 ? range().start : range().stop),
    toMark(sign) {
      const what = currentPlayable();
      if (!what) return;
      const near = 1e-3;
      const all = marks(what, range());
      const next =
        sign > 0 ? all.find((time) => time > store.time + near) : all.findLast((time) => time < store.time - near);
      if (next !== undefined) seek(next);
    },
    setRange: (start, stop) => request({ kind: "transport", start, stop }),
    wholeRange: () => request({ kind: "transport", whole: true }),
    setRate: (rate) => request({ kind: "transport", rate }),
    toggleLoop: () => request({ kind: "transport", loop: !store.document?.stage.loop }),
  };
}
