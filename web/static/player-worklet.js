// Playback's thread: a queue of sound on the audio clock. It waits for a small start buffer, lengthens it whenever it ran
// dry, and fades within a few milliseconds where it is paused or cleared, so that a stop makes no click.
import { Resampler } from "./resample.js";

const RATE_HZ = 24000;
const START_S = 0.08;
const START_MOST_S = 0.5;
const GROWTH = 1.5;
const FADE_S = 0.006;
const REPORT_S = 0.02;

class Player extends AudioWorkletProcessor {
  constructor() {
    super();
    this.startS = START_S;
    this.dry = 0;
    this.fade = 1 / (FADE_S * sampleRate);
    this.gain = 1;
    this.paused = false;
    this.peak = 0;
    this.sinceReport = 0;
    this.audible = false;
    this.forget();
    this.port.onmessage = ({ data }) => this[data.do](data);
  }

  forget() {
    /** @type {{item: string, samples: Float32Array}[]} */
    this.queue = [];
    this.at = 0;
    this.queued = 0;
    this.waiting = true;
    this.ended = false;
    this.clearing = null;
    this.resampler = new Resampler(RATE_HZ, sampleRate);
    this.item = "";
    this.played = 0;
  }

  push({ item, pcm }) {
    if (this.clearing) this.cleared();
    if (this.ended && !this.queued) this.waiting = true;
    this.ended = false;
    const ints = new Int16Array(pcm);
    const floats = new Float32Array(ints.length);
    for (let i = 0; i < ints.length; i++) floats[i] = ints[i] / 32768;
    const samples = this.resampler.push(floats);
    if (!samples.length) return;
    this.queue.push({ item, samples });
    this.queued += samples.length;
  }

  /** Nothing more comes for now: what is queued need not wait for company. */
  end() {
    this.ended = true;
  }

  pause() {
    this.paused = true;
  }

  resume() {
    this.paused = false;
  }

  /** Answers with what was played of the item that sounded. */
  clear({ id }) {
    if (this.clearing) this.cleared();
    this.clearing = { id, item: this.item, played: this.played, left: this.queued > 0 };
    if (this.gain === 0 || this.waiting || !this.queued) this.cleared();
  }

  cleared() {
    const { id, item, played, left } = this.clearing;
    this.forget();
    this.paused = false;
    this.gain = 1;
    this.port.postMessage({ is: "cleared", id, item, playedMs: (played / sampleRate) * 1000, left });
    this.report();
  }

  process(_inputs, outputs) {
    const out = outputs[0][0];
    if (this.waiting && this.queued && (this.ended || this.queued >= this.startS * sampleRate)) this.waiting = false;
    for (let i = 0; i < out.length; i++) {
      const target = this.paused || this.clearing ? 0 : 1;
      this.gain = target ? Math.min(1, this.gain + this.fade) : Math.max(0, this.gain - this.fade);
      if (this.gain === 0 && this.clearing) this.cleared();
      if (this.gain === 0 || this.waiting) continue;
      if (!this.queued) {
        this.ranDry();
        continue;
      }
      out[i] = this.next() * this.gain;
      this.peak = Math.max(this.peak, Math.abs(out[i]));
    }
    for (const other of outputs[0].slice(1)) other.set(out);
    this.sinceReport += out.length;
    if (this.sinceReport >= REPORT_S * sampleRate) this.report();
    return true;
  }

  next() {
    const head = this.queue[0];
    if (head.item !== this.item) {
      this.item = head.item;
      this.played = 0;
    }
    const sample = head.samples[this.at++];
    this.played++;
    this.queued--;
    if (this.at === head.samples.length) {
      this.queue.shift();
      this.at = 0;
    }
    return sample;
  }

  ranDry() {
    if (!this.ended) {
      this.dry++;
      this.startS = Math.min(START_MOST_S, this.startS * GROWTH);
    }
    this.waiting = true;
    this.report();
  }

  report() {
    const audible = !this.waiting && this.queued > 0 && this.gain > 0;
    if (audible || this.audible !== audible) {
      this.port.postMessage({
        is: "progress",
        item: this.item,
        playedMs: (this.played / sampleRate) * 1000,
        queuedMs: (this.queued / sampleRate) * 1000,
        startMs: this.startS * 1000,
        dry: this.dry,
        level: this.peak,
        audible,
      });
    }
    this.audible = audible;
    this.sinceReport = 0;
    this.peak = 0;
  }
}

registerProcessor("firstword-player", Player);
