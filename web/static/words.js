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

// Made once: to make one takes longer than to draw the row it is for.
const TIME = new Intl.DateTimeFormat([], { hour: "numeric", minute: "2-digit" });
const WEEKDAY = new Intl.DateTimeFormat([], { weekday: "long" });
const DAY = new Intl.DateTimeFormat([], { day: "numeric", month: "long" });
const DAY_OF_A_YEAR = new Intl.DateTimeFormat([], { day: "numeric", month: "long", year: "numeric" });

/** When something was, as a person says it. @param {number} at_s Unix seconds @param {Date} now */
export function whenInWords(at_s, now) {
  const at = new Date(at_s * 1000);
  const days = Math.round((dayOf(now) - dayOf(at)) / 86_400_000);
  if (days <= 0) return TIME.format(at);
  if (days === 1) return `Yesterday, ${TIME.format(at)}`;
  if (days < 7) return `${WEEKDAY.format(at)}, ${TIME.format(at)}`;
  return (at.getFullYear() === now.getFullYear() ? DAY : DAY_OF_A_YEAR).format(at);
}

/** @param {Date} date */
function dayOf(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
