// The line of a conversation: a LiveKit room where this site has them, else a call by WebRTC, and behind both the
// WebSocket, which goes wherever the page came from. It looks like a WebSocket and is open once one of them is.
// The one rule: whoever waits is not told twice.

import { Call, NoCall } from "./call.js";
import { NoRoom, Room } from "./room.js";

// On one machine nothing is lost on the way, so there is nothing that a call would mend; there the WebSocket's sound
// is sooner by the encoder and two jitter buffers. `?line=call` and `?line=socket` choose.
const HERE = ["localhost", "127.0.0.1", "[::1]"];
const NO_WORKER = "Nobody answered in this site's rooms; the conversation goes on with the server itself.";
let callsFail = false;
let roomsFail = false;

function chosenLine() {
  return new URLSearchParams(location.search).get("line");
}

/** A room without sound serves who writes; whoever speaks takes the direct path. */
function roomFirst(livekit, ear) {
  if (!livekit || roomsFail || !document.body.dataset.rooms || !window.RTCPeerConnection) return false;
  return !["call", "socket"].includes(chosenLine() ?? "") && (livekit.audio || !ear.track);
}

function callFirst() {
  const chosen = chosenLine();
  if (callsFail || chosen === "socket" || !window.RTCPeerConnection) return false;
  return chosen === "call" || !HERE.includes(location.hostname);
}

/** A line for what start gave. @param {{grant: string, livekit?: any}} started @param {Ear} ear @typedef {{track: MediaStreamTrack | null, onSound: (stream: MediaStream) => void}} Ear */
export function openLine(started, ear) {
  return new Line(started, ear);
}

class Line {
  constructor(started, ear) {
    this.closed = false;
    this.inner = null;
    /** @type {((event?: any) => void) | null} */
    this.onopen = null;
    /** @type {((event?: any) => void) | null} */
    this.onmessage = null;
    /** @type {((event?: any) => void) | null} */
    this.onclose = null;
    this.#open(started, ear);
  }

  get readyState() {
    return this.closed ? WebSocket.CLOSED : (this.inner?.readyState ?? WebSocket.CONNECTING);
  }

  get bufferedAmount() {
    return this.inner?.bufferedAmount ?? 0;
  }

  /** Whether sound goes beside the events. */
  get carriesSound() {
    return this.inner?.carriesSound ?? false;
  }

  /** Whether nothing that is said can be heard on it. */
  get textAlone() {
    return this.inner?.textAlone ?? false;
  }

  send(text) {
    this.inner?.send(text);
  }

  /** @param {MediaStreamTrack | null} track */
  hear(track) {
    this.inner?.hear?.(track);
  }

  close(code) {
    this.closed = true;
    this.inner?.close(code);
  }

  async #open({ grant, livekit }, ear) {
    if (roomFirst(livekit, ear)) {
      if (await this.#tried(new Room(grant, livekit, ear.track, ear.onSound), NoRoom, ear)) return;
      roomsFail = true;
      if (this.closed) return;
      this.onmessage?.({ data: JSON.stringify({ type: "error", error: { type: "room", message: NO_WORKER } }) });
    }
    if (callFirst()) {
      if (await this.#tried(new Call(grant, ear.track, ear.onSound), NoCall, ear)) return;
      callsFail = true;
    }
    // Whoever left while another way was tried has left: no second way in is opened for nobody.
    if (this.closed) return;
    const url = new URL("/v1/realtime", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url, ["realtime", `openai-insecure-api-key.${grant}`]);
    socket.onopen = () => this.onopen?.();
    this.#take(socket);
  }

  /** Gives whether this way is open now. */
  async #tried(way, No, ear) {
    this.#take(way);
    try {
      await way.open();
    } catch (fault) {
      if (!(fault instanceof No)) console.info(fault);
      this.inner = null;
      return false;
    }
    if (this.closed) way.close();
    else this.onopen?.();
    if (ear.track !== way.track) way.hear(ear.track);
    return true;
  }

  #take(inner) {
    this.inner = inner;
    inner.onmessage = (event) => this.onmessage?.(event);
    inner.onclose = (event) => this.onclose?.(event);
  }
}
