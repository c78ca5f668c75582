// The conversation's wire: OpenAI's Realtime events over a line (a call or a WebSocket), with what Firstword adds to them.
// It knows events, not pictures or loudspeakers. Lost connections come back by themselves, with the lines said so far.

import { fromBase64, toBase64 } from "./bytes.js";
import { meant } from "./csrf.js";
import { openLine } from "./line.js";
import { ledToSignIn } from "./signin.js";
import { Unsent } from "./unsent.js";
import { sentence, whyNot } from "./why-not.js";

const BACKOFF_MS = [400, 1000, 2000, 4000, 8000, 15000];
// More than this waiting to be sent is a network that does not carry sound: frames are dropped rather than late.
const MOST_WAITING_BYTES = 128 * 1024;
// So many earlier lines are told again after a reconnect; a conversation needs its thread, not its archive.
const TOLD_AGAIN = 20;
// A grant lasts minutes, a conversation may last longer: so long before its end a fresh one is fetched, in a quiet moment.
const RENEW_BEFORE_S = 90;
const ASK_QUIET_MS = 3000;
const KEPT = "kept:";
// The server's close code for an end that was meant.
const ENDED = 1000;

export class Realtime {
  /**
   * @param {string} bot
   * @param {object} on   what happens, by name; see page.js
   * @param {() => object} session   the `session` of a session.update, as it should be now
   * @param {() => import("./sentences.js").Said[]} lines   what was said so far
   */
  constructor(bot, on, session, lines) {
    this.bot = bot;
    /** @type {any} */
    this.on = on;
    /** @type {() => any} */
    this.session = session;
    this.lines = lines;
    /** The line, or what stands for one while it is dialled. @type {any} */
    this.socket = null;
    this.wanted = false;
    this.tries = 0;
    this.dials = 0;
    this.timer = 0;
    this.was = false;
    /** The kept conversation this is; "" until the server says. */
    this.thread = "";
    this.known = false;
    this.renewal = 0;
    this.items = new Map();
    this.waiting = [];
    this.unsent = new Unsent();
    /** What was just sent of the unsent: a network is not blamed for it. */
    this.owedBytes = 0;
    this.response = null;
    /** What a call hears, and who takes its sound. @type {import("./line.js").Ear} */
    this.ear = { track: null, onSound: (stream) => on.stream(stream) };
    addEventListener("online", () => this.#again(0));
  }

  get open() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Whether the server is there and knows what this session is. */
  get ready() {
    return this.open && this.known;
  }

  /** Begin, and stay connected until `close`. */
  connect() {
    if (this.wanted) return;
    this.wanted = true;
    this.#dial();
  }

  close() {
    this.wanted = false;
    clearTimeout(this.timer);
    clearTimeout(this.renewal);
    this.dials++;
    this.unsent.clear();
    if (this.socket) this.socket.onopen = this.socket.onclose = this.socket.onmessage = null;
    this.socket?.close?.(1000);
    this.socket = null;
  }

  /** The next connection is for this kept conversation; "" is a fresh one. @param {string} thread */
  begin(thread) {
    this.thread = thread;
    this.was = this.known = false;
    this.response = null;
    this.waiting = [];
    this.unsent.clear();
    this.items.clear();
  }

  /** The session's settings changed. */
  update() {
    const session = this.session();
    if (this.thread && !this.known) session.firstword.thread = this.thread;
    this.send({ type: "session.update", session });
  }

  /** The microphone's own track, for a line that carries sound. @param {MediaStreamTrack | null} track */
  hear(track) {
    this.ear.track = track;
    // A room without sound serves who writes; who speaks goes on by the direct path, in the same thread.
    if (track && this.open && this.socket.textAlone) this.#replace();
    else this.socket?.hear?.(track);
  }

  /** A frame of 20 ms. What is heard before the server knows this session waits for that. @param {ArrayBuffer} pcm */
  sound(pcm) {
    if (!this.ready) return this.unsent.push(pcm);
    if (this.socket.carriesSound) return;
    const waitingBytes = this.socket.bufferedAmount;
    if (waitingBytes <= MOST_WAITING_BYTES) this.owedBytes = 0;
    if (waitingBytes > MOST_WAITING_BYTES + this.owedBytes) return;
    this.#append(pcm);
  }

  /** A typed line. Where there is no connection it waits for one; gives whether it went at once.
   * @param {string} text @param {string} item */
  say(text, item) {
    if (!this.ready) {
      this.waiting.push({ text, item });
      return false;
    }
    this.#item({ role: "user", text, item });
    this.send({ type: "response.create" });
    // It can be stopped before the server has named it.
    this.response ??= "";
    return true;
  }

  /** The sound so far is everything: answer it. */
  commit() {
    if (!this.ready) return this.unsent.commit();
    this.send({ type: "input_audio_buffer.commit" });
    this.send({ type: "response.create" });
  }

  forgetSound() {
    this.unsent.clear();
    this.send({ type: "input_audio_buffer.clear" });
  }

  /** Stop the answer that is being made; gives whether there is one. */
  cancel() {
    if (this.response !== null) this.send({ type: "response.cancel" });
    return this.response !== null;
  }

  /** @param {string} item @param {number} playedMs */
  truncate(item, playedMs) {
    this.send({ type: "conversation.item.truncate", item_id: item, content_index: 0, audio_end_ms: Math.floor(playedMs) });
    // An error that answers this means that none of it is kept.
    this.send({ type: "conversation.item.retrieve", item_id: item, event_id: `${KEPT}${item}` });
  }

  send(event) {
    if (this.open) this.socket.send(JSON.stringify(event));
  }

  /** @param {ArrayBuffer} pcm */
  #append(pcm) {
    this.send({ type: "input_audio_buffer.append", audio: toBase64(pcm) });
  }

