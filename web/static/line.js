// The line of a conversation: a call by WebRTC first, and behind it the WebSocket, which goes wherever the page came from.
// It looks like a WebSocket and is open once either is. The one rule: whoever waits is not told twice.

import { Call, NoCall } from "./call.js";

// On one machine nothing is lost on the way, so there is nothing that a call would mend; there the WebSocket's sound
// is sooner by the encoder and two jitter buffers. `?line=call` and `?line=socket` choose.
const HERE = ["localhost", "127.0.0.1", "[::1]"];
let callsFail = false;

function callFirst() {
  const chosen = new URLSearchParams(location.search).get("line");
  if (callsFail || chosen === "socket" || !window.RTCPeerConnection) return false;
  return chosen === "call" || !HERE.includes(location.hostname);
}

/** A line for `grant`. @param {string} grant @param {Ear} ear @typedef {{track: MediaStreamTrack | null, onSound: (stream: MediaStream) => void}} Ear */
export function openLine(grant, ear) {
  return new Line(grant, ear);
}

class Line {
  constructor(grant, ear) {
    this.closed = false;
    this.inner = null;
    /** @type {((event?: any) => void) | null} */
    this.onopen = null;
    /** @type {((event?: any) => void) | null} */
    this.onmessage = null;
    /** @type {((event?: any) => void) | null} */
    this.onclose = null;
    this.#open(grant, ear);
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

  async #open(grant, ear) {
    if (callFirst() && (await this.#call(grant, ear))) return;
    // Whoever left while a call was tried has left: no second way in is opened for nobody.
    if (this.closed) return;
    const url = new URL("/v1/realtime", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url, ["realtime", `openai-insecure-api-key.${grant}`]);
    socket.onopen = () => this.onopen?.();
    this.#take(socket);
  }

  /** Gives whether there is a call now. */
  async #call(grant, ear) {
    const call = new Call(grant, ear.track, ear.onSound);
    this.inner = call;
    this.#take(call);
    try {
      await call.open();
    } catch (fault) {
      if (!(fault instanceof NoCall)) console.info(fault);
      callsFail = true;
      this.inner = null;
      return false;
    }
    if (this.closed) call.close();
    else this.onopen?.();
    if (ear.track !== call.track) call.hear(ear.track);
    return true;
  }

  #take(inner) {
    this.inner = inner;
    inner.onmessage = (event) => this.onmessage?.(event);
    inner.onclose = (event) => this.onclose?.(event);
  }
}
