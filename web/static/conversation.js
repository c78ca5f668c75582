// The conversation: the wire, the microphone, the loudspeaker and what is said, joined. It decides nothing about a turn
// and draws nothing: what changed is told to `seen`. The one rule: a sentence is in one place at a time.

import { newId } from "./bytes.js";
import { debug } from "./debug.js";
import { Microphone, NoMicrophone, whyNoMicrophone } from "./microphone.js";
import { Player } from "./player.js";
import { Realtime } from "./realtime.js";
import { Sentences } from "./sentences.js";
import { receipt } from "./trace.js";
import { WayIn } from "./way-in.js";

const RATE = { type: "audio/pcm", rate: 24000 };

/**
 * @typedef {object} Seen where it is seen
 * @property {any} orb
 * @property {import("./live.js").Live} live
 * @property {import("./transcript.js").Transcript} transcript
 * @property {() => void} show something about the moment changed
 * @property {(text: string, passing?: boolean) => void} notice something to be told; what is `passing` need not stay
 * @property {(text: string) => void} past something told is no longer so
 * @property {(text: string) => void} told an answer, for those who do not see it
 * @property {() => void} write the person is asked to write
 */

export class Conversation {
  /** @param {string} bot @param {import("./settings.js").Settings} settings @param {Seen} seen */
  constructor(bot, settings, seen) {
    this.settings = settings;
    this.seen = seen;
    /** What is known of the moment. @type {import("./words.js").Moment} */
    this.now = { link: "idle", phase: "listening", audible: false, held: false, muted: false, talking: false, microphone: false };
    this.sentences = new Sentences(seen.live, seen.transcript);
    this.player = new Player((progress) => this.#played(progress));
    this.microphone = new Microphone((pcm, level) => this.#frame(pcm, level), () => this.#deaf());
    this.wire = new Realtime(bot, this.#events(), () => this.#session(), () => seen.transcript.lines);
    this.wayIn = new WayIn(this.now, settings, {
      enable: (on) => this.microphone.enable(on),
      interrupt: () => this.interrupt(),
      forget: () => this.wire.forgetSound(),
      commit: () => this.wire.commit(),
      show: seen.show,
    });
    /** Answers that were stopped: what still comes of them is not for the loudspeaker. */
    this.stopped = new Set();
    /** @type {AudioContext | null} */
    this.context = null;
    this.heardSoFar = "";
    this.sounding = "";
    this.greeting = false;
    /** Why the last answer that failed did. */
    this.failed = "";
  }

  /** Begin, or go on, with the microphone or without. Called in a click, the only moment in which sound may begin.
   * @param {boolean} withMicrophone */
  async begin(withMicrophone) {
    const sound = this.#wakeSound();
    if (this.now.link === "idle") {
      this.now.link = "connecting";
      this.greeting = withMicrophone;
      this.seen.live.dark();
      this.seen.show();
      this.wire.connect();
    }
    const heard = withMicrophone && !this.microphone.open ? this.#openMicrophone() : null;
    await Promise.all([sound, heard]);
    this.seen.show();
  }

  /** A line that the person wrote. @param {string} text */
  async say(text) {
    const starting = this.begin(false);
    await this.interrupt();
    const item = newId();
    this.sentences.hold(text, item);
    this.now.phase = "thinking";
    if (!this.wire.say(text, item) && this.now.link === "lost") {
      this.seen.notice("There is no connection. This is sent when it is back.");
    }
    this.seen.show();
    await starting;
  }

  /** The person takes the turn, by key or by button. */
  async interrupt() {
    // Nothing answers what waits any more: it stands where it was said.
    if (this.wire.cancel()) this.sentences.settle();
    await this.quiet();
  }

  /** The loudspeaker is silent at once, and the server is told what had been heard. */
  async quiet() {
    const heard = await this.#hush();
    if (heard) this.wire.truncate(heard.item, heard.playedMs);
  }

  /** The loudspeaker is silent at once. */
  #hush() {
    this.now.held = false;
    if (this.sounding) this.stopped.add(this.sounding);
    this.sounding = "";
    return this.player.clear();
  }

  /** Another conversation takes the place of this one; who was talking goes on talking, in it.
   * @param {string} thread "" is a fresh one @param {import("./sentences.js").Said[]} lines */
  goOn(thread, lines) {
    const talking = this.now.link !== "idle";
    if (talking) this.quiet();
    this.stopped.clear();
    this.wire.close();
    this.wire.begin(thread);
    this.sentences.begin(lines);
    this.heardSoFar = "";
    this.now.phase = "listening";
    this.now.talking = this.now.held = false;
    this.now.link = talking ? "connecting" : "idle";
    this.seen.notice("");
    if (talking) this.wire.connect();
    this.seen.show();
  }

  /** A choice that the server has to know. @param {string} name */
  changed(name) {
    this.wire.update();
    // What was being said is written to its end.
    if (name === "speaks" && !this.settings.speaks) this.#hush();
    if (name === "way") this.wayIn.changed();
  }

  #session() {
    const { speed, voice, speaks, language, way } = this.settings;
    const output = { format: RATE, speed };
    if (voice) output.voice = voice;
    return {
      type: "realtime",
      output_modalities: [speaks ? "audio" : "text"],
      audio: {
        input: {
          format: RATE,
          transcription: { language },
          turn_detection: way === "open" ? { type: "server_vad" } : null,
        },
        output,
      },
      // The bot's first sentence is said once, to somebody who came to talk.
      firstword: { events: true, greet: this.greeting },
    };
  }

  async #wakeSound() {
    if (!this.context) {
      this.context = new AudioContext({ latencyHint: "interactive" });
      await this.player.start(this.context).catch((fault) => {
        // What keeps the microphone from a page was told as it opened, and mostly keeps this too.
        if (!whyNoMicrophone()) this.seen.notice(`There is no sound here (${fault.message}). Answers are written.`);
      });
    }
    await this.context.resume();
  }