  /** A call carries what is said from now on; what was said before goes as events there too. */
  #sendUnsent() {
    const { frames, committed } = this.unsent.take();
    for (const pcm of frames) this.#append(pcm);
    this.owedBytes = this.socket.bufferedAmount;
    if (committed) this.commit();
  }

  /** @param {import("./sentences.js").Said} said */
  #item({ role, text, item }) {
    const type = role === "user" ? "input_text" : "output_text";
    const named = item ? { id: item } : {};
    this.send({ type: "conversation.item.create", item: { ...named, type: "message", role, content: [{ type, text }] } });
  }

  async #dial() {
    clearTimeout(this.timer);
    if (!this.wanted || this.socket) return;
    this.socket = { readyState: WebSocket.CONNECTING };
    const dial = ++this.dials;
    let started;
    try {
      const reply = await fetch(`/app/voice/${encodeURIComponent(this.bot)}/start`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...meant() },
        body: "{}",
      });
      if (!reply.ok) {
        const body = await reply.json().catch(() => ({}));
        const why = body.error?.message ?? body.detail ?? `The server answered ${reply.status}.`;
        if (dial !== this.dials) return;
        const text = this.waiting.map((said) => said.text).join(" ");
        if (ledToSignIn(reply, { thread: this.thread, text })) return this.#over("refused", "Your sign-in has ended; you are taken to it again.");
        if (reply.status < 500 && reply.status !== 429) return this.#over("refused", String(why));
        throw new Error(why);
      }
      started = await reply.json();
    } catch {
      return dial === this.dials ? this.#lost() : undefined;
    }
    // Left meanwhile, or dialled again: this one is nobody's.
    if (dial !== this.dials) return;
    this.#renewAt(started.expires_at);
    const socket = openLine(started, this.ear);
    this.socket = socket;
    let opened = false;
    socket.onopen = () => {
      opened = true;
      this.tries = 0;
      this.known = false;
      this.update();
    };
    socket.onmessage = ({ data }) => this.#hear(JSON.parse(data));
    socket.onclose = (event) => this.#closed(event, opened ? "" : started.grant);
  }

  /** The server knows what this session is. Where it could not read what was said before, it is told. */
  #updated({ thread, lines }) {
    if (this.known) {
      this.thread = thread ?? this.thread;
      return;
    }
    this.known = true;
    const asked = this.thread;
    this.thread = thread ?? "";
    if ((this.was || asked) && lines == null) for (const said of this.lines().slice(-TOLD_AGAIN)) this.#item(said);
    this.was = true;
    this.#sendUnsent();
    this.on.open();
    for (const { text, item } of this.waiting.splice(0)) this.say(text, item);
  }

  #renewAt(expires_at) {
    clearTimeout(this.renewal);
    if (!expires_at) return;
    const renew = () => {
      if (!this.open || !this.on.idle()) this.renewal = setTimeout(renew, ASK_QUIET_MS);
      else this.#replace();
    };
    const left_s = expires_at - Date.now() / 1000 - RENEW_BEFORE_S;
    this.renewal = setTimeout(renew, Math.max(ASK_QUIET_MS, left_s * 1000));
  }

  /** The same conversation on a fresh connection; nobody notices. */
  #replace() {
    this.socket.onclose = this.socket.onmessage = null;
    this.socket.close(1000);
    this.socket = null;
    this.#dial();
  }

  /** An end that was meant has a sentence; one that never began may have one too. @param {CloseEvent} event */
  async #closed({ code, reason }, grant) {
    if (code === ENDED && reason) return this.#over("ended", sentence(reason));
    const no = grant && (await whyNot(grant));
    if (no && !no.again && this.wanted) return this.#over("refused", no.why);
    this.#lost(no ? no.why : "");
  }

  #over(how, why) {
    this.wanted = false;
    this.socket = null;
    this.response = null;
    this.unsent.clear();
    clearTimeout(this.renewal);
    this.on[how](why);
  }

  #lost(why = "") {
    this.socket = null;
    this.response = null;
    if (!this.wanted) return;
    this.on.lost(this.was, why);
    const wait = BACKOFF_MS[Math.min(this.tries++, BACKOFF_MS.length - 1)];
    this.#again(wait * (0.8 + 0.4 * Math.random()));
  }

  #again(wait_ms) {
    clearTimeout(this.timer);
    if (this.wanted && !this.socket) this.timer = setTimeout(() => this.#dial(), wait_ms);
  }

  #hear(event) {
    const on = this.on;
    switch (event.type) {
      case "session.updated":
        return this.#updated(event.session?.firstword ?? {});
      case "input_audio_buffer.speech_started":
        return on.speech(event);
      case "input_audio_buffer.speech_stopped":
      case "input_audio_buffer.committed":
        return on.speechEnded();
      case "conversation.item.input_audio_transcription.delta":
        return on.partial(event.delta, true);
      case "conversation.item.input_audio_transcription.completed":
        return on.heard(event.item_id, event.transcript.trim());
      case "conversation.item.input_audio_transcription.failed":
        return on.heard(event.item_id, "");
      case "response.created":
        this.response = event.response.id;
        return on.thinking();
      case "response.output_audio_transcript.delta":
      case "response.output_text.delta":
        this.items.set(event.response_id, event.item_id);
        return on.words(event.item_id, event.delta);
      case "response.output_audio_transcript.done":
        return on.wordsDone(event.item_id, event.transcript);
      case "response.output_text.done":
        return on.wordsDone(event.item_id, event.text);
      case "response.output_audio.delta":
        return on.sound(event.item_id, fromBase64(event.delta));
      case "response.output_audio.done":
        return on.soundDone();
      case "response.done":
        this.response = null;
        return on.done(event.response);
      case "output_audio_buffer.started":
        return on.sounding(true);
      case "output_audio_buffer.stopped":
        return on.sounding(false);
      case "output_audio_buffer.cleared":
        return on.quiet();
      case "conversation.item.retrieved":
        return on.kept(event.item);
      case "firstword.partial":
        return on.partial(event.text, false);
      case "firstword.hold":
        return on.hold(event.held);
      case "firstword.state":
        return on.state(event.state);
      case "firstword.level":
        return on.level(event);
      case "firstword.trace":
        return on.trace({ item_id: this.items.get(event.response_id), ...event });
      case "error":
        if (event.error.event_id?.startsWith(KEPT)) return on.kept({ id: event.error.event_id.slice(KEPT.length) });
        return on.error(event.error);
    }
  }
}
