// The live line: one sentence at a time, in large letters. It shows what is being said, holds it while the bot thinks,
// and goes dark the moment the answer arrives, when page.js puts the pair into the transcript.

export class Live extends HTMLElement {
  /** Words on their way. @param {string} text @param {"" | "live" | "held" | "hint"} how */
  show(text, how) {
    if (text === this.textContent && how === this.dataset.how) return;
    this.textContent = text;
    this.dataset.how = how;
    // Long lines are set smaller rather than pushed out of the room.
    this.classList.toggle("long", text.length > 90);
  }

  dark() {
    this.show("", "");
  }
}

customElements.define("fw-live", Live);
