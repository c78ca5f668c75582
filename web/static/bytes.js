// Bytes as text and back, as the Realtime events carry them: sound, and names for lines.

/** @param {ArrayBuffer} pcm */
export function toBase64(pcm) {
  return btoa(String.fromCharCode(...new Uint8Array(pcm)));
}

/** @param {string} text @returns {ArrayBuffer} */
export function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}

/** An id for a line that this page makes. Random enough among one person's lines; no secure context is needed for it. */
export function newId() {
  return `item_${[...crypto.getRandomValues(new Uint8Array(10))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
