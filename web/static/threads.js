// Kept conversations, as the server tells them: listed, read, forgotten. It shows nothing and keeps nothing.
// The one rule: what goes wrong is a sentence for the person.

import { meant } from "./csrf.js";
import { ledToSignIn } from "./signin.js";

/**
 * @typedef {{ id: string, bot: string, title: string, began_s: number, said_s: number }} Thread
 * @typedef {{ item: string, role: "user" | "assistant", text: string, said_s: number }} Line
 */

export class Threads {
  /** @param {string} bot */
  constructor(bot) {
    this.bot = bot;
  }

  /** A page of threads, newest first, and where the next page begins. @param {string | null} before
   * @returns {Promise<{ threads: Thread[], next: string | null }>} */
  list(before = null) {
    const asked = new URLSearchParams({ bot: this.bot, limit: "200", ...(before ? { before } : {}) });
    return ask("GET", `/app/threads?${asked}`);
  }

  /** @param {string} id @returns {Promise<Thread & { lines: Line[] }>} */
  read(id) {
    return ask("GET", `/app/threads/${encodeURIComponent(id)}`);
  }

  /** The conversations that are open to the owner of the site; null where nothing can be opened. @returns {Promise<Set<string> | null>} */
  async shared() {
    const { shared } = await ask("GET", "/app/shared").catch(() => ({ shared: null }));
    return shared && new Set(shared);
  }

  /** Open a conversation to the owner, or shut it. @param {string} id @param {boolean} open @returns {Promise<void>} */
  share(id, open) {
    return ask(open ? "PUT" : "DELETE", `/app/shared/${encodeURIComponent(id)}`);
  }

  /** @param {string} id @returns {Promise<void>} */
  forget(id) {
    return ask("DELETE", `/app/threads/${encodeURIComponent(id)}`);
  }
}

/** What the server says, or an `Error` with its sentence. @param {string} method @param {string} address @returns {Promise<any>} */
export async function ask(method, address) {
  let reply;
  try {
    reply = await fetch(address, { method, headers: { Accept: "application/json", ...meant() } });
  } catch {
    throw new Error("There is no connection to the server. Try again in a moment.");
  }
  if (reply.status === 204) return undefined;
  const body = await reply.json().catch(() => ({}));
  if (reply.ok) return body;
  ledToSignIn(reply);
  const why = String(body.error?.message ?? `the server answered ${reply.status}`);
  throw new Error(`${why[0].toUpperCase()}${why.slice(1)}.`);
}
