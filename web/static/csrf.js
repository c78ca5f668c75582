// What a write says beside its cookie, where people sign in: the token that only pages of ours can read.

/** @returns {Record<string, string>} */
export function meant() {
  const held = document.cookie.split("; ").find((one) => one.startsWith("firstword_csrf="));
  return held ? { "X-Firstword-Csrf": held.slice("firstword_csrf=".length) } : {};
}
