// The page's wiring: the wire, the microphone, the loudspeaker and what is seen, joined.
// What each of them does is in its own file. The one rule: a sentence is in one place at a time.

import "./live.js";
import "./orb.js";
import "./transcript.js";
import { whenReady } from "./loading.js";
import { Microphone, NoMicrophone, whyNoMicrophone } from "./microphone.js";
import { Player } from "./player.js";
import { Realtime } from "./realtime.js";
import { Settings, fillSettings } from "./settings.js";
import { receipt } from "./trace.js";

const $ = (id) => document.getElementById(id);
const bot = document.body.dataset;
const settings = new Settings(bot);
const orb = $("orb");
const live = $("live");
const transcript = $("transcript");

// After the key is let go the last frames are still on their way through the worklet.
const TAIL_MS = 120;
const RATE = { type: "audio/pcm", rate: 24000 };

/** What the page knows of the moment; `show` draws all of it. */
const now = { link: "idle", phase: "listening", audible: false, held: false, muted: false, talking: false, microphone: false };
const answers = new Map();
const stopped = new Set();
let context = null;
let pending = "";
let heardSoFar = "";
let sounding = "";
let latest = null;
let greeting = false;
let clientHeard = { level: 0 };

const player = new Player((progress) => {
  now.audible = progress.audible;
  orb.assistant(progress.level, progress.audible);
  debug({ queue_ms: Math.round(progress.queuedMs), start_ms: Math.round(progress.startMs), dry: progress.dry });
  show();
});

const microphone = new Microphone(
  (pcm, level) => {
    if (!listening()) return;
    clientHeard.level = level;
    orb.microphone(level);
    wire.sound(pcm);
  },
  () => {
    now.microphone = false;
    notice("The microphone went away. You can write instead.");
    show();
  },
);

const wire = new Realtime(
  bot.bot,
  {
    idle: () => !now.audible && !pending && !now.talking && now.phase === "listening",
    open() {
      greeting = false;
      if (now.link === "lost") notice("The connection is back.");
      now.link = "open";
      show();
    },
    lost(was) {
      if (now.link !== "lost") notice(was ? "The connection was lost. What you write is sent when it is back." : "");
      now.link = was ? "lost" : "connecting";
      now.phase = "listening";
      player.end();
      show();
    },
    refused(why) {
      now.link = "idle";
      notice(why);
      show();
    },
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
    heard(text) {
      heardSoFar = "";
      if (text) hold(text);
      else if (!pending) live.dark();
    },
    thinking() {
      now.phase = "thinking";
      show();
    },
    words(item, delta) {
      const line = answer(item);
      transcript.write(line, line.querySelector(".words").textContent + delta);
    },
    wordsDone(item, text) {
      if (!text && !answers.has(item)) return;
      transcript.write(answer(item), text);
      $("spoken").textContent = text;
    },
    sound(item, pcm) {
      if (stopped.has(item) || !settings.speaks) return;
      sounding = item;
      player.push(item, pcm);
    },
    soundDone() {
      player.end();
    },
    done(response) {
      if (response.status === "cancelled") quiet();
      if (response.status === "failed" || response.status === "incomplete") {
        settle();
        const why = response.status_details?.error?.message;
        if (why) notice(why);
      }
      if (now.phase === "thinking") now.phase = "listening";
      show();
    },
    quiet,
    kept(item) {
      const line = answers.get(item.id);
      const text = (item.content ?? []).map((part) => part.transcript ?? part.text ?? "").join(" ").trim();
      if (line && text) transcript.write(line, text);
      else line?.remove();
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
      const line = answers.get(trace.item_id) ?? latest;
      if (made && line) transcript.attach(line, made);
    },
    error(error) {
      // What the page asked in vain (a cancel that came too late) is no news to anybody.
      if (error.type !== "invalid_request_error") notice(error.message);
      else console.info(error.message);
    },
  },
  session,
  () => transcript.lines,
);

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

/** One sentence waits in the live line for its answer. */
function hold(text) {
  settle();
  pending = text;
  live.show(text, "held");
}

/** The waiting sentence takes its place in the transcript. */
function settle() {
  if (pending) transcript.add("user", pending);
  pending = "";
  live.dark();
}

