// Sound as text and back, as the Realtime events carry it.

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
