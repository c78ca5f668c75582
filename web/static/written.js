// Written turns in a room: Realtime events in, one text stream a turn out, and back again.
// It knows no page and no sound. The one rule: a line is a turn when an answer is asked for, and has one answer.

const INPUT = "copilot.input";
const OUTPUT = "copilot.output";
// What a worker says as it leaves a room that another may take.
const LEAVING = "worker_leaving";

export class Written {
  /** @param {any} room @param {(event: any) => void} tell  what happened, as a Realtime event @param {(words: string) => void} onGoodbye */
  constructor(room, tell, onGoodbye) {
    this.room = room;
    this.tell = tell;
    this.onGoodbye = onGoodbye;
    this.thread = "";
    /** @type {{id: string, text: string} | null} */
    this.line = null;
    room.registerTextStreamHandler(OUTPUT, (reader) => this.#answer(reader));
  }

  /** What the page sends. @param {any} event */
  take(event) {
    if (event.type === "session.update") {
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
    } else if (event.type === "response.cancel") {
      this.#send(" ", { cancel: "yes" });
    }
  }

  #send(text, attributes) {
    this.room.localParticipant.sendText(text, { topic: INPUT, attributes }).catch(() => {});
  }

  async #answer(reader) {
    const { turn, item, thread, ended } = reader.info.attributes ?? {};
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
  }
}