function answer(item) {
  if (!answers.has(item)) {
    settle();
    latest = transcript.add("assistant", "");
    answers.set(item, latest);
  }
  return answers.get(item);
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

function listening() {
  if (!now.microphone || now.link !== "open") return false;
  return settings.way === "open" ? !now.muted : now.talking;
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
  hold(text);
  now.phase = "thinking";
  if (!wire.say(text) && now.link === "lost") notice("There is no connection. This is sent when it is back.");
  show();
  await starting;
}

function press() {
  if (now.talking) return;
  now.talking = true;
  interrupt();
  wire.forgetSound();
  show();
}

function release() {
  if (!now.talking) return;
  setTimeout(() => {
    now.talking = false;
    wire.commit();
    show();
  }, TAIL_MS);
}

function mute() {
  now.muted = !now.muted;
  microphone.enable(!now.muted);
  if (now.muted) wire.forgetSound();
  show();
}

/** The microphone's one button: mutes where it is open, is the way in where it is pressed or held. */
function pressed() {
  if (!now.microphone) return begin(true);
  if (settings.way === "open") return mute();
  if (settings.way === "push") return now.talking ? release() : press();
}

function show() {
  const [state, mood] = inWords();
  if ($("state").textContent !== state) $("state").textContent = state;
  orb.mood = mood;
  document.body.dataset.state = now.audible ? "speaking" : now.link === "open" ? now.phase : now.link;
  const mic = $("mic");
  mic.hidden = now.link === "idle";
  mic.dataset.on = listening() ? "yes" : "no";
  mic.ariaPressed = String(settings.way === "open" ? now.muted : now.talking);
  mic.ariaLabel = mic.title = micLabel();
  $("start").hidden = now.link !== "idle";
}

function inWords() {
  if (now.link === "idle") return ["", "rest"];
  if (now.link === "connecting") return ["Connecting…", "connecting"];
  if (now.link === "lost") return ["Connecting again…", "connecting"];
  if (now.talking || now.held) return ["Listening…", "rest"];
  if (now.audible) return ["Speaking", "rest"];
  if (now.phase === "thinking" || now.phase === "pausing") return ["Thinking…", "thinking"];
  if (now.phase === "hearing") return ["Listening…", "rest"];
  if (!now.microphone) return ["Write to me", "rest"];
  if (settings.way === "hold") return ["Hold the button and speak", "rest"];
  if (settings.way === "push") return ["Press the button and speak", "rest"];
  return [now.muted ? "Microphone off" : "Listening", "rest"];
}

function micLabel() {
  if (!now.microphone) return "Turn the microphone on";
  if (settings.way === "open") return now.muted ? "Microphone is off: turn it on" : "Turn the microphone off";
  if (settings.way === "push") return now.talking ? "Send what you said" : "Press to speak";
  return "Hold to speak";
}

function notice(text) {
  if ($("notice").textContent !== text) $("notice").textContent = text ?? "";
}

const debugged = {};
function debug(facts) {
  if (!debugBox) return;
  for (const [name, value] of Object.entries(facts)) if (name !== "type" && name !== "event_id") debugged[name] = value;
  Object.assign(debugged, { phase: now.phase, link: now.link, microphone: clientHeard.level.toFixed(3) });
  debugBox.textContent = JSON.stringify(debugged, null, 1);
}
const debugBox = new URLSearchParams(location.search).has("debug") ? document.createElement("pre") : null;
if (debugBox) document.body.append(Object.assign(debugBox, { className: "debug" }));

// --- what people press ---

$("start").addEventListener("click", () => begin(true));
$("mic").addEventListener("click", pressed);
for (const down of ["pointerdown", "keydown"]) {
  $("mic").addEventListener(down, (event) => {
    if (settings.way !== "hold" || !now.microphone || (down === "keydown" && ![" ", "Enter"].includes(event.key))) return;
    event.preventDefault();
    if (event.pointerId !== undefined) $("mic").setPointerCapture(event.pointerId);
    press();
  });
}
for (const up of ["pointerup", "pointercancel", "keyup", "blur"]) {
  $("mic").addEventListener(up, () => settings.way === "hold" && release());
}

const line = $("line");
line.addEventListener("input", () => {
  line.style.blockSize = "auto";
  line.style.blockSize = `${line.scrollHeight}px`;
});
line.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  $("say").requestSubmit();
});
$("say").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = line.value.trim();
  line.value = "";
  line.style.blockSize = "auto";
  if (text) say(text);
});
addEventListener("keydown", (event) => event.key === "Escape" && !$("settings").open && now.audible && interrupt());

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
  if (name === "way") {
    now.talking = now.muted = false;
    microphone.enable(true);
    wire.forgetSound();
  }
  show();
});
addEventListener("pagehide", () => wire.close());
addEventListener("pageshow", (event) => event.persisted && now.link !== "idle" && wire.connect());
document.addEventListener("visibilitychange", () => !document.hidden && context?.resume());

// --- as the page opens ---

orb.setAttribute("shape", settings.shape);
if (bot.first) live.show(bot.first, "hint");
notice(whyNoMicrophone());
if (whyNoMicrophone()) $("start").textContent = "Start";
show();
const start = $("start");
start.disabled = true;
whenReady($("loading")).then(() => {
  start.disabled = false;
  document.body.dataset.ready = "yes";
});
