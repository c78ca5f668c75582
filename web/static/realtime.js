// The conversation's wire: OpenAI's Realtime events over a WebSocket, with what Firstword adds to them.
// It knows events, not pictures or loudspeakers. Lost connections come back by themselves, with the lines said so far.

import { fromBase64, toBase64 } from "./bytes.js";

const BACKOFF_MS = [400, 1000, 2000, 4000, 8000, 15000];
// More than this waiting to be sent is a network that does not carry sound: frames are dropped rather than late.
const MOST_WAITING_BYTES = 128 * 1024;
// So many earlier lines are told again after a reconnect; a conversation needs its thread, not its archive.
const TOLD_AGAIN = 20;
// A grant lasts minutes, a conversation may last longer: so long before its end a fresh one is fetched, in a quiet moment.
const RENEW_BEFORE_S = 90;
const ASK_QUIET_MS = 3000;
const KEPT = "kept:";

export class Realtime {
  /**
   * @param {string} bot
   * @param {object} on   what happens, by name; see page.js
   * @param {() => object} session   the `session` of a session.update, as it should be now
   * @param {() => {role: string, text: string}[]} lines   what was said so far
   */
  constructor(bot, on, session, lines) {
    Object.assign(this, { bot, on, session, lines });
    this.socket = null;
    this.wanted = false;
    this.tries = 0;
    this.timer = 0;
    this.was = false;
    this.renewal = 0;
    this.items = new Map();
    this.waiting = [];
    this.response = null;
    addEventListener("online", () => this.#again(0));
  }

  get open() {
    return this.socket?.readyState === WebSocket.OPEN;
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
    this.socket?.close?.(1000);
  }

  /** The session's settings changed. */
  update() {
    this.send({ type: "session.update", session: this.session() });
  }

  /** @param {ArrayBuffer} pcm */
  sound(pcm) {
    if (!this.open || this.socket.bufferedAmount > MOST_WAITING_BYTES) return;
    this.send({ type: "input_audio_buffer.append", audio: toBase64(pcm) });
  }

  /** A typed line. Where there is no connection it waits for one; gives whether it went at once. @param {string} text */
  say(text) {
    if (!this.open) {
      this.waiting.push(text);
      return false;
    }
    this.#item("user", text);
    this.send({ type: "response.create" });
    return true;
  }

  /** The sound so far is everything: answer it. */
  commit() {
    this.send({ type: "input_audio_buffer.commit" });
    this.send({ type: "response.create" });
  }

  forgetSound() {
    this.send({ type: "input_audio_buffer.clear" });
  }

  /** Stop the answer that is being made, if there is one. */
  cancel() {
    if (this.response) this.send({ type: "response.cancel" });
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

  #item(role, text) {
    const type = role === "user" ? "input_text" : "output_text";
    this.send({ type: "conversation.item.create", item: { type: "message", role, content: [{ type, text }] } });
  }

  async #dial() {
    clearTimeout(this.timer);
    if (!this.wanted || this.socket) return;
    this.socket = { readyState: WebSocket.CONNECTING };
    let started;
    try {
      const reply = await fetch(`/app/voice/${encodeURIComponent(this.bot)}/start`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: "{}",
      });
      if (!reply.ok) {
        const body = await reply.json().catch(() => ({}));
        const why = body.error?.message ?? body.detail ?? `The server answered ${reply.status}.`;
        if (reply.status < 500 && reply.status !== 429) return this.#refused(String(why));
        throw new Error(why);
      }
      started = await reply.json();
    } catch {
      return this.#lost();
    }
    this.#renewAt(started.expires_at);
    const url = new URL("/v1/realtime", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url, ["realtime", `openai-insecure-api-key.${started.grant}`]);
    this.socket = socket;
    socket.onopen = () => this.#opened();
    socket.onmessage = ({ data }) => this.#hear(JSON.parse(data));
    socket.onclose = () => this.#lost();
  }

  #opened() {
    this.tries = 0;
    this.update();
    if (this.was) for (const { role, text } of this.lines().slice(-TOLD_AGAIN)) this.#item(role, text);
    this.was = true;
    this.on.open();
    for (const text of this.waiting.splice(0)) this.say(text);
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

  #refused(why) {
    this.wanted = false;
    this.socket = null;
    this.on.refused(why);
  }

  #lost() {
    this.socket = null;
    this.response = null;
    if (!this.wanted) return;
    this.on.lost(this.was);
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
      case "input_audio_buffer.speech_started":
        return on.speech(event);
      case "input_audio_buffer.speech_stopped":
      case "input_audio_buffer.committed":
        return on.speechEnded();
      case "conversation.item.input_audio_transcription.delta":
        return on.partial(event.delta, true);
      case "conversation.item.input_audio_transcription.completed":
        return on.heard(event.transcript.trim());
      case "conversation.item.input_audio_transcription.failed":
        return on.heard("");
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
      case "output_audio_buffer.cleared":
        return on.quiet();
      case "conversation.item.retrieved":
        return on.kept(event.item);
      case "firstword.partial":
        return on.partial(event.text, false);
      case "firstword.hold":
        return on.hold(event.held ?? event.hold ?? event.on ?? false);
      case "firstword.state":
        return on.state(event.state ?? event.phase);
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
