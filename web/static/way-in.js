// The way in: whether the person is heard now, and what the microphone's one button does about it.
// It mutes where the microphone is open, and is the way in where it is pressed or held. It knows no sound and no socket.
// The one rule: holding interrupts; what was half said when the way is closed is forgotten.

// After the key is let go the last frames are still on their way through the worklet.
const TAIL_MS = 120;

export class WayIn {
  /**
   * @param {import("./words.js").Moment} now @param {{ way: string }} settings
   * @param {{ enable: (on: boolean) => void, interrupt: () => void, forget: () => void, commit: () => void, show: () => void }} does
   */
  constructor(now, settings, does) {
    this.now = now;
    this.settings = settings;
    this.does = does;
    /** The last frames are awaited. */
    this.tail = 0;
  }

  /** Whether what the microphone hears is for the server, which may not be there yet. */
  get hears() {
    if (!this.now.microphone || this.now.link === "idle") return false;
    return this.settings.way === "open" ? !this.now.muted : this.now.talking;
  }

  /** Whether it is heard at this moment. */
  get open() {
    return this.hears && this.now.link === "open";
  }

  /** Whether the button is shown as pressed. */
  get pressed() {
    return this.settings.way === "open" ? this.now.muted : this.now.talking;
  }

  /** Whether the button works by being held. */
  get held() {
    return this.settings.way === "hold" && this.now.microphone;
  }

  /** The button was clicked. */
  click() {
    if (this.settings.way === "open") this.#mute();
    else if (this.settings.way === "push") this.now.talking ? this.release() : this.press();
  }

  press() {
    if (this.now.talking) return;
    this.now.talking = true;
    this.does.interrupt();
    this.does.forget();
    this.does.show();
  }

  release() {
    // A pointer that goes up and a button that loses the keyboard are one release.
    if (!this.now.talking || this.tail) return;
    this.tail = setTimeout(() => {
      this.tail = 0;
      this.now.talking = false;
      this.does.commit();
      this.does.show();
    }, TAIL_MS);
  }

  /** Another way was chosen. */
  changed() {
    clearTimeout(this.tail);
    this.tail = 0;
    this.now.talking = this.now.muted = false;
    this.does.enable(true);
    this.does.forget();
  }

  #mute() {
    this.now.muted = !this.now.muted;
    this.does.enable(!this.now.muted);
    if (this.now.muted) this.does.forget();
    this.does.show();
  }
}
