// The microphone's thread: whatever the context's rate, out come frames of 20 ms, 24 kHz, 16 bit, each with its level.
import { Resampler } from "./resample.js";

const RATE_HZ = 24000;
const FRAME = RATE_HZ / 50;

class Microphone extends AudioWorkletProcessor {
  constructor() {
    super();
    this.resampler = new Resampler(sampleRate, RATE_HZ);
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.peak = 0;
  }

  process(inputs) {
    const channels = inputs[0];
    if (!channels.length) return true;
    const mono = new Float32Array(channels[0].length);
    for (const channel of channels) for (let i = 0; i < mono.length; i++) mono[i] += channel[i] / channels.length;
    for (const sample of this.resampler.push(mono)) {
      const clipped = Math.max(-1, Math.min(1, sample));
      this.peak = Math.max(this.peak, Math.abs(clipped));
      this.frame[this.filled++] = Math.round(clipped * 32767);
      if (this.filled === FRAME) this.send();
    }
    return true;
  }

  send() {
    this.port.postMessage({ pcm: this.frame.buffer, level: this.peak }, [this.frame.buffer]);
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.peak = 0;
  }
}

registerProcessor("firstword-microphone", Microphone);
