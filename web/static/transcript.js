// The transcript: who said what, each from its own side. It scrolls to the newest unless the reader scrolled up.
// Text goes in as text; there is no HTML in what anybody says. A link is one only where it is plainly http(s).

/** @typedef {import("./sentences.js").Said} Said */

const NEAR_END_PX = 80;

export class Transcript extends HTMLElement {
  #list = document.createElement("ol");
  #empty = document.createElement("p");
  /** Whether the newest is followed: until the reader scrolls up. */
  #follows = true;
  #top = 0;
  #unfolding = false;

  connectedCallback() {
    if (this.#list.isConnected) return;
    this.#empty.className = "empty";
    this.#empty.textContent = "What you both say is written here.";
    this.append(this.#empty, this.#list);
    this.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.addEventListener("click", (event) => (this.#unfolding = !!(/** @type {Element} */ (event.target).closest("summary"))));
    // Told once a frame, after everything that grew in it: writing words reads no layout.
    const sizes = new ResizeObserver(() => this.#resized());
    sizes.observe(this);
    sizes.observe(this.#list);
  }

  /** Whether anything was said. */
  get begun() {
    return this.#list.childElementCount > 0;
  }

  /** Everything said so far, oldest first. @returns {Said[]} */
  get lines() {
    const lines = /** @type {HTMLElement[]} */ ([...this.#list.children]);
    return lines
      .map((line) => ({ role: /** @type {Said["role"]} */ (line.dataset.role), text: wordsOf(line).textContent.trim(), item: line.dataset.item }))
      .filter(({ text }) => text);
  }

  /** @param {"user" | "assistant"} role @param {string} text @param {string} [item] its id on the wire
   * @returns {HTMLElement} */
  add(role, text, item) {
    const line = made({ role, text, item });
    this.#list.append(line);
    this.#empty.hidden = true;
    return line;
  }

  /** Another conversation takes the place of this one. @param {Said[]} lines */
  fill(lines) {
    const all = document.createDocumentFragment();
    for (const said of lines) {
      const line = made(said);
      line.className = "earlier";
      all.append(line);
    }
    this.#list.replaceChildren(all);
    this.#empty.hidden = lines.length > 0;
    this.#follows = true;
  }

  /** More words of a line that is being written. @param {HTMLElement} line @param {string} more */
  grow(line, more) {
    const words = wordsOf(line);
    // An address is complete with the line: `write` makes it a link then.
    if (words.lastChild instanceof Text) words.lastChild.appendData(more);
    else words.append(more);
  }

  /** @param {HTMLElement} line @param {string} text */
  write(line, text) {
    const words = wordsOf(line);
    const parts = linked(text);
    // What is written already stays as it is: nothing is drawn again, and a selection in it holds.
    if (parts.length > 1 || words.textContent !== text) words.replaceChildren(...parts);
  }

  /** @param {HTMLElement} line @param {HTMLElement} receipt */
  attach(line, receipt) {
    line.querySelector("details")?.remove();
    line.append(receipt);
  }

  #scrolled() {
    // What grew since is no going up: only whoever goes up is not followed any more.
    if (this.#nearEnd()) this.#follows = true;
    else if (this.scrollTop < this.#top) this.#follows = false;
    this.#top = this.scrollTop;
  }

  #resized() {
    // Whoever unfolds a receipt reads it where it is.
    if (this.#unfolding) this.#follows = this.#nearEnd();
    this.#unfolding = false;
    if (this.#follows) this.scrollTop = this.scrollHeight;
    this.#top = this.scrollTop;
  }

  #nearEnd() {
    return this.scrollHeight - this.scrollTop - this.clientHeight < NEAR_END_PX;
  }
}

/** @param {Said} said @returns {HTMLLIElement} */
function made({ role, text, item }) {
  const line = document.createElement("li");
  line.dataset.role = role;
  if (item) line.dataset.item = item;
  const who = document.createElement("span");
  who.className = "unseen";
  who.textContent = role === "user" ? "You: " : `${document.body.dataset.name}: `;
  const words = document.createElement("p");
  words.className = "words";
  words.append(...linked(text));
  line.append(who, words);
  return line;
}

/** @param {Element} line @returns {HTMLElement} */
function wordsOf(line) {
  return line.querySelector(".words");
}

function linked(text) {
  return text.split(/(https?:\/\/[^\s<>"')\]]*[\w/])/).map((part, at) => {
    if (at % 2 === 0) return part;
    const link = document.createElement("a");
    link.href = part;
    link.textContent = part;
    link.rel = "noreferrer noopener";
    link.target = "_blank";
    return link;
  });
}

customElements.define("fw-transcript", Transcript);
