// What the microphone heard while there was no connection: it is sent as soon as there is one, in order, and what
// closed it too. The one rule: it is bounded, and the newest stays.

// People begin to talk when they have pressed, not when a server has answered; so much of it waits.
export const MOST_KEPT_MS = 6000;
const FRAME_MS = 20;

export class Unsent {
  constructor() {
    /** @type {ArrayBuffer[]} */
    this.frames = [];
    /** Whether the person said that this was all. */
    this.committed = false;
  }

  /** One frame of 20 ms. @param {ArrayBuffer} pcm */
  push(pcm) {
    if (this.committed) this.clear();
    this.frames.push(pcm);
    if (this.frames.length * FRAME_MS > MOST_KEPT_MS) this.frames.shift();
  }

  commit() {
    this.committed = this.frames.length > 0;
  }

  clear() {
    this.frames = [];
    this.committed = false;
  }

  /** All of it, which is then no longer here. */
  take() {
    const { frames, committed } = this;
    this.clear();
    return { frames, committed };
  }
}