  async #openMicrophone() {
    try {
      await this.microphone.start(this.context);
      this.wire.hear(this.microphone.line);
      this.now.microphone = true;
      this.now.muted = false;
    } catch (fault) {
      if (!(fault instanceof NoMicrophone)) throw fault;
      this.seen.notice(fault.message);
      this.seen.write();
    }
  }

  #frame(pcm, level) {
    if (!this.wayIn.hears) return;
    this.seen.orb.microphone(level);
    debug({ microphone: level.toFixed(3) });
    this.wire.sound(pcm);
  }

  #deaf() {
    this.now.microphone = false;
    this.wire.hear(null);
    this.seen.notice("The microphone went away. You can write instead.");
    this.seen.show();
  }

  #played(progress) {
    const was = this.now.audible;
    this.now.audible = progress.audible;
    this.seen.orb.assistant(progress.level, progress.audible);
    debug({ queue_ms: Math.round(progress.queuedMs), start_ms: Math.round(progress.startMs), dry: progress.dry });
    if (was !== progress.audible) this.seen.show();
  }

  /** The server ended it, or did not let it begin, and said why; pressing start goes on where it was. @param {string} why */
  #over(why) {
    this.now.link = "idle";
    this.now.phase = "listening";
    this.now.talking = this.now.held = false;
    this.player.gone();
    this.seen.notice(why);
    this.seen.show();
  }

  #phase(phase) {
    this.now.phase = phase;
    this.seen.show();
  }

  /** What the wire tells, and what is done about it. */
  #events() {
    const { now, player, sentences, seen, settings } = this;
    const over = (why) => this.#over(why);
    return {
      idle: () => !now.audible && !sentences.pending && !now.talking && now.phase === "listening",
      open: () => {
        this.greeting = false;
        if (now.link === "lost") seen.notice("The connection is back.", true);
        now.link = "open";
        seen.show();
      },
      lost: (was, why) => {
        if (why) seen.notice(why);
        else if (now.link !== "lost") seen.notice(was ? "The connection was lost. What you write is sent when it is back." : "");
        now.link = was ? "lost" : "connecting";
        now.held = false;
        player.gone();
        // What was sent is not sent again: it stands, and nobody answers it.
        if (!this.wire.waiting.some(({ item }) => item === sentences.pending?.item)) sentences.settle();
        this.#phase("listening");
      },
      refused: over,
      ended: over,
      speech: () => {
        this.heardSoFar = "";
        this.quiet();
        this.#phase("hearing");
      },
      speechEnded: () => now.phase === "hearing" && this.#phase("pausing"),
      partial: (text, more) => {
        this.heardSoFar = more ? this.heardSoFar + text : text;
        if (this.heardSoFar) seen.live.show(this.heardSoFar, "live");
      },
      heard: (item, text) => {
        this.heardSoFar = "";
        if (text) sentences.hold(text, item);
        else sentences.nothing();
      },
      thinking: () => {
        seen.past(this.failed);
        this.#phase("thinking");
      },
      words: (item, delta) => sentences.grow(item, delta),
      wordsDone: (item, text) => {
        sentences.whole(item, text);
        if (text) seen.told(text);
      },
      sound: (item, pcm) => {
        if (this.stopped.has(item) || !settings.speaks) return;
        this.sounding = item;
        player.push(item, pcm);
      },
      stream: (stream) => player.follow(stream),
      sounding: (audible) => player.sounds(audible),
      soundDone: () => player.end(),
      done: (response) => {
        if (response.status === "cancelled") this.quiet();
        if (response.status === "failed" || response.status === "incomplete") {
          sentences.settle();
          const why = response.status_details?.error?.message;
          if (why) seen.notice((this.failed = why));
        }
        if (now.phase === "thinking") now.phase = "listening";
        seen.show();
      },
      quiet: () => this.quiet(),
      kept: (item) => {
        const text = (item.content ?? []).map((part) => part.transcript ?? part.text ?? "").join(" ").trim();
        sentences.stands(item.id, text);
      },
      hold: (held) => {
        now.held = held;
        if (held) player.pause();
        else player.resume();
        seen.show();
      },
      state: (phase) => {
        // What was being heard came to nothing: it was a noise, or the microphone was turned off in the middle of it.
        if (phase === "listening" && this.heardSoFar) {
          this.heardSoFar = "";
          sentences.nothing();
        }
        this.#phase(phase);
      },
      level: debug,
      trace: (trace) => {
        const made = receipt(trace);
        if (made) sentences.attach(trace.item_id, made);
      },
      error: (error) => {
        // What the page asked in vain (a cancel that came too late) is no news to anybody.
        if (error.type !== "invalid_request_error" || error.code?.startsWith("thread_")) seen.notice(error.message);
        else console.info(error.message);
      },
    };
  }
}
