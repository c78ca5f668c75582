// Why the server did not take a conversation, in its own words.
// The one rule: a reason that cannot be had is none, and whoever asks goes on.

/** Why a connection was not accepted: a browser is told no more than that it was not. @param {string} grant */
export async function whyNot(grant) {
  try {
    const reply = await fetch("/v1/realtime", { headers: { Authorization: `Bearer ${grant}` } });
    if (reply.status !== 429) return null;
    const body = await reply.json();
    return { why: sentence(String(body.error.message)), again: reply.headers.get("x-should-retry") !== "false" };
  } catch {
    return null;
  }
}

/** What a server says, as a sentence. @param {string} words */
export function sentence(words) {
  return `${words[0].toUpperCase()}${words.slice(1)}.`;
}
