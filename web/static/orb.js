// The orb: draws one of the five shapes from two sounds, the assistant's and the microphone's.
// It follows the sound, not the state: the assistant counts whenever it is audible, and the microphone is never drawn
// while it is. At most one drawing a frame; reduced motion is one still picture.

import { SHAPES } from "./shapes.js";

// Turning, in radians a second, at rest and with a voice; the phase is integrated, so that a change of speed is no jump.
const TURN_REST = 0.13;
const TURN_VOICE = 0.64;
// The envelope rises at once and falls slowly enough to be seen.
const RISE_S = 0.03;
const FALL_S = 0.22;
// A sound that was not told again for so long is over.
const STALE_S = 0.2;
const DENSEST = 2;
const HISTORY = 48;
const HISTORY_S = 0.045;
// Speech peaks at a third of full scale on most microphones; the root makes quiet voices seen.
const LOUDEST = 0.55;

const still = matchMedia("(prefers-reduced-motion: reduce)");
const night = matchMedia("(prefers-color-scheme: dark)");

class Orb extends HTMLElement {
  static observedAttributes = ["shape"];
  #canvas = document.createElement("canvas");
  #sounds = { assistant: { level: 0, at: -1 }, microphone: { level: 0, at: -1 } };
  #now = { level: 0, voice: 0, turn: 0, time: 0, mood: 0, history: new Float32Array(HISTORY), colours: [], night: false };
  #sinceHistory = 0;
  #frame = 0;
  #seen = true;
  #mood = "rest";

  connectedCallback() {
    this.append(this.#canvas);
    const redraw = () => this.#begin();
    new ResizeObserver(redraw).observe(this);
    new IntersectionObserver(([entry]) => {
      this.#seen = entry.isIntersecting;
      this.#begin();
    }).observe(this);
    for (const query of [still, night]) query.addEventListener("change", redraw);
    document.addEventListener("visibilitychange", redraw);
    this.#begin();
  }

  attributeChangedCallback() {
    if (this.#canvas.isConnected) this.#begin();
  }

  /** @param {number} level how far the wave swings from its centre now, 0 to 1 @param {boolean} audible */
  assistant(level, audible) {
    this.#sounds.assistant = { level: audible ? level : 0, at: audible ? performance.now() : -1 };
  }

  /** @param {number} level */
  microphone(level) {
    this.#sounds.microphone = { level, at: performance.now() };
  }

  /** @param {"rest" | "connecting" | "thinking"} mood */
  set mood(mood) {
    if (mood === this.#mood) return;
    this.#mood = mood;
    this.dataset.mood = mood;
    if (still.matches) this.#begin();
  }

  /** What is being drawn, for tests and `?debug`. */
  get drawn() {
    return { level: this.#now.level, of: this.#heard().of, turn: this.#now.turn };
  }

  #heard() {
    const now = performance.now();
    const fresh = ({ at }) => at >= 0 && now - at < STALE_S * 1000;
    const { assistant, microphone } = this.#sounds;
    // Audible until it is told that it is not: a page too busy to hear of its level draws no microphone meanwhile.
    if (assistant.at >= 0) return { of: "assistant", level: fresh(assistant) ? assistant.level : 0 };
    if (fresh(microphone)) return { of: "microphone", level: microphone.level };
    return { of: "nobody", level: 0 };
  }

  #begin() {
    cancelAnimationFrame(this.#frame);
    this.#measure();
    if (this.hasAttribute("sample")) {
      // One little picture of the shape in the middle of a word.
      Object.assign(this.#now, { level: 0.5, turn: 0.6, time: 1 });
      this.#now.history.forEach((_, at, history) => (history[at] = 0.35 + 0.3 * Math.sin(at * 1.3 + 0.6)));
      this.#draw();
      return;
    }
    if (still.matches) {
      Object.assign(this.#now, { level: 0, voice: 0, turn: 0, time: 0, mood: this.#mood === "thinking" ? 1 : 0 });
      this.#now.history.fill(0);
      this.#draw();
      return;
    }
    let before = performance.now();
    const tick = (at) => {
      if (document.hidden || !this.#seen || !this.isConnected) return;
      this.#frame = requestAnimationFrame(tick);
      this.#move(Math.min(0.1, Math.max(0, (at - before) / 1000)));
      before = at;
      this.#draw();
    };
    this.#frame = requestAnimationFrame(tick);
  }

  #measure() {
    const density = Math.min(DENSEST, devicePixelRatio || 1);
    const size = Math.round(this.clientWidth * density);
    // Both: a canvas is 300 wide before anybody measures it, and 150 high.
    const { width, height } = this.#canvas;
    if (size && (width !== size || height !== size)) this.#canvas.width = this.#canvas.height = size;
    const style = getComputedStyle(this);
    this.#now.colours = ["--orb-1", "--orb-2", "--orb-3"].map((name) => style.getPropertyValue(name).trim());
    this.#now.night = night.matches;
  }

  #move(passed_s) {
    const now = this.#now;
    const level = Math.min(1, Math.sqrt(this.#heard().level / LOUDEST));
    const pace = level > now.level ? RISE_S : FALL_S;
    now.level += (level - now.level) * (1 - Math.exp(-passed_s / pace));
    now.voice += (Math.min(1, level * 1.6) - now.voice) * (1 - Math.exp(-passed_s / 0.5));
    now.turn += (TURN_REST + (TURN_VOICE - TURN_REST) * now.voice) * passed_s;
    now.time += passed_s;
    const mood = this.#mood === "thinking" ? 1 : 0;
    now.mood += (mood - now.mood) * (1 - Math.exp(-passed_s / 0.25));
    this.#sinceHistory += passed_s;
    while (this.#sinceHistory >= HISTORY_S) {
      now.history.copyWithin(1, 0);
      this.#sinceHistory -= HISTORY_S;
    }
    now.history[0] = now.level;
  }

  #draw() {
    const size = this.#canvas.width;
    const pen = this.#canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.globalCompositeOperation = "source-over";
    pen.globalAlpha = 1;
    pen.clearRect(0, 0, size, size);
    // Every shape draws in a square from -1 to 1.
    pen.setTransform(size / 2, 0, 0, size / 2, size / 2, size / 2);
    const shape = SHAPES[this.getAttribute("shape")] ?? SHAPES.aura;
    shape(pen, this.#now);
  }
}

customElements.define("fw-orb", Orb);
