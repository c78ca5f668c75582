// The drawer: kept conversations, newest first. It opens when asked and shuts the moment one is chosen.
// It is a dialog, so that the keyboard stays inside while it is open and comes back to where it was.
// The one rule: forgetting is asked once, and then it is done.

import { fill, takeOut } from "./rows.js";
import { whenInWords } from "./words.js";

const LOOKING = "Looking…";

/** @typedef {import("./threads.js").Thread} Thread */

export class Drawer {
  /**
   * @param {HTMLDialogElement} dialog
   * @param {import("./threads.js").Threads} threads
   * @param {{ current: () => string, chosen: (thread: Thread) => void, fresh: () => void, forgotten: (id: string) => void }} on
   */
  constructor(dialog, threads, on) {
    this.dialog = dialog;
    this.threads = threads;
    this.on = on;
    this.list = /** @type {HTMLUListElement} */ (dialog.querySelector("#threads"));
    this.said = /** @type {HTMLElement} */ (dialog.querySelector("#kept-said"));
    this.older = /** @type {HTMLButtonElement} */ (dialog.querySelector("#older"));
    /** @type {string | null} */
    this.next = null;
    this.opened = 0;
    /** @type {Set<string> | null} */
    this.shared = null;
    this.fresh = /** @type {HTMLElement} */ (dialog.querySelector("[data-does=fresh]"));
    /** What was forgotten here: a list that was asked for before may still tell of it. @type {Set<string>} */
    this.forgotten = new Set();
    dialog.addEventListener("click", (event) => this.#clicked(/** @type {HTMLElement} */ (event.target)));
  }

  /** Show what is kept. */
  async open() {
    this.dialog.showModal();
    await this.#show(null);
  }

  close() {
    this.dialog.close();
  }

  /** @param {string | null} before */
  async #show(before) {
    const turn = ++this.opened;
    this.said.textContent = this.list.childElementCount ? "" : LOOKING;
    let page;
    try {
      [page, this.shared] = await Promise.all([this.threads.list(before), this.threads.shared()]);
    } catch (fault) {
      this.said.textContent = /** @type {Error} */ (fault).message;
      return;
    }
    // Asked again meanwhile: the later answer is the one to show.
    if (turn !== this.opened) return;
    const earlier = before ? [...this.list.children].map((row) => /** @type {Thread} */ (rows.get(row))) : [];
    const listed = new Map([...earlier, ...page.threads].map((thread) => [thread.id, thread]));
    for (const id of this.forgotten) listed.delete(id);
    const now = new Date();
    fill(this.list, [...listed.values()], ({ id }) => id, (thread, was) => this.#row(thread, now, was), this.fresh);
    const asked = document.activeElement === this.older;
    this.next = page.next;
    this.older.hidden = !page.next;
    // Whoever asked for the last of the older ones is at the first of them.
    if (asked && this.older.hidden) this.list.children[earlier.length]?.querySelector("button")?.focus();
    this.#count(this.said.textContent === LOOKING ? "" : this.said.textContent);
  }

  /** A row, or the one there `was` with what has changed. @param {Thread} thread @param {Date} now @param {HTMLElement} [was] */
  #row(thread, now, was) {
    const row = was ?? document.createElement("li");
    rows.set(row, thread);
    // A row that is being asked about stays asked.
    if (row.querySelector(".asked")) return row;
    const whole = row.querySelector(".thread") && !!row.querySelector(".share") === !!this.shared;
    if (!whole) row.replaceChildren(...this.#parts(thread));
    const open = /** @type {HTMLElement} */ (row.querySelector(".thread"));
    const when = whenInWords(thread.said_s, now);
    if (open.lastChild.textContent !== when) open.lastChild.textContent = when;
    if (thread.id === this.on.current()) open.setAttribute("aria-current", "true");
    else open.removeAttribute("aria-current");
    if (this.shared) showShared(/** @type {HTMLElement} */ (row.querySelector(".share")), this.shared.has(thread.id));
    return row;
  }

  /** What a row is made of. @param {Thread} thread */
  #parts(thread) {
    const open = document.createElement("button");
    const title = document.createElement("b");
    const forget = document.createElement("button");
    open.type = forget.type = "button";
    open.className = "thread";
    open.dataset.does = "choose";
    title.textContent = thread.title;
    open.append(title, document.createElement("small"));
    forget.className = "tool";
    forget.dataset.does = "ask";
    forget.ariaLabel = `Forget “${thread.title}”`;
    forget.title = "Forget";
    forget.textContent = "×";
    return [open, ...(this.shared ? [this.#sharing(thread)] : []), forget];
  }

  /** Whether the owner of the site may read it: theirs to say. @param {Thread} thread */
  #sharing(thread) {
    const made = button("", "share", "tool share");
    made.ariaLabel = `Let the owner of this site read “${thread.title}”`;
    made.addEventListener("click", async () => {
      const open = made.ariaPressed !== "true";
      try {
        await this.threads.share(thread.id, open);
      } catch (fault) {
        this.said.textContent = /** @type {Error} */ (fault).message;
        return;
      }
      open ? this.shared?.add(thread.id) : this.shared?.delete(thread.id);
      showShared(made, open);
      this.said.textContent = open ? "The owner of this site may read it." : "Only you can read it.";
    });
    return made;
  }

  /** @param {HTMLElement} target */
  #clicked(target) {
    if (target === this.dialog) return this.close();
    const button = /** @type {HTMLElement | null} */ (target.closest("[data-does]"));
    const row = target.closest("li");
    const thread = row && rows.get(row);
    switch (button?.dataset.does) {
      case "close":
        return this.close();
      case "fresh":
        this.close();
        return this.on.fresh();
      case "older":
        return void this.#show(this.next);
      case "choose":
        this.close();
        return thread && this.on.chosen(thread);
      case "ask":
        return row && thread && this.#ask(row, thread);
      case "keep":
        return row && thread && this.#keep(row);
      case "forget":
        return void (row && thread && this.#forget(row, thread));
    }
  }

  /** @param {HTMLElement} row @param {Thread} thread */
  #ask(row, thread) {
    // One question at a time.
    for (const asked of this.list.querySelectorAll("li:not([aria-busy=true]):has(.asked)")) this.#unask(/** @type {HTMLElement} */ (asked));
    const box = document.createElement("div");
    const words = document.createElement("p");
    box.className = "asked";
    box.role = "group";
    words.textContent = `Forget “${thread.title}”? Its lines are deleted.`;
    box.ariaLabel = words.textContent;
    box.append(words, button("Forget", "forget", "button"), button("Keep", "keep", "button quiet"));
    row.replaceChildren(box);
    /** @type {HTMLElement} */ (row.querySelector("[data-does=keep]")).focus();
  }

  /** @param {HTMLElement} row */
  #unask(row) {
    row.replaceChildren();
    this.#row(rows.get(row), new Date(), row);
  }

