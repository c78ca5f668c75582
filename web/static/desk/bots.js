// The list of bots: who may talk to each, what it may spend, and whether it can answer now. It changes nothing.

import "../orb.js";
import { make, show, the } from "./make.js";
import { ask } from "./server.js";

/** @typedef {{ slug: string, name: string, visual: string, who: string, spends: string, can: boolean, why: string, draft: boolean }} Bot */

/** @param {Bot} bot */
function card(bot) {
  const orb = make("fw-orb", { aria: { hidden: "true" } });
  orb.setAttribute("shape", bot.visual);
  const state = bot.can ? (bot.why ? "partly" : "yes") : "no";
  const answers = bot.can ? "Can answer" : "Cannot answer";
  return make(
    "li",
    {},
    make(
      "a",
      { className: "card", href: `/app/desk/bots/${encodeURIComponent(bot.slug)}` },
      orb,
      make("span", { className: "card-name" }, bot.name, bot.draft && make("small", { className: "draft-mark" }, "draft")),
      make("span", { className: "stands", data: { state } }, answers),
      bot.why && make("span", { className: "card-about" }, bot.why),
      bot.who && fact("Talks to", bot.who),
      bot.spends && fact("May spend", bot.spends),
    ),
  );
}

/** @param {string} name @param {string} value */
function fact(name, value) {
  return make("span", { className: "card-fact" }, make("small", {}, name), ` ${value}`);
}

try {
  const { bots } = await ask("GET", "/bots");
  const list = bots.length
    ? make("ul", { className: "cards" }, ...bots.map(card))
    : make("p", { className: "empty" }, "There is no bot in the content folder yet.");
  show("Bots", list);
} catch (fault) {
  the("title").textContent = "Bots";
  the("said").textContent = /** @type {Error} */ (fault).message;
}
