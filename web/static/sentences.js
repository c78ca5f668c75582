// Sentences on their way: the one that waits in the live line, and the answers that grow in the transcript.
// It knows no wire and no sound. The one rule: a sentence is in one place at a time, and there once.

/** @typedef {{ role: "user" | "assistant", text: string, item?: string }} Said */

export class Sentences {
  /** @param {import("./live.js").Live} live @param {import("./transcript.js").Transcript} transcript */
  constructor(live, transcript) {
    this.live = live;
    this.transcript = transcript;
    /** @type {Said | null} */
    this.pending = null;
    /** @type {Map<string, HTMLElement>} */
    this.answers = new Map();
    /** @type {HTMLElement | null} */
    this.latest = null;
  }

  /** One sentence waits in the live line for its answer. @param {string} text @param {string} item */
  hold(text, item) {
    this.settle();
    this.pending = { role: "user", text, item };
    this.live.show(text, "held");
  }

  /** The waiting sentence takes its place in the transcript. */
  settle() {
    const said = this.pending;
    this.pending = null;
    if (said) this.transcript.add(said.role, said.text, said.item);
    this.live.dark();
  }

  /** Nothing was said after all: what waits is seen again. */
  nothing() {
    if (this.pending) this.live.show(this.pending.text, "held");
    else this.live.dark();
  }

  /** More of an answer. @param {string} item @param {string} delta */
  grow(item, delta) {
    this.transcript.grow(this.#answer(item), delta);
  }

  /** All of an answer; one that was stopped before it was heard is no line. @param {string} item @param {string} text */
  whole(item, text) {
    if (text) this.transcript.write(this.#answer(item), text);
    else this.answers.get(item)?.remove();
  }

  /** What stands of an answer that was cut: its words, or nothing. @param {string} item @param {string} text */
  stands(item, text) {
    const line = this.answers.get(item);
    if (line && text) this.transcript.write(line, text);
    else line?.remove();
  }

  /** @param {string} item @param {HTMLElement} receipt */
  attach(item, receipt) {
    const line = this.answers.get(item) ?? this.latest;
    if (line) this.transcript.attach(line, receipt);
  }

  /** Another conversation: its lines, and nothing on its way. @param {Said[]} lines */
  begin(lines) {
    this.pending = this.latest = null;
    this.answers.clear();
    this.live.dark();
    this.transcript.fill(lines);
  }

  /** @param {string} item @returns {HTMLElement} */
  #answer(item) {
    let line = this.answers.get(item);
    if (!line) {
      this.settle();
      line = this.latest = this.transcript.add("assistant", "", item);
      this.answers.set(item, line);
    }
    return line;
  }
}
