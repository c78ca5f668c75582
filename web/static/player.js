// The loudspeaker: takes pieces of 24 kHz sound by the item they belong to, and can pause, go on, or forget at once.
// It knows how much of an item was really played; what that means for the conversation is realtime.js's to say.

export class Player {
  /** @param {(progress: {level: number, audible: boolean, queuedMs: number, playedMs: number, item: string}) => void} onProgress */
  constructor(onProgress) {
    this.onProgress = onProgress;
    this.node = null;
    this.context = null;
    this.audible = false;
    this.clears = new Map();
    this.nextClear = 0;
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

  pause() {
    this.node?.port.postMessage({ do: "pause" });
  }

  resume() {
    this.node?.port.postMessage({ do: "resume" });
  }

  /**
   * Be quiet now. Gives what was heard of the item that sounded, or null where nothing waited.
   * @returns {Promise<{item: string, playedMs: number} | null>}
   */
  clear() {
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
    this.audible = data.audible;
    this.onProgress(data);
  }
}
