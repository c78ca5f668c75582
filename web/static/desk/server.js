// What the desk asks of the server: JSON both ways. It shows nothing and keeps nothing.
// The one rule: what goes wrong is an `Error` with a sentence for the owner, and with whatever else the server told.

import { meant } from "../csrf.js";

const BASE = "/app/desk/api";

/** An error with what the server said beside its sentence. */
export class Refused extends Error {
  /** @param {string} sentence @param {number} status @param {any} told */
  constructor(sentence, status, told) {
    super(sentence);
    this.status = status;
    this.told = told;
  }
}

/** What the server says. @param {string} method @param {string} path @param {object} [body] @returns {Promise<any>} */
export async function ask(method, path, body) {
  const reply = await send(method, path, body);
  return reply.status === 204 ? undefined : reply.json();
}

/** Plain text. @param {string} path @returns {Promise<string>} */
export async function text(path) {
  return (await send("GET", path)).text();
}

/** The reply itself, where it is well. @param {string} method @param {string} path @param {object} [body] */
export async function send(method, path, body) {
  let reply;
  const headers = { Accept: "application/json", ...meant(), ...(body ? { "Content-Type": "application/json" } : {}) };
  try {
    reply = await fetch(BASE + path, { method, headers, body: body ? JSON.stringify(body) : undefined });
  } catch {
    throw new Refused("There is no connection to the server. Try again in a moment.", 0, {});
  }
  if (reply.ok) return reply;
  const told = await reply.json().catch(() => ({}));
  throw new Refused(sentence(String(told.error?.message ?? `the server answered ${reply.status}`)), reply.status, told);
}

/** With a capital, and an end. @param {string} why */
export function sentence(why) {
  return `${why[0].toUpperCase()}${why.slice(1)}${/[.?!]$/.test(why) ? "" : "."}`;
}
