// The state of a conversation in words, for the eye and for the ear. Pure: what the page knows goes in, words come out.
// The one rule: what is said here is what is so; nothing is promised.

/**
 * @typedef {object} Moment what the page knows of the moment
 * @property {"idle" | "connecting" | "open" | "lost"} link
 * @property {string} phase listening, hearing, pausing, thinking or speaking, as the server has it
 * @property {boolean} audible there is sound on the loudspeaker
 * @property {boolean} held playback is paused: was that a person?
 * @property {boolean} muted
 * @property {boolean} talking the button is held
 * @property {boolean} microphone it is open
 */

/** The state, and the orb's mood. @param {Moment} now @param {string} way @returns {[string, string]} */
export function inWords(now, way) {
  if (now.link === "idle") return ["", "rest"];
  if (now.link === "connecting") return ["Connecting…", "connecting"];
  if (now.link === "lost") return ["Connecting again…", "connecting"];
  if (now.talking || now.held) return ["Listening…", "rest"];
  if (now.audible) return ["Speaking", "rest"];
  if (now.phase === "thinking" || now.phase === "pausing") return ["Thinking…", "thinking"];
  if (now.phase === "hearing") return ["Listening…", "rest"];
  if (!now.microphone) return ["Write to me", "rest"];
  if (way === "hold") return ["Hold the button and speak", "rest"];
  if (way === "push") return ["Press the button and speak", "rest"];
  return [now.muted ? "Microphone off" : "Listening", "rest"];
}

/** What the microphone's button does now. @param {Moment} now @param {string} way */
export function micInWords(now, way) {
  if (!now.microphone) return "Turn the microphone on";
  if (way === "open") return now.muted ? "Microphone is off: turn it on" : "Turn the microphone off";
  if (way === "push") return now.talking ? "Send what you said" : "Press to speak";
  return "Hold to speak";
}

/** When something was, as a person says it. @param {number} at_s Unix seconds @param {Date} now */
export function whenInWords(at_s, now) {
  const at = new Date(at_s * 1000);
  const days = Math.round((dayOf(now) - dayOf(at)) / 86_400_000);
  const time = at.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });
  if (days <= 0) return time;
  if (days === 1) return `Yesterday, ${time}`;
  const year = at.getFullYear() === now.getFullYear() ? {} : { year: "numeric" };
  if (days < 7) return `${at.toLocaleDateString([], { weekday: "long" })}, ${time}`;
  return at.toLocaleDateString([], { day: "numeric", month: "long", .../** @type {object} */ (year) });
}

/** @param {Date} date */
function dayOf(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
