// The page: what people press, and what is seen of the conversation. What happens in it is conversation.js's.
// The one rule: a notice is said once, in one place, and what is good news goes away by itself.

import "./live.js";
import "./orb.js";
import "./transcript.js";
import { holdable, writable } from "./controls.js";
import { Conversation } from "./conversation.js";
import { debug } from "./debug.js";
import { Drawer } from "./drawer.js";
import { whenReady } from "./loading.js";
import { Memories } from "./memories.js";
import { whyNoMicrophone } from "./microphone.js";
import { comingBack } from "./signin.js";
import { Settings, fillSettings } from "./settings.js";
import { Threads } from "./threads.js";
import { inWords, micInWords } from "./words.js";

const PASSING_MS = 4000;

/** Any of the page's own elements, of whichever kind it is. @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
const bot = document.body.dataset;
const settings = new Settings(bot);
const orb = $("orb");
const live = $("live");
const transcript = $("transcript");
const threads = new Threads(bot.bot);
let passing = 0;

const talk = new Conversation(bot.bot, settings, {
  orb,
  live,
  transcript,
  show,
  notice,
  past: (text) => $("notice").textContent === text && notice(""),
  told: (text) => ($("spoken").textContent = text),
  write: () => $("line").focus(),
});
const { now, wayIn, wire } = talk;

/** What is there already is not written again: whoever listens to a live region hears it once. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function show() {
  const [state, mood] = inWords(now, settings.way);
  write($("state"), state);
  orb.mood = mood;
  document.body.dataset.state = now.audible ? "speaking" : now.link === "open" ? now.phase : now.link;
  const mic = $("mic");
  mic.hidden = now.link === "idle";
  mic.dataset.on = wayIn.open ? "yes" : "no";
  mic.dataset.off = now.muted || !now.microphone ? "yes" : "no";
  mic.ariaPressed = String(wayIn.pressed);
  mic.ariaLabel = mic.title = micInWords(now, settings.way);
  const start = $("start");
  const at = document.activeElement;
  start.hidden = now.link !== "idle";
  // Of the two, the one that comes has the keyboard where the one that goes had it.
  if (at === start && start.hidden) mic.focus();
  if (at === mic && mic.hidden) start.focus();
  const begins = whyNoMicrophone() ? "Start" : "Start talking";
  write(start, transcript.begun ? "Go on talking" : begins);
  talk.microphone.talk(wayIn.open);
  debug({ phase: now.phase, link: now.link });
}

/** @param {string} text @param {boolean} [passes] good news, which need not stay */
function notice(text, passes = false) {
  clearTimeout(passing);
  write($("notice"), text ?? "");
  $("notice").dataset.passing = passes ? "yes" : "no";
  if (passes) passing = setTimeout(() => notice(""), PASSING_MS);
}

/** A kept conversation, as it was left. @param {string} id */
async function reopen(id) {
  try {
    const thread = await threads.read(id);
    goOn(id, thread.lines);
  } catch (fault) {
    notice(fault.message);
  }
}

function goOn(thread, lines) {
  talk.goOn(thread, lines);
  if (!lines.length && bot.first) live.show(bot.first, "hint");
}

// --- what people press ---

$("start").addEventListener("click", () => talk.begin(true));
$("mic").addEventListener("click", () => (now.microphone ? wayIn.click() : talk.begin(true)));
holdable($("mic"), () => wayIn.held, () => wayIn.press(), () => wayIn.release());
writable($("say"), $("line"), (text) => talk.say(text));
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open]")) return;
  if (now.audible || now.phase === "thinking") talk.interrupt();
});

$("fold").addEventListener("click", () => {
  const open = $("fold").ariaPressed !== "true";
  $("fold").ariaPressed = String(open);
  document.body.classList.toggle("folded", !open);
});
$("cog").addEventListener("click", () => $("settings").showModal());
fillSettings($("settings"), settings, (name) => {
  if (name === "shape") orb.setAttribute("shape", settings.shape);
  else talk.changed(name);
  show();
});
const drawer = new Drawer($("drawer"), threads, {
  current: () => wire.thread,
  chosen: (thread) => reopen(thread.id),
  fresh: () => goOn("", []),
  forgotten: (id) => id === wire.thread && goOn("", []),
});
new Memories($("memories"), bot.bot);
$("kept").addEventListener("click", () => drawer.open());
addEventListener("pagehide", () => wire.close());
addEventListener("pageshow", (event) => event.persisted && now.link !== "idle" && wire.connect());
document.addEventListener("visibilitychange", () => !document.hidden && talk.context?.resume());

// --- as the page opens ---

orb.setAttribute("shape", settings.shape);
if (bot.first) live.show(bot.first, "hint");
notice(whyNoMicrophone());
show();
const left = comingBack();
if (left.thread) reopen(left.thread);
if (left.text) {
  $("line").value = left.text;
  $("line").dispatchEvent(new Event("input"));
}
const start = $("start");
start.disabled = true;
whenReady($("loading")).then(() => {
  start.disabled = false;
  document.body.dataset.ready = "yes";
});
