// The receipt under an answer: how soon the first word was, and where the time went. One folded line, and a small
// waterfall inside. It shows what the trace says and makes nothing up: a time that is missing is not drawn.

// A stage of the turn: the name it has in the trace, and in words. All times count from the end of speech.
const STAGES = [
  ["speech_end", "you stopped"],
  ["words", "words"],
  ["end_of_turn", "your turn ended"],
  ["asked", "asked"],
  ["first_token", "first token"],
  ["first_piece", "first piece"],
  ["first_sound", "first sound"],
  ["first_word", "first word"],
];
const LABELS = Object.fromEntries(STAGES);

/** @param {object} trace @returns {HTMLDetailsElement | null} */
export function receipt(trace) {
  const { marks, facts } = read(trace);
  if (!marks.length && !facts.length) return null;
  const box = document.createElement("details");
  box.className = "receipt";
  const line = document.createElement("summary");
  const soon = marks.find(([name]) => name === "first_word") ?? marks.find(([name]) => name === "first_sound");
  line.textContent = soon ? `First word in ${inWords(soon[1])}` : "How it went";
  box.append(line);
  if (marks.length) box.append(waterfall(marks));
  if (facts.length) {
    const list = document.createElement("dl");
    for (const [name, value] of facts) list.append(element("dt", name), element("dd", value));
    box.append(list);
  }
  return box;
}

function read(trace) {
  const marks = [];
  const facts = [];
  const flat = { ...trace, ...trace.times, ...trace.marks };
  for (const [key, value] of Object.entries(flat)) {
    if (["type", "event_id", "item_id", "response_id"].includes(key) || value === null || value === "") continue;
    if (key.endsWith("_ms") && Number.isFinite(value)) marks.push([key.slice(0, -3), value]);
    else if (typeof value === "boolean") facts.push([spoken(key), value ? "yes" : "no"]);
    else if (typeof value === "number" || typeof value === "string") facts.push([spoken(key), String(value)]);
  }
  return { marks: marks.sort((one, other) => one[1] - other[1]), facts };
}

function waterfall(marks) {
  const first = Math.min(0, marks[0][1]);
  const span = Math.max(1, marks.at(-1)[1] - first);
  const list = document.createElement("ol");
  list.className = "fall";
  let before = first;
  for (const [name, at] of marks) {
    const row = document.createElement("li");
    const bar = document.createElement("i");
    bar.style.marginInlineStart = `${((before - first) / span) * 100}%`;
    bar.style.inlineSize = `${Math.max(1, ((at - before) / span) * 100)}%`;
    const track = document.createElement("span");
    track.append(bar);
    row.append(element("b", LABELS[name] ?? spoken(name)), track, element("em", inWords(at)));
    list.append(row);
    before = Math.max(before, at);
  }
  return list;
}

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function spoken(key) {
  return key.replace(/_/g, " ");
}

function inWords(ms) {
  return Math.abs(ms) < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
