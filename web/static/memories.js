// "What I remember": what a bot keeps of the person beyond a conversation, newest first, each thing forgettable.
// It is looked up when it is unfolded. The one rule: what is forgotten is gone from the list when it is gone, not before.

import { fill, takeOut } from "./rows.js";
import { ask } from "./threads.js";

/** @typedef {{ id: number, said: string, at_s: number }} Memory */

export class Memories {
  /** @param {HTMLDetailsElement} box @param {string} bot */
  constructor(box, bot) {
    this.box = box;
    this.bot = bot;
    this.list = /** @type {HTMLUListElement} */ (box.querySelector("ul"));
    this.said = /** @type {HTMLElement} */ (box.querySelector("[role=status]"));
    this.summary = /** @type {HTMLElement} */ (box.querySelector("summary"));
    /** What was forgotten since the list was asked for, which may still tell of it. @type {Set<number>} */
    this.forgotten = new Set();
    box.addEventListener("toggle", () => box.open && this.#show());
    box.addEventListener("click", (event) => this.#clicked(/** @type {HTMLElement} */ (event.target)));
  }

  async #show() {
    const forgotten = (this.forgotten = new Set());
    this.said.textContent = this.list.childElementCount ? "" : "Looking…";
    try {
      const { memories } = await ask("GET", this.#address());
      // Asked again meanwhile: the later answer is the one to show.
      if (forgotten !== this.forgotten) return;
      const kept = memories.filter((/** @type {Memory} */ { id }) => !forgotten.has(id));
      fill(this.list, kept, ({ id }) => id, (memory, was) => was ?? row(memory), this.summary);
      this.#count();
    } catch (fault) {
      this.said.textContent = /** @type {Error} */ (fault).message;
    }
  }

  /** @param {HTMLElement} target */
  async #clicked(target) {
    const button = /** @type {HTMLElement | null} */ (target.closest("[data-memory]"));
    const line = target.closest("li");
    // Pressed twice is forgotten once.
    if (!button || !line || line.ariaBusy === "true") return;
    line.ariaBusy = "true";
    try {
      await ask("DELETE", this.#address(button.dataset.memory));
    } catch (fault) {
      line.ariaBusy = "false";
      this.said.textContent = /** @type {Error} */ (fault).message;
      return;
    }
    this.forgotten.add(Number(button.dataset.memory));
    takeOut(line, this.summary);
    this.#count();
    if (this.list.childElementCount) this.said.textContent = "Forgotten.";
  }

  #count() {
    this.said.textContent = this.list.childElementCount ? "" : "Nothing yet.";
  }

  #address(id = "") {
    return `/app/memories${id && `/${id}`}?${new URLSearchParams({ bot: this.bot })}`;
  }
}

/** @param {Memory} memory */
function row(memory) {
  const line = document.createElement("li");
  const words = document.createElement("span");
  const forget = document.createElement("button");
  words.textContent = memory.said;
  forget.type = "button";
  forget.className = "tool";
  forget.dataset.memory = String(memory.id);
  forget.ariaLabel = `Forget “${memory.said}”`;
  forget.title = "Forget";
  forget.textContent = "×";
  line.append(words, forget);
  return line;
}
