// A call: the conversation's line by WebRTC. Sound goes both ways on a track, events on a data channel.
// It looks like a WebSocket to whoever sends on it; what it carries is realtime.js's to say.

const LINE = "oai-events";
const CALLS = "/v1/realtime/calls";
// No way through the network by then: the WebSocket is taken, which finds one wherever this page came from.
const CONNECT_MS = 10000;
// Candidates that are there at once go with the offer; later ones follow.
const GATHER_MS = 300;

/** There is no call to be had here: not now, or not with this server. */
export class NoCall extends Error {}

export class Call {
  /** @param {string} grant @param {MediaStreamTrack | null} microphone @param {(stream: MediaStream) => void} onSound */
  constructor(grant, microphone, onSound) {
    this.headers = { Authorization: `Bearer ${grant}` };
    this.carriesSound = true;
    /** @type {number} */
    this.readyState = WebSocket.CONNECTING;
    /** @type {(event?: any) => void} */
    this.onmessage = () => {};
    /** @type {(event?: any) => void} */
    this.onclose = () => {};
    this.track = microphone;
    this.onSound = onSound;
    this.words = "";
  }

  get bufferedAmount() {
    return this.channel?.bufferedAmount ?? 0;
  }

  send(text) {
    if (this.channel?.readyState === "open") this.channel.send(text);
  }

  /** What the person says from now on; null is nothing. @param {MediaStreamTrack | null} track */
  async hear(track) {
    this.track = track;
    await this.sender?.replaceTrack(track);
  }

  close() {
    this.#end(1000, "");
    // The connection's own farewell may be lost; the server is told by the door it knows.
    if (this.where) fetch(`${this.where}/hangup`, { method: "POST", headers: this.headers, keepalive: true }).catch(() => {});
  }

  /** Connect. Throws NoCall where that cannot be. */
  async open() {
    const servers = await this.#ask(CALLS, {});
    const peer = new RTCPeerConnection({ iceServers: (await servers.json()).ice_servers });
    this.peer = peer;
    this.channel = peer.createDataChannel(LINE);
    const sound = peer.addTransceiver("audio", { direction: "sendrecv" });
    this.sender = sound.sender;
    await this.sender.replaceTrack(this.track);
    peer.ontrack = ({ track, streams }) => this.onSound(streams[0] ?? new MediaStream([track]));
    const late = [];
    peer.onicecandidate = ({ candidate }) => candidate && late.push(candidate);
    await peer.setLocalDescription();
    await gathered(peer);
    late.length = 0;
    const headers = { "Content-Type": "application/sdp" };
    const reply = await this.#ask(CALLS, { method: "POST", headers, body: peer.localDescription.sdp });
    this.where = reply.headers.get("location");
    const tell = (candidate) => this.#candidate(candidate);
    peer.onicecandidate = ({ candidate }) => tell(candidate);
    for (const candidate of late) tell(candidate);
    await peer.setRemoteDescription({ type: "answer", sdp: await reply.text() });
    await this.#connected();
    this.readyState = WebSocket.OPEN;
    this.channel.onmessage = ({ data }) => this.#take(data);
    this.channel.onclose = () => this.#end(this.words ? 1000 : 1006, this.words);
    peer.onconnectionstatechange = () => peer.connectionState === "failed" && this.#end(1006, "");
  }

  #connected() {
    return new Promise((resolve, reject) => {
      const no = (why) => {
        this.#end(1006, "");
        reject(new NoCall(why));
      };
      const timer = setTimeout(() => no("no way through the network was found"), CONNECT_MS);
      this.channel.onopen = () => {
        clearTimeout(timer);
        resolve();
      };
      // What comes before the line is handed over waits for it.
      this.channel.onmessage = ({ data }) => queueMicrotask(() => this.#take(data));
      this.peer.onconnectionstatechange = () => ["failed", "closed"].includes(this.peer.connectionState) && no("the network refused");
    });
  }

  #take(data) {
    const event = JSON.parse(data);
    if (event.type === "error" && event.error.code === "session_ended") this.words = event.error.message;
    else this.onmessage({ data });
  }

  async #ask(url, options) {
    const headers = { ...this.headers, ...options.headers };
    const reply = await fetch(url, { ...options, headers }).catch((fault) => {
      throw new NoCall(fault.message);
    });
    if (!reply.ok) throw new NoCall(`the server answered ${reply.status}`);
    return reply;
  }

  #candidate(candidate) {
    const body = `a=mid:${candidate?.sdpMid ?? 0}\r\na=${candidate?.candidate || "end-of-candidates"}\r\n`;
    const headers = { ...this.headers, "Content-Type": "application/trickle-ice-sdpfrag" };
    fetch(this.where, { method: "PATCH", headers, body }).catch(() => {});
  }

  #end(code, reason) {
    if (this.readyState === WebSocket.CLOSED) return;
    const open = this.readyState === WebSocket.OPEN;
    this.readyState = WebSocket.CLOSED;
    this.peer?.close();
    if (open) this.onclose?.({ code, reason });
  }
}

/** @param {RTCPeerConnection} peer */
function gathered(peer) {
  if (peer.iceGatheringState === "complete") return Promise.resolve();
  return new Promise((resolve) => {
    peer.onicegatheringstatechange = () => peer.iceGatheringState === "complete" && resolve();
    setTimeout(resolve, GATHER_MS);
  });
}
