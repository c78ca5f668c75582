// The loudspeaker: takes pieces of 24 kHz sound by the item they belong to, and can pause, go on, or forget at once.
// It knows how much of an item was really played; what that means for the conversation is realtime.js's to say.

// As often as the worklet tells of its own sound.
const WATCH_MS = 50;

export class Player {
  /** @param {(progress: {level: number, audible: boolean, queuedMs: number, playedMs: number, item: string}) => void} onProgress */
  constructor(onProgress) {
    this.onProgress = onProgress;
    this.node = null;
    this.context = null;
    this.audible = false;
    this.clears = new Map();
    this.nextClear = 0;
    /** The sound of a call plays by itself; here it is watched, and silenced before the server has heard of it. */
    this.voice = null;
    /** @type {MediaStreamAudioSourceNode | null} */
    this.meter = null;
    /** @type {AnalyserNode | null} */
    this.analyser = null;
    this.watching = 0;
  }

  /** The sound of a call. @param {MediaStream} stream */
  follow(stream) {
    this.voice ??= new Audio();
    this.voice.srcObject = stream;
    this.voice.play().catch(() => {});
    if (!this.context) return;
    this.meter?.disconnect();
    this.meter = this.context.createMediaStreamSource(stream);
    this.analyser ??= new AnalyserNode(this.context, { fftSize: 512 });
    this.meter.connect(this.analyser);
  }

  /** An answer begins or ends on the call. @param {boolean} audible */
  sounds(audible) {
    clearInterval(this.watching);
    if (audible && this.voice) this.voice.muted = false;
    const samples = new Float32Array(512);
    const tell = () => {
      this.analyser?.getFloatTimeDomainData(samples);
      let level = 0;
      for (const sample of audible ? samples : []) level = Math.max(level, Math.abs(sample));
      this.audible = audible;
      this.onProgress({ level, audible, queuedMs: 0, playedMs: 0, item: "" });
    };
    this.watching = audible ? setInterval(tell, WATCH_MS) : 0;
    tell();
  }

  /** @param {AudioContext} context */
  async start(context) {
    await context.audioWorklet.addModule(new URL("./player-worklet.js", import.meta.url));
    const node = new AudioWorkletNode(context, "firstword-player", { numberOfInputs: 0, outputChannelCount: [1] });
    node.port.onmessage = ({ data }) => this.#hear(data);
    node.connect(context.destination);
    this.context = context;
    this.node = node;
  }

  /** @param {string} item @param {ArrayBuffer} pcm */
  push(item, pcm) {
    if (!this.node) return;
    this.node.port.postMessage({ do: "push", item, pcm }, [pcm]);
  }

  end() {
    this.node?.port.postMessage({ do: "end" });
  }

  /** Nothing more comes of anything: the line is gone. */
  gone() {
    if (this.watching) this.sounds(false);
    this.resume();
    this.end();
  }

  pause() {
    this.node?.port.postMessage({ do: "pause" });
  }

  resume() {
    if (this.voice) this.voice.muted = false;
    this.node?.port.postMessage({ do: "resume" });
  }

  /**
   * Be quiet now. Gives what was heard of the item that sounded, or null where nothing waited.
   * @returns {Promise<{item: string, playedMs: number} | null>}
   */
  clear() {
    if (this.watching) {
      this.voice.muted = true;
      this.sounds(false);
    }
    if (!this.node) return Promise.resolve(null);
    const id = this.nextClear++;
    this.node.port.postMessage({ do: "clear", id });
    return new Promise((resolve) => this.clears.set(id, resolve));
  }

  #hear(data) {
    if (data.is === "cleared") {
      // What is still inside the device has not been heard yet.
      const lag = (this.context.outputLatency || 0) * 1000;
      const heard = data.left && data.item ? { item: data.item, playedMs: Math.max(0, data.playedMs - lag) } : null;
      this.clears.get(data.id)?.(heard);
      this.clears.delete(data.id);
      return;
    }
    if (this.watching) return;
    this.audible = data.audible;
    this.onProgress(data);
  }
}