  /** @param {HTMLElement} row */
  #keep(row) {
    this.#unask(row);
    /** @type {HTMLElement} */ (row.querySelector("[data-does=ask]")).focus();
  }

  /** @param {HTMLElement} row @param {Thread} thread */
  async #forget(row, thread) {
    // Pressed twice is forgotten once.
    if (row.ariaBusy === "true") return;
    row.ariaBusy = "true";
    try {
      await this.threads.forget(thread.id);
    } catch (fault) {
      row.ariaBusy = "false";
      this.said.textContent = /** @type {Error} */ (fault).message;
      return this.#keep(row);
    }
    this.forgotten.add(thread.id);
    takeOut(row, this.fresh);
    this.#count("Forgotten.");
    this.on.forgotten(thread.id);
  }

  /** @param {string} words what is said where something is kept */
  #count(words) {
    const none = "Nothing is kept yet. What you say here is kept for you alone, and you can forget it.";
    this.said.textContent = this.list.childElementCount ? words : none;
  }
}

/** @type {WeakMap<Element, Thread>} */
const rows = new WeakMap();

/** @param {HTMLElement} share @param {boolean} open */
function showShared(share, open) {
  share.ariaPressed = String(open);
  share.title = open ? "The owner may read it" : "Only you read it";
}

/** @param {string} text @param {string} does @param {string} className */
function button(text, does, className) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = className;
  made.dataset.does = does;
  made.textContent = text;
  return made;
}
