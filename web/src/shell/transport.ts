/** Play, step, seek, range: the gestures of time, sent so that the newest wins and none queues up. */
import type { Context } from "../context";
import type { Span } from "./ruler";

export interface Playing {
  name: string;
  seconds: number;
  rate: number; // frames a second
  frames: number;
  labels: string[];
  moments: Record<string, number>;
}

export interface Transport {
  /** What is on stage and can be scrubbed; null for a live performance or nothing. */
  playing(): Playing | null;
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

/** The marks that up and down walk: ends, moments and range, sorted, each once. */
export function marks(playing: Playing, range: Span): number[] {
  const all = [0, playing.seconds, range.start, range.stop, ...Object.values(playing.moments)];
  return [...new Set(all.map((time) => Math.round(time * 1e6) / 1e6))].sort((a, b) => a - b);
}

export function createTransport({ connection, store, notices }: Context): Transport {
  let wanted: number | null = null; // the newest time that was not sent yet
  let sending = false;

  async function send(): Promise<void> {
    if (sending) return;
    sending = true;
    try {
      while (wanted !== null) {
        const time = wanted;
        wanted = null;
        await connection.request({ kind: "seek", time });
      }
    } catch (reason) {
      wanted = null;
      notices.failed(reason);
    } finally {
      sending = false;
      store.agree();
    }
  }

  function playing(): Playing | null {
    const edit = store.edit();
    const clip = edit ? (store.character()?.clips.find((each) => each.name === edit.clip) ?? null) : store.clip();
    if (clip) return { ...clip, name: clip.title || clip.name };
    const take = store.take();
    return take ? { ...take, labels: [], moments: {} } : null;
  }

  function range(): Span {
    const seconds = playing()?.seconds ?? 0;
    const stage = store.document?.stage;
    const start = Math.min(stage?.start ?? 0, seconds);
    return { start, stop: Math.max(start, Math.min(stage?.stop ?? seconds, seconds)) };
  }

  function seek(time: number): void {
    const what = playing();
    if (!what) return;
    const inside = Math.min(what.seconds, Math.max(0, time));
    store.anticipate(inside);
    wanted = inside;
    void send();
  }

  const tell = (message: Parameters<typeof connection.request>[0]) =>
    void connection.request(message).catch(notices.failed);
  return {
    playing,
    range,
    seek,
    toggle() {
      const stage = store.document?.stage;
      if (!stage || stage.driver === "rest") return;
      tell({ kind: "play", playing: !stage.playing });
      const what = playing();
      const rate = what?.rate || 30;
      if (what && stage.playing) seek(Math.round(store.time * rate) / rate); // what stops stands on a frame
    },
    step(frames) {
      const what = playing();
      if (!what) return;
      if (store.document?.stage.playing) tell({ kind: "play", playing: false });
      const rate = what.rate || 30;
      seek((Math.round(store.time * rate) + frames) / rate);
    },
    toEnd: (sign) => seek(sign < 0 ? range().start : range().stop),
    toMark(sign) {
      const what = playing();
      if (!what) return;
      const near = 1e-3;
      const all = marks(what, range());
      const next =
        sign > 0 ? all.find((time) => time > store.time + near) : all.findLast((time) => time < store.time - near);
      if (next !== undefined) seek(next);
    },
    setRange: (start, stop) => tell({ kind: "transport", start, stop }),
    wholeRange: () => tell({ kind: "transport", whole: true }),
    setRate: (rate) => tell({ kind: "transport", rate }),
    toggleLoop: () => tell({ kind: "transport", loop: !store.document?.stage.loop }),
  };
}
