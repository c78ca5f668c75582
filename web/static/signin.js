// Signing in again: a page may stay open for longer than a sign-in lasts. Where the server no longer knows the person,
// the page leads to the sign-in and back. The one rule: what was being said on leaving is there on coming back.

const LEFT = "firstword.left";
const STRANGER = 401;

/** What the person was at when they were led away. @typedef {{ thread: string, text: string }} Left */

/** Leads to the sign-in where that is what `reply` asks for; gives whether it does.
 * @param {Response} reply @param {Left} [left] */
export function ledToSignIn(reply, left = { thread: "", text: "" }) {
  if (reply.status !== STRANGER) return false;
  try {
    sessionStorage.setItem(LEFT, JSON.stringify({ at: location.pathname, ...left }));
  } catch {
    // A browser that keeps nothing still signs in.
  }
  location.assign(`/signin?next=${encodeURIComponent(location.pathname + location.search)}`);
  return true;
}

/** What was left on this page, once. @returns {Left} */
export function comingBack() {
  try {
    const left = JSON.parse(sessionStorage.getItem(LEFT) ?? "null");
    sessionStorage.removeItem(LEFT);
    if (left?.at === location.pathname) return left;
  } catch {
    // Nothing was left.
  }
  return { thread: "", text: "" };
}
