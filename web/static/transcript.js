// The transcript: who said what, each from its own side. It scrolls to the newest unless the reader scrolled up.
// Text goes in as text; there is no HTML in what anybody says. A link is one only where it is plainly http(s).

const NEAR_END_PX = 80;

class Transcript extends HTMLElement {
  #list = document.createElement("ol");
  #empty = document.createElement("p");

  connectedCallback() {
    if (this.#list.isConnected) return;
    this.#empty.className = "empty";
    this.#empty.textContent = "What you both say is written here.";
    this.append(this.#empty, this.#list);
  }

  /** Everything said so far, oldest first. */
  get lines() {
    return [...this.#list.children]
      .map((line) => ({ role: line.dataset.role, text: line.querySelector(".words").textContent.trim() }))
      .filter(({ text }) => text);
  }

  /** @param {"user" | "assistant"} role @param {string} text @returns {HTMLElement} */
  add(role, text) {
    const follow = this.#following();
    const line = document.createElement("li");
    line.dataset.role = role;
    const who = document.createElement("span");
    who.className = "unseen";
    who.textContent = role === "user" ? "You: " : `${document.body.dataset.name}: `;
    const words = document.createElement("p");
    words.className = "words";
    line.append(who, words);
    this.#list.append(line);
    this.#empty.hidden = true;
    this.write(line, text);
    if (follow) this.#toEnd();
    return line;
  }

  /** @param {HTMLElement} line @param {string} text */
  write(line, text) {
    const follow = this.#following();
    line.querySelector(".words").replaceChildren(...linked(text));
    if (follow) this.#toEnd();
  }

  /** @param {HTMLElement} line @param {HTMLElement} receipt */
  attach(line, receipt) {
    const follow = this.#following();
    line.querySelector("details")?.remove();
    line.append(receipt);
    if (follow) this.#toEnd();
  }

  #following() {
    return this.scrollHeight - this.scrollTop - this.clientHeight < NEAR_END_PX;
  }

  #toEnd() {
    this.scrollTop = this.scrollHeight;
  }
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
