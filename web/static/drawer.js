// The drawer: kept conversations, newest first. It opens when asked and shuts the moment one is chosen.
// It is a dialog, so that the keyboard stays inside while it is open and comes back to where it was.
// The one rule: forgetting is asked once, and then it is done.

import { whenInWords } from "./words.js";

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
    dialog.addEventListener("click", (event) => this.#clicked(/** @type {HTMLElement} */ (event.target)));
  }

  /** Show what is kept. */
  async open() {
    this.dialog.showModal();
    this.said.textContent = this.list.childElementCount ? "" : "Looking…";
    await this.#show(null);
  }

  close() {
    this.dialog.close();
  }

  /** @param {string | null} before */
  async #show(before) {
    const turn = ++this.opened;
    let page;
    try {
      [page, this.shared] = await Promise.all([this.threads.list(before), this.threads.shared()]);
    } catch (fault) {
      this.said.textContent = /** @type {Error} */ (fault).message;
      return;
    }
    // Asked again meanwhile, or somebody is busy with a row: what is there stays.
    if (turn !== this.opened) return;
    const rows = document.createDocumentFragment();
    const now = new Date();
    for (const thread of page.threads) rows.append(this.#row(thread, now));
    if (before) this.list.append(rows);
    else this.list.replaceChildren(rows);
    this.next = page.next;
    this.older.hidden = !page.next;
    this.#count();
  }

  /** @param {Thread} thread @param {Date} now */
  #row(thread, now) {
    const row = document.createElement("li");
    const open = document.createElement("button");
    const title = document.createElement("b");
    const when = document.createElement("small");
    const forget = document.createElement("button");
    open.type = forget.type = "button";
    open.className = "thread";
    open.dataset.does = "choose";
    title.textContent = thread.title;
    when.textContent = whenInWords(thread.said_s, now);
    open.append(title, when);
    if (thread.id === this.on.current()) open.setAttribute("aria-current", "true");
    forget.className = "tool";
    forget.dataset.does = "ask";
    forget.ariaLabel = `Forget “${thread.title}”`;
    forget.title = "Forget";
    forget.textContent = "×";
    row.append(open, ...(this.shared ? [this.#sharing(thread, this.shared)] : []), forget);
    rows.set(row, thread);
    return row;
  }

  /** Whether the owner of the site may read it: theirs to say. @param {Thread} thread @param {Set<string>} shared */
  #sharing(thread, shared) {
    const made = button("", "share", "tool share");
    made.ariaLabel = `Let the owner of this site read “${thread.title}”`;
    const show = (/** @type {boolean} */ open) => {
      made.ariaPressed = String(open);
      made.title = open ? "The owner may read it" : "Only you read it";
    };
    show(shared.has(thread.id));
    made.addEventListener("click", async () => {
      const open = made.ariaPressed !== "true";
      try {
        await this.threads.share(thread.id, open);
      } catch (fault) {
        this.said.textContent = /** @type {Error} */ (fault).message;
        return;
      }
      open ? shared.add(thread.id) : shared.delete(thread.id);
      show(open);
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
        this.opened++;
        return row && thread && this.#ask(row, thread);
      case "keep":
        return row && thread && this.#keep(row, thread);
      case "forget":
        return void (row && thread && this.#forget(row, thread));
    }
  }

  /** @param {HTMLElement} row @param {Thread} thread */
  #ask(row, thread) {
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

  /** @param {HTMLElement} row @param {Thread} thread */
  #keep(row, thread) {
    const again = this.#row(thread, new Date());
    row.replaceWith(again);
    /** @type {HTMLElement} */ (again.querySelector("[data-does=ask]")).focus();
  }

  /** @param {HTMLElement} row @param {Thread} thread */
  async #forget(row, thread) {
    try {
      await this.threads.forget(thread.id);
    } catch (fault) {
      this.said.textContent = /** @type {Error} */ (fault).message;
      return this.#keep(row, thread);
    }
    const beside = row.nextElementSibling ?? row.previousElementSibling;
    const next = /** @type {HTMLElement} */ (beside?.querySelector("button") ?? this.dialog.querySelector("[data-does=fresh]"));
    row.remove();
    next.focus();
    this.#count();
    if (this.list.childElementCount) this.said.textContent = "Forgotten.";
    this.on.forgotten(thread.id);
  }

  #count() {
    const none = !this.list.childElementCount;
    this.said.textContent = none ? "Nothing is kept yet. What you say here is kept for you alone, and you can forget it." : "";
  }
}

/** @type {WeakMap<Element, Thread>} */
const rows = new WeakMap();

/** @param {string} text @param {string} does @param {string} className */
function button(text, does, className) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = className;
  made.dataset.does = does;
  made.textContent = text;
  return made;
}
