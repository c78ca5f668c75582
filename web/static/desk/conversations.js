// Conversations of the last 30 days by bot: how many, how soon, how they ended, what they cost. What was said is there
// only of a conversation that its own person has opened. It changes nothing.

import { whenInWords } from "../words.js";
import { make, show, the } from "./make.js";
import { ask } from "./server.js";
import { inMs } from "./words.js";

const ENDINGS = {
  answered: "answered",
  cancelled: "interrupted",
  failed: "failed",
  out_of_money: "out of money",
  out_of_steps: "out of steps",
  out_of_time: "out of time",
  nothing_to_add: "nothing to add",
};

/** @param {any} bot */
function panel(bot) {
  const { median, p95, times } = bot.first_word_ms;
  const facts = [
    ["Conversations", String(bot.conversations)],
    ["Answers", String(bot.answers)],
    ["First word", times ? inMs(median) : "–"],
    ["Slowest in twenty", times ? inMs(p95) : "–"],
    ["Spent", bot.spent ? bot.spent.toFixed(bot.spent < 1 ? 4 : 2) : "nothing"],
  ];
  const list = make("dl", { className: "figures" });
  for (const [name, value] of facts) list.append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  const box = make("section", { className: "panel", ariaLabel: bot.name }, make("h2", {}, bot.name), list);
  const ends = Object.entries(bot.endings).sort((one, other) => other[1] - one[1]);
  if (ends.length) box.append(endings(ends, bot.answers));
  if (bot.shared.length) box.append(make("h3", {}, "Opened to you"), make("ul", { className: "shared" }, ...bot.shared.map(shared)));
  return box;
}

/** @param {[string, number][]} ends @param {number} all */
function endings(ends, all) {
  const list = make("ul", { className: "endings", ariaLabel: "How answers ended" });
  for (const [how, times] of ends) {
    const bar = make("progress", { max: all, value: times, aria: { hidden: "true" } });
    list.append(make("li", {}, make("span", {}, ENDINGS[/** @type {"answered"} */ (how)] ?? how), make("b", {}, String(times)), bar));
  }
  return list;
}

/** @param {any} thread */
function shared(thread) {
  const lines = make("ol", { className: "lines" });
  const fold = make("details", {}, make("summary", {}, thread.title, " ", make("small", {}, whenInWords(thread.said_s, new Date()))), lines);
  fold.addEventListener("toggle", async () => {
    if (!fold.open || lines.childElementCount) return;
    try {
      const { lines: said } = await ask("GET", `/talks/${encodeURIComponent(thread.thread)}`);
      const who = { user: "They", assistant: "The bot" };
      for (const line of said) lines.append(make("li", {}, make("small", {}, who[/** @type {"user"} */ (line.role)]), " ", line.text));
    } catch (fault) {
      lines.append(make("li", {}, /** @type {Error} */ (fault).message));
    }
  });
  return make("li", {}, fold);
}

try {
  const { bots, days } = await ask("GET", "/talks");
  const lead = `The last ${days} days. What was said is here only where the person has opened it to you.`;
  show("Conversations", make("p", { className: "lead" }, lead), make("div", { className: "panels" }, ...bots.map(panel)));
} catch (fault) {
  the("title").textContent = "Conversations";
  the("said").textContent = /** @type {Error} */ (fault).message;
}
