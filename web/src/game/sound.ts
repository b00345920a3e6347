/** Synthesised sounds: a scratch, a flare, a growl, a chime. Off by default. */

export type SoundName = "scratch" | "flare" | "growl" | "chime" | "sigh";

export interface Sounds {
  on: boolean;
  play(name: SoundName): void;
}

/** Plays noise through a bandpass whose frequency changes, for `seconds`. */
function playNoise(context: AudioContext, from: number, to: number, seconds: number, loud: number, at = 0): void {
  const now = context.currentTime + at;
  const buffer = context.createBuffer(1, Math.ceil(seconds * context.sampleRate), context.sampleRate);
  const data = buffer.getChannelData(0);
  for (let k = 0; k < data.length; k++) data[k] = 2 * Math.random() - 1;
  const source = new AudioBufferSourceNode(context, { buffer });
  const band = new BiquadFilterNode(context, { type: "bandpass", Q: 1.4 });
  band.frequency.setValueAtTime(from, now);
  band.frequency.exponentialRampToValueAtTime(to, now + seconds);
  source
    .connect(band)
    .connect(envelope(context, loud, seconds, now))
    .connect(context.destination);
  source.start(now);
}

function playTone(
  context: AudioContext,
  type: OscillatorType,
  from: number,
  to: number,
  seconds: number,
  loud: number,
  at = 0,
): void {
  const now = context.currentTime + at;
  const source = new OscillatorNode(context, { type });
  source.frequency.setValueAtTime(from, now);
  source.frequency.exponentialRampToValueAtTime(to, now + seconds);
  const low = new BiquadFilterNode(context, { type: "lowpass", frequency: 900 });
  source
    .connect(low)
    .connect(envelope(context, loud, seconds, now))
    .connect(context.destination);
  source.start(now);
  source.stop(now + seconds);
}

function envelope(context: AudioContext, loud: number, seconds: number, now: number): GainNode {
  const gain = new GainNode(context, { gain: 0 });
  gain.gain.setValueAtTime(0, now);
  gain.gain.linearRampToValueAtTime(loud, now + Math.min(0.02, seconds / 4));
  gain.gain.exponentialRampToValueAtTime(0.0005, now + seconds);
  return gain;
}

const SOUNDS: Record<SoundName, (context: AudioContext) => void> = {
  scratch(context) {
    playNoise(context, 2600, 1500, 0.09, 0.12);
    playNoise(context, 2300, 1300, 0.1, 0.12, 0.11);
  },
  flare: (context) => playNoise(context, 300, 1100, 0.28, 0.16),
  growl(context) {
    playTone(context, "sawtooth", 92, 58, 1.5, 0.16);
    playTone(context, "sawtooth", 97, 55, 1.5, 0.12);
    playNoise(context, 260, 140, 1.4, 0.2);
  },
  chime(context) {
    for (const [k, pitch] of [523, 659, 784].entries())
      playTone(context, "triangle", pitch, pitch, 0.5, 0.07, 0.09 * k);
  },
  sigh: (context) => playNoise(context, 700, 240, 0.9, 0.09),
};

export function createSounds(on: boolean): Sounds {
  let context: AudioContext | null = null;
  return {
    on,
    play(name) {
      if (!this.on) return;
      context ??= new AudioContext();
      void context.resume();
      SOUNDS[name](context);
    },
  };
}
