// The microphone: asks for it once, and hands on frames of 24 kHz 16-bit sound while it is open.
// It does not decide when to listen; page.js does.

/** Why there is no microphone, as a sentence for people. */
export class NoMicrophone extends Error {}

const WANTED = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };

/** What keeps a browser from having a microphone at all, or "" where nothing does. */
export function whyNoMicrophone() {
  if (!window.isSecureContext) {
    return "This address is not secure (https or this very machine), so the browser gives it no microphone and perhaps no sound. You can write instead.";
  }
  if (!navigator.mediaDevices?.getUserMedia || !window.AudioWorkletNode) {
    return "This browser offers no microphone to pages. You can write instead.";
  }
  return "";
}

export class Microphone {
  /** @param {(pcm: ArrayBuffer, level: number) => void} onFrame @param {() => void} onLost */
  constructor(onFrame, onLost) {
    this.onFrame = onFrame;
    this.onLost = onLost;
    this.stream = null;
    this.node = null;
    /** While it is being asked for: whoever presses twice is asked once. @type {Promise<void> | null} */
    this.opening = null;
    /** The same microphone for a call, which hears only while the person has the turn to talk. */
    this.line = null;
  }

  get open() {
    return this.node !== null;
  }

  /** @param {AudioContext} context Throws NoMicrophone. */
  async start(context) {
    this.opening ??= this.#start(context).finally(() => (this.opening = null));
    return this.opening;
  }

  async #start(context) {
    const why = whyNoMicrophone();
    if (why) throw new NoMicrophone(why);
    // Before the microphone is opened: what is said while a module loads would be heard by nobody.
    await context.audioWorklet.addModule(new URL("./microphone-worklet.js", import.meta.url));
    const stream = await navigator.mediaDevices.getUserMedia({ audio: WANTED }).catch((fault) => {
      throw new NoMicrophone(inWords(fault));
    });
    const node = new AudioWorkletNode(context, "firstword-microphone", { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }) => this.onFrame(data.pcm, data.level);
    context.createMediaStreamSource(stream).connect(node);
    stream.getAudioTracks()[0].addEventListener("ended", () => {
      this.stop();
      this.onLost();
    });
    this.stream = stream;
    this.node = node;
    this.line = stream.getAudioTracks()[0].clone();
  }

  /** The browser shows a muted microphone as such, and nothing but silence is captured. @param {boolean} on */
  enable(on) {
    for (const track of this.stream?.getAudioTracks() ?? []) track.enabled = on;
  }

  /** What a call hears of it. @param {boolean} on */
  talk(on) {
    if (this.line) this.line.enabled = on;
  }

  stop() {
    this.line?.stop();
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    this.node?.disconnect();
    this.stream = this.node = this.line = null;
  }
}

function inWords(fault) {
  if (fault.name === "NotAllowedError") return "The microphone was refused, so I cannot hear you. You can write instead.";
  if (fault.name === "NotFoundError") return "No microphone was found. You can write instead.";
  if (fault.name === "NotReadableError") return "Another program holds the microphone. You can write instead.";
  return `The microphone could not be opened (${fault.name}). You can write instead.`;
}
