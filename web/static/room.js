// A room of a LiveKit server: the conversation's line where one is configured. A worker answers there; with sound, it goes
// both ways on tracks and events go as data, and without, each written line goes on one topic and its answer on another.
// It looks like a WebSocket to whoever sends on it. LiveKit's own library is fetched, from this server, only here.

import { LEAVING, Written } from "./written.js";

const EVENTS = "oai-events";
// No worker by then: the direct path is taken.
const WORKER_MS = 5000;
// What the worker shows once it takes turns: a participant is told of before data reaches it.
const READY = "copilot.ready";
const LIBRARY = new URL("livekit-client.js", import.meta.url).href;

/** There is no room to be had here, or nobody in it. */
export class NoRoom extends Error {}

export class Room {
  /** @param {string} grant @param {{url: string, token: string, agent: string, audio: boolean}} pass @param {MediaStreamTrack | null} microphone @param {(stream: MediaStream) => void} onSound */
  constructor(grant, pass, microphone, onSound) {
    this.grant = grant;
    this.pass = pass;
    this.carriesSound = pass.audio;
    /** @type {number} */
    this.readyState = WebSocket.CONNECTING;
    /** @type {(event?: any) => void} */
    this.onmessage = () => {};
    /** @type {(event?: any) => void} */
    this.onclose = () => {};
    this.track = microphone;
    this.onSound = onSound;
    this.words = "";
    /** @type {any} */
    this.room = null;
    /** What goes into a room without sound. @type {Written | null} */
    this.written = null;
    this.published = null;
    this.bufferedAmount = 0;
  }

  send(text) {
    if (this.readyState !== WebSocket.OPEN) return;
    if (this.written) this.written.take(JSON.parse(text));
    else this.room.localParticipant.publishData(new TextEncoder().encode(text), { reliable: true, topic: EVENTS });
  }

  /** Whether nothing that is said can be heard here. */
  get textAlone() {
    return !this.carriesSound;
  }

  /** What the person says from now on; null is nothing. @param {MediaStreamTrack | null} track */
  async hear(track) {
    this.track = track;
    if (this.carriesSound && this.readyState === WebSocket.OPEN) await this.#publish();
  }

  close() {
    this.#end(1000, "");
  }

  /** Join, and wait for the worker. Throws NoRoom where that takes too long. */
  async open() {
    const late = new Promise((_, reject) => setTimeout(() => reject(new NoRoom("no worker came")), WORKER_MS));
    try {
      await Promise.race([this.#join(), late]);
    } catch (fault) {
      this.#end(1006, "");
      throw fault instanceof NoRoom ? fault : new NoRoom(String(fault));
    }
    this.readyState = WebSocket.OPEN;
    if (this.carriesSound) this.#publish();
  }

  async #join() {
    await import(LIBRARY);
    const { Room: LiveKitRoom, RoomEvent, Track } = /** @type {any} */ (globalThis).LivekitClient;
    const room = new LiveKitRoom({ stopLocalTrackOnUnpublish: false });
    this.room = room;
    this.source = Track.Source.Microphone;
    const here = new Promise((resolve) => {
      const look = () => [...room.remoteParticipants.values()].some((other) => other.attributes[READY]) && resolve(null);
      room.on(RoomEvent.Connected, look);
      room.on(RoomEvent.ParticipantConnected, look);
      room.on(RoomEvent.ParticipantAttributesChanged, look);
    });
    room.on(RoomEvent.ParticipantDisconnected, (other) => other.isAgent && this.#over());
    room.on(RoomEvent.Disconnected, () => this.#over());
    room.on(RoomEvent.TrackSubscribed, (track) => this.onSound(new MediaStream([track.mediaStreamTrack])));
    room.on(RoomEvent.DataReceived, (data, _who, _kind, topic) => topic === EVENTS && this.#take(new TextDecoder().decode(data)));
    if (!this.carriesSound) {
      const tell = (event) => queueMicrotask(() => this.onmessage({ data: JSON.stringify(event) }));
      this.written = new Written(room, this.grant, tell, (words) => (this.words = words));
    }
    await room.connect(this.pass.url, this.pass.token);
    await here;
    if (this.readyState === WebSocket.CLOSED) room.disconnect();
  }

  #take(data) {
    const event = JSON.parse(data);
    // A worker that is being stopped leaves without a word: the line is dialled again, and another worker comes.
    if (event.type === "error" && event.error.code === LEAVING) return;
    if (event.type === "error" && event.error.code === "session_ended") this.words = event.error.message;
    else this.onmessage({ data });
  }

  async #publish() {
    const me = this.room.localParticipant;
    if (this.published) await me.unpublishTrack(this.published, false);
    this.published = this.track;
    if (this.track) await me.publishTrack(this.track, { source: this.source, dtx: true });
  }

  /** The worker is gone, or we are: what it said last says whether that was meant. */
  #over() {
    this.#end(this.words ? 1000 : 1006, this.words);
  }

  #end(code, reason) {
    if (this.readyState === WebSocket.CLOSED) return;
    const open = this.readyState === WebSocket.OPEN;
    this.readyState = WebSocket.CLOSED;
    this.room?.disconnect();
    if (open) this.onclose({ code, reason });
  }
}
