// Written turns in a room: Realtime events in, one text stream a turn out, and back again. Where answers are to be heard,
// the server itself reads the whole one aloud; a room without sound carries none.
// It knows no page. The one rule: a line is a turn when an answer is asked for, and has one answer.

import { toBase64 } from "./bytes.js";

const ALOUD = "/v1/audio/speech";
const INPUT = "copilot.input";
const OUTPUT = "copilot.output";
// What a worker says as it leaves a room that another may take.
export const LEAVING = "worker_leaving";
const AGAIN_MS = 3000;

export class Written {
  /** @param {any} room @param {string} grant @param {(event: any) => void} tell  what happened, as a Realtime event @param {(words: string) => void} onGoodbye */
  constructor(room, grant, tell, onGoodbye) {
    this.room = room;
    this.grant = grant;
    /** The session as the page last told it. @type {any} */
    this.session = {};
    this.tell = tell;
    this.onGoodbye = onGoodbye;
    this.thread = "";
    /** @type {{id: string, text: string} | null} */
    this.line = null;
    this.unheard = 0;
    room.registerTextStreamHandler(OUTPUT, (reader) => this.#answer(reader));
  }

  /** What the page sends. @param {any} event */
  take(event) {
    if (event.type === "session.update") {
      this.session = event.session;
      this.thread = event.session.firstword?.thread ?? this.thread;
      // The worker knows a thread when a turn names it; until then nothing has to be told again.
      this.tell({ type: "session.updated", session: { firstword: { thread: this.thread, lines: 0 } } });
    } else if (event.type === "conversation.item.create") {
      const { id, role, content } = event.item;
      this.line = role === "user" ? { id, text: content[0].text } : null;
    } else if (event.type === "response.create" && this.line) {
      const { id, text } = this.line;
      this.line = null;
      this.#send(text, { turn: id, ...(this.thread ? { thread: this.thread } : {}) });
      // Where nothing comes back it is sent again, under the same id, and taken once.
      this.unheard = setTimeout(() => this.#send(text, { turn: id }), AGAIN_MS);
    } else if (event.type === "response.cancel") {
      this.#send(" ", { cancel: "yes" });
    }
  }

  #send(text, attributes) {
    this.room.localParticipant.sendText(text, { topic: INPUT, attributes }).catch(() => {});
  }

  async #answer(reader) {
    const { turn, item, thread, ended } = reader.info.attributes ?? {};
    clearTimeout(this.unheard);
    if (ended) {
      const words = await reader.readAll();
      return ended === LEAVING ? undefined : this.onGoodbye(words);
    }
    if (thread && thread !== this.thread) {
      this.thread = thread;
      this.tell({ type: "session.updated", session: { firstword: { thread, lines: 0 } } });
    }
    this.tell({ type: "response.created", response: { id: turn } });
    let text = "";
    let told = { status: "failed", why: "The worker broke off." };
    try {
      for await (const delta of reader) {
        text += delta;
        this.tell({ type: "response.output_text.delta", response_id: turn, item_id: item, delta });
      }
      told = { ...told, ...reader.info.attributes };
    } catch (fault) {
      console.info(fault);
    }
    if (told.status === "completed") this.tell({ type: "response.output_text.done", response_id: turn, item_id: item, text });
    const error = told.why ? { message: told.why } : null;
    this.tell({ type: "response.done", response: { id: turn, status: told.status, status_details: error && { error } } });
    const aloud = this.session.output_modalities?.includes("audio");
    if (told.status === "completed" && aloud) await this.#read(item, text).catch((fault) => console.info(fault));
  }

  async #read(item, text) {
    const { voice, speed } = this.session.audio?.output ?? {};
    const headers = { Authorization: `Bearer ${this.grant}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ model: "firstword", input: text, voice, speed, response_format: "pcm" });
    const reply = await fetch(ALOUD, { method: "POST", headers, body });
    if (!reply.ok || !reply.body) throw new Error(`the answer is not read aloud: ${reply.status}`);
    const reader = reply.body.getReader();
    let odd = new Uint8Array(0);
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      // A sample has two bytes, and a network cuts where it likes.
      const bytes = new Uint8Array([...odd, ...part.value]);
      const whole = bytes.length - (bytes.length % 2);
      odd = bytes.slice(whole);
      if (whole) this.tell({ type: "response.output_audio.delta", item_id: item, delta: toBase64(bytes.slice(0, whole).buffer) });
    }
    this.tell({ type: "response.output_audio.done" });
  }
}
