// The page's wiring: the wire, the microphone, the loudspeaker and what is seen, joined.
// What each of them does is in its own file. The one rule: a sentence is in one place at a time.

import "./live.js";
import "./orb.js";
import "./transcript.js";
import { holdable, writable } from "./controls.js";
import { debug } from "./debug.js";
import { Drawer } from "./drawer.js";
import { whenReady } from "./loading.js";
import { Memories } from "./memories.js";
import { Microphone, NoMicrophone, whyNoMicrophone } from "./microphone.js";
import { Player } from "./player.js";
import { Realtime, newId } from "./realtime.js";
import { Sentences } from "./sentences.js";
import { Settings, fillSettings } from "./settings.js";
import { Threads } from "./threads.js";
import { receipt } from "./trace.js";
import { WayIn } from "./way-in.js";
import { inWords, micInWords } from "./words.js";

/** Any of the page's own elements, of whichever kind it is. @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
const bot = document.body.dataset;
const settings = new Settings(bot);
const orb = $("orb");
const live = $("live");
const transcript = $("transcript");
const sentences = new Sentences(live, transcript);
const threads = new Threads(bot.bot);

const START = whyNoMicrophone() ? "Start" : "Start talking";
const RATE = { type: "audio/pcm", rate: 24000 };

/** What the page knows of the moment; `show` draws all of it. @type {import("./words.js").Moment} */
const now = { link: "idle", phase: "listening", audible: false, held: false, muted: false, talking: false, microphone: false };
const stopped = new Set();
let context = null;
let heardSoFar = "";
let sounding = "";
let greeting = false;

const player = new Player((/** @type {any} */ progress) => {
  now.audible = progress.audible;
  orb.assistant(progress.level, progress.audible);
  debug({ queue_ms: Math.round(progress.queuedMs), start_ms: Math.round(progress.startMs), dry: progress.dry });
  show();
});

const microphone = new Microphone(
  (pcm, level) => {
    if (!wayIn.hears) return;
    orb.microphone(level);
    debug({ microphone: level.toFixed(3) });
    wire.sound(pcm);
  },
  () => {
    now.microphone = false;
    wire.hear(null);
    notice("The microphone went away. You can write instead.");
    show();
  },
);

const wire = new Realtime(
  bot.bot,
  {
    idle: () => !now.audible && !sentences.pending && !now.talking && now.phase === "listening",
    open() {
      greeting = false;
      if (now.link === "lost") notice("The connection is back.");
      now.link = "open";
      show();
    },
    lost(was, why) {
      if (why) notice(why);
      else if (now.link !== "lost") notice(was ? "The connection was lost. What you write is sent when it is back." : "");
      now.link = was ? "lost" : "connecting";
      now.phase = "listening";
      player.end();
      show();
    },
    refused: over,
    ended: over,
    speech() {
      heardSoFar = "";
      now.phase = "hearing";
      quiet();
      show();
    },
    speechEnded() {
      if (now.phase === "hearing") now.phase = "pausing";
      show();
    },
    partial(text, more) {
      heardSoFar = more ? heardSoFar + text : text;
      if (heardSoFar) live.show(heardSoFar, "live");
    },
    heard(item, text) {
      heardSoFar = "";
      if (text) sentences.hold(text, item);
      else sentences.nothing();
    },
    thinking() {
      now.phase = "thinking";
      show();
    },
    words(item, delta) {
      sentences.grow(item, delta);
    },
    wordsDone(item, text) {
      sentences.whole(item, text);
      if (text) $("spoken").textContent = text;
    },
    sound(item, pcm) {
      if (stopped.has(item) || !settings.speaks) return;
      sounding = item;
      player.push(item, pcm);
    },
    stream: (stream) => player.follow(stream),
    sounding: (audible) => player.sounds(audible),
    soundDone() {
      player.end();
    },
    done(response) {
      if (response.status === "cancelled") quiet();
      if (response.status === "failed" || response.status === "incomplete") {
        sentences.settle();
        const why = response.status_details?.error?.message;
        if (why) notice(why);
      }
      if (now.phase === "thinking") now.phase = "listening";
      show();
    },
    quiet,
    kept(item) {
      const text = (item.content ?? []).map((part) => part.transcript ?? part.text ?? "").join(" ").trim();
      sentences.stands(item.id, text);
    },
    hold(held) {
      now.held = held;
      if (held) player.pause();
      else player.resume();
      show();
    },
    state(phase) {
      now.phase = phase;
      show();
    },
    level: debug,
    trace(trace) {
      const made = receipt(trace);
      if (made) sentences.attach(trace.item_id, made);
    },
    error(error) {
      // What the page asked in vain (a cancel that came too late) is no news to anybody.
      if (error.type !== "invalid_request_error" || error.code?.startsWith("thread_")) notice(error.message);
      else console.info(error.message);
    },
  },
  session,
  () => transcript.lines,
);

const wayIn = new WayIn(now, settings, {
  enable: (on) => microphone.enable(on),
  interrupt,
  forget: () => wire.forgetSound(),
  commit: () => wire.commit(),
  show,
});

