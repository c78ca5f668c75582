// The draft: what the owner has changed and not published. It is kept on the server a moment after each change.
// It knows no element. The one rule: nothing is published that was not kept and checked first.

import { same } from "./words.js";
import { ask } from "./server.js";

const KEEP_AFTER_MS = 350;

/**
 * @typedef {{ key: string, what: string }} Refusal
 * @typedef {{ draft: Record<string, any>, refusals: Refusal[], conflicts: Record<string, any>, digest: string }} Checked
 */

export class Draft {
  /**
   * @param {string} slug @param {Checked} checked
   * @param {{ checked: (checked: Checked) => void, keeping: () => void, failed: (fault: Error) => void }} on
   */
  constructor(slug, checked, on) {
    this.path = `/bots/${encodeURIComponent(slug)}`;
    this.on = on;
    this.changes = { ...checked.draft };
    this.digest = checked.digest;
    /** @type {Record<string, any>} */
    this.waiting = {};
    this.timer = 0;
    /** @type {Promise<void>} */
    this.kept = Promise.resolve();
  }

  /** What the screen says of a field. @param {{ key: string, value: any, usual: any }} field */
  value(field) {
    if (!(field.key in this.changes)) return field.value;
    return this.changes[field.key] ?? field.usual;
  }

  /** @param {string} key @param {any} value null: as usual */
  set(key, value) {
    if (key in this.changes && same(this.changes[key], value)) return;
    this.changes[key] = value;
    this.waiting[key] = value;
    this.on.keeping();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.keep(), KEEP_AFTER_MS);
  }

  /** Keep what waits, one after the other. */
  keep() {
    clearTimeout(this.timer);
    this.kept = this.kept.then(() => this.#send());
    return this.kept;
  }

  async #send() {
    const delta = this.waiting;
    if (!Object.keys(delta).length) return;
    this.waiting = {};
    try {
      this.#take(await ask("PATCH", `${this.path}/draft`, { changes: delta }));
    } catch (fault) {
      // It is on the screen still, and goes with the next change.
      this.waiting = { ...delta, ...this.waiting };
      this.on.failed(/** @type {Error} */ (fault));
    }
  }

  async discard() {
    this.waiting = {};
    await this.kept;
    this.changes = {};
    this.#take(await ask("DELETE", `${this.path}/draft`));
  }

  /** Publish what is kept. Throws the server's refusal. */
  async publish() {
    await this.keep();
    return ask("POST", `${this.path}/publish`, { seen: this.digest });
  }

  /** @param {Checked} checked */
  #take(checked) {
    this.changes = { ...checked.draft, ...this.waiting };
    this.on.checked(checked);
  }
}
