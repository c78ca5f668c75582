// The receipt under an answer: how soon the first word was, and where the time went. One folded line, and a small
// waterfall inside. It shows what the trace says and makes nothing up: a time that is missing is not drawn.

// The stages, in the order in which they come, as the trace names them and in words. Each is a length of its own: what
// was prepared during the silence ran beside the wait, so the lengths may add up to more than the whole.
const STAGES = [
  ["eot_wait_ms", "silence waited"],
  ["words_ms", "your words"],
  ["first_token_ms", "first token"],
  ["first_sound_ms", "first sound"],
  ["first_word_ms", "first word"],
];

/** @param {object} trace @returns {HTMLDetailsElement | null} */
export function receipt(trace) {
  const stages = STAGES.map(([key, label]) => [label, trace[key]]).filter(([, ms]) => Number.isFinite(ms));
  const facts = factsOf(trace);
  if (!stages.length && !facts.length) return null;
  const box = document.createElement("details");
  box.className = "receipt";
  const soon = trace.first_word_ms;
  box.append(element("summary", Number.isFinite(soon) ? `First word in ${inWords(soon)}` : "How it went"));
  if (stages.length) box.append(waterfall(stages, trace));
  const list = document.createElement("dl");
  for (const [name, value] of facts) list.append(element("dt", name), element("dd", value));
  box.append(list);
  return box;
}

/** What is known in words; what did not happen is left out. */
function factsOf(trace) {
  const { prompt, completion } = trace.tokens ?? {};
  const heard = Number.isFinite(trace.heard_at) && `${trace.heard_at.toFixed(1)} s into the conversation`;
  const facts = [
    ["heard", heard],
    ["your turn", [trace.verdict, trace.decided_by && `by ${trace.decided_by}`].filter(Boolean).join(", ")],
    ["prepared", trace.speculated && "while the silence was waited for"],
    ["thrown away", trace.wasted > 0 && `${trace.wasted} earlier ${trace.wasted === 1 ? "try" : "tries"}`],
    ["interrupted", trace.interrupted && "yes"],
    ["voice", trace.fallen && `this server's own from here on: ${trace.fallen}`],
    ["answered by", [trace.model, trace.provider && `on ${trace.provider}`].filter(Boolean).join(" ")],
    ["tokens", Number.isFinite(completion) && `${prompt ?? 0} read, ${completion} written`],
  ];
  return facts.filter(([, value]) => value);
}

function waterfall(stages, trace) {
  const places = place(trace);
  const end = Math.max(1, ...stages.map(([label, ms]) => (places[label] ?? 0) + ms));
  const list = document.createElement("ol");
  list.className = "fall";
  for (const [label, ms] of stages) {
    const row = document.createElement("li");
    const bar = document.createElement("i");
    bar.style.marginInlineStart = `${((places[label] ?? 0) / end) * 100}%`;
    bar.style.inlineSize = `${Math.max(1, (ms / end) * 100)}%`;
    const track = document.createElement("span");
    track.append(bar);
    row.append(element("b", label), track, element("em", inWords(ms)));
    list.append(row);
  }
  return list;
}

/** Where each stage began, where that follows from the trace: one thing after another, or all from the start. */
function place({ speculated, eot_wait_ms: wait = 0, words_ms: words = 0, first_token_ms: token = 0 }) {
  if (speculated) return { "first token": words, "first sound": words + token };
  return { "first token": wait, "first sound": wait + token };
}

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function inWords(ms) {
  return Math.abs(ms) < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