function session() {
  const output = { format: RATE, speed: settings.speed };
  if (settings.voice) output.voice = settings.voice;
  return {
    type: "realtime",
    output_modalities: [settings.speaks ? "audio" : "text"],
    audio: {
      input: {
        format: RATE,
        transcription: { language: settings.language },
        turn_detection: settings.way === "open" ? { type: "server_vad" } : null,
      },
      output,
    },
    // The bot's first sentence is said once, to somebody who came to talk.
    firstword: { events: true, greet: greeting },
  };
}

/** The loudspeaker is silent at once, and the server is told what had been heard. */
async function quiet() {
  now.held = false;
  if (sounding) stopped.add(sounding);
  sounding = "";
  const heard = await player.clear();
  if (heard) wire.truncate(heard.item, heard.playedMs);
}

/** The person takes the turn, by key or by button. */
async function interrupt() {
  wire.cancel();
  await quiet();
}

/** Sound in the click, which is the only moment a browser lets it begin. */
async function wakeSound() {
  if (!context) {
    context = new AudioContext({ latencyHint: "interactive" });
    await player.start(context).catch((fault) => notice(`There is no sound here (${fault.message}). Answers are written.`));
  }
  await context.resume();
}

async function begin(withMicrophone) {
  const sound = wakeSound();
  if (now.link === "idle") {
    now.link = "connecting";
    greeting = withMicrophone;
    live.dark();
    show();
    wire.connect();
  }
  await sound;
  if (withMicrophone && !microphone.open) await openMicrophone();
  show();
}

async function openMicrophone() {
  try {
    await microphone.start(context);
    wire.hear(microphone.line);
    now.microphone = true;
    now.muted = false;
  } catch (fault) {
    if (!(fault instanceof NoMicrophone)) throw fault;
    notice(fault.message);
    $("line").focus();
  }
}

async function say(text) {
  const starting = begin(false);
  await interrupt();
  const item = newId();
  sentences.hold(text, item);
  now.phase = "thinking";
  if (!wire.say(text, item) && now.link === "lost") notice("There is no connection. This is sent when it is back.");
  show();
  await starting;
}

/** The server ended it, or did not let it begin, and said why; pressing start goes on where it was. @param {string} why */
function over(why) {
  now.link = "idle";
  now.phase = "listening";
  now.talking = false;
  player.end();
  notice(why);
  show();
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

/** Another conversation takes the place of this one; who was talking goes on talking, in it. */
function goOn(thread, lines) {
  const talking = now.link !== "idle";
  if (talking) quiet();
  stopped.clear();
  wire.close();
  wire.begin(thread);
  sentences.begin(lines);
  heardSoFar = "";
  now.phase = "listening";
  now.talking = now.held = false;
  now.link = talking ? "connecting" : "idle";
  notice("");
  if (!lines.length && bot.first) live.show(bot.first, "hint");
  if (talking) wire.connect();
  else $("start").textContent = lines.length ? "Go on talking" : START;
  show();
}

function show() {
  const [state, mood] = inWords(now, settings.way);
  if ($("state").textContent !== state) $("state").textContent = state;
  orb.mood = mood;
  document.body.dataset.state = now.audible ? "speaking" : now.link === "open" ? now.phase : now.link;
  const mic = $("mic");
  mic.hidden = now.link === "idle";
  mic.dataset.on = wayIn.open ? "yes" : "no";
  mic.ariaPressed = String(wayIn.pressed);
  mic.ariaLabel = mic.title = micInWords(now, settings.way);
  $("start").hidden = now.link !== "idle";
  microphone.talk(wayIn.open);
  debug({ phase: now.phase, link: now.link });
}

function notice(text) {
  if ($("notice").textContent !== text) $("notice").textContent = text ?? "";
}

// --- what people press ---

$("start").addEventListener("click", () => begin(true));
$("mic").addEventListener("click", () => (now.microphone ? wayIn.click() : begin(true)));
holdable($("mic"), () => wayIn.held, () => wayIn.press(), () => wayIn.release());
writable($("say"), $("line"), say);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]") && now.audible) interrupt();
});

$("fold").addEventListener("click", () => {
  const open = $("fold").ariaPressed !== "true";
  $("fold").ariaPressed = String(open);
  document.body.classList.toggle("folded", !open);
});
$("cog").addEventListener("click", () => $("settings").showModal());
fillSettings($("settings"), settings, (name) => {
  if (name === "shape") orb.setAttribute("shape", settings.shape);
  else wire.update();
  if (name === "speaks" && !settings.speaks) quiet();
  if (name === "way") wayIn.changed();
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
document.addEventListener("visibilitychange", () => !document.hidden && context?.resume());

// --- as the page opens ---

orb.setAttribute("shape", settings.shape);
if (bot.first) live.show(bot.first, "hint");
notice(whyNoMicrophone());
$("start").textContent = START;
show();
const start = $("start");
start.disabled = true;
whenReady($("loading")).then(() => {
  start.disabled = false;
  document.body.dataset.ready = "yes";
});
