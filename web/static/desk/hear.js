// "Hear it": speaks the first sentence with the values on the screen, and says how soon its first word was, beside the
// saved one's. For an engine that solves, a strip of its steps with the time of each on this machine.
// The one rule: every figure was measured just now, by the voice that was heard.

import "../orb.js";
import { make, pressed, waits } from "./make.js";
import { send } from "./server.js";
import { inMs } from "./words.js";

const STEPS = [2, 3, 4, 5, 6, 7, 8];
const WATCH_MS = 50;

export class Hear {
  /**
   * @param {string} slug
   * @param {{ changes: () => Record<string, any>, digest: () => string, shape: () => string, engine: () => string,
   *   solves: (engine: string) => boolean, choose: (steps: number) => void }} of what is on the screen
   */
  constructor(slug, of) {
    this.path = `/bots/${encodeURIComponent(slug)}/hear`;
    this.of = of;
    /** @type {AudioContext | null} */
    this.context = null;
    /** @type {AudioBufferSourceNode | null} */
    this.sounding = null;
    /** @type {Map<string, number>} */
    this.saved = new Map();
    this.orb = make("fw-orb", { aria: { hidden: "true" } });
    this.button = make("button", { type: "button", className: "button", id: "hear" }, "Hear it");
    this.told = make("p", { role: "status", id: "heard" }, "The first sentence, in this voice.");
    this.steps = make("div", { className: "strip", role: "group", ariaLabel: "Solver steps of the opening", hidden: true });
    pressed(this.button, () => (this.sounding ? this.#stop() : this.#hear()));
    const time = make("button", { type: "button", className: "link" }, "Time every number of steps");
    pressed(time, () => this.#time(time));
    this.time = make("p", { hidden: true }, time);
    const words = make("div", { className: "hear-words" }, this.button, this.told, this.time, this.steps);
    this.element = make("div", { className: "hear" }, this.orb, words);
    this.follow();
  }

  /** The screen has changed. */
  follow() {
    this.orb.setAttribute("shape", this.of.shape());
    this.time.hidden = !this.of.solves(this.of.engine());
    if (this.time.hidden) this.steps.hidden = true;
  }

  async #hear() {
    this.context ??= new AudioContext();
    this.context.resume();
    waits(this.button, true);
    this.told.textContent = "Speaking…";
    try {
      const changes = this.of.changes();
      const { ms, note, sound } = await this.#ask({ changes });
      const buffer = await this.context.decodeAudioData(sound);
      this.#play(buffer);
      waits(this.button, false);
      if (!Object.keys(changes).length) this.saved.set(this.of.digest(), ms);
      this.#say(ms, note, this.saved.get(this.of.digest()));
      // The saved one is timed once it would not be in the way of what is heard.
      if (!this.saved.has(this.of.digest())) {
        const digest = this.of.digest();
        this.saved.set(digest, (await this.#ask({ changes: {} })).ms);
        this.#say(ms, note, this.saved.get(digest));
      }
    } catch (fault) {
      this.told.textContent = /** @type {Error} */ (fault).message;
    } finally {
      waits(this.button, false);
    }
  }

  /** @param {number} ms @param {string} note @param {number | undefined} saved */
  #say(ms, note, saved) {
    const beside = saved == null ? "" : saved === ms ? ", as it is saved" : `, ${inMs(saved)} as it is saved`;
    this.told.textContent = `First word after ${inMs(ms)}${beside}.${note ? ` ${note}.` : ""}`;
    this.told.dataset.ms = String(ms);
  }

  /** @param {AudioBuffer} buffer */
  #play(buffer) {
    const context = /** @type {AudioContext} */ (this.context);
    const source = new AudioBufferSourceNode(context, { buffer });
    const meter = new AnalyserNode(context, { fftSize: 1024 });
    source.connect(meter).connect(context.destination);
    const samples = new Float32Array(1024);
    const watch = setInterval(() => {
      meter.getFloatTimeDomainData(samples);
      let level = 0;
      for (const sample of samples) level = Math.max(level, Math.abs(sample));
      this.orb.assistant(level, true);
    }, WATCH_MS);
    source.addEventListener("ended", () => {
      clearInterval(watch);
      this.orb.assistant(0, false);
      this.sounding = null;
      this.button.textContent = "Hear it";
    });
    this.sounding = source;
    this.button.textContent = "Stop";
    source.start();
  }

  #stop() {
    this.sounding?.stop();
  }

  /** @param {HTMLButtonElement} button */
  async #time(button) {
    waits(button, true);
    this.steps.hidden = false;
    const cells = STEPS.map((steps) => {
      const cell = make("button", { type: "button", className: "step" }, make("b", {}, String(steps)), make("span", {}, "…"));
      cell.ariaLabel = `${steps} steps`;
      cell.addEventListener("click", () => this.of.choose(steps));
      return cell;
    });
    this.steps.replaceChildren(...cells);
    try {
      for (const [at, steps] of STEPS.entries()) {
        const { ms } = await this.#ask({ changes: this.of.changes(), steps });
        cells[at].lastElementChild.textContent = inMs(ms);
        cells[at].ariaLabel = `${steps} steps: first word after ${inMs(ms)}`;
      }
    } catch (fault) {
      this.told.textContent = /** @type {Error} */ (fault).message;
    }
    waits(button, false);
  }

  /** @param {object} asked */
  async #ask(asked) {
    const reply = await send("POST", this.path, asked);
    const { headers } = reply;
    return { ms: Number(headers.get("X-First-Word-Ms")), note: headers.get("X-Note") ?? "", sound: await reply.arrayBuffer() };
  }
}
