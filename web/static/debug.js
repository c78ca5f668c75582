// `?debug`: levels, bar, state and queue depth, live. Without it nothing is made and nothing is counted.

const box = new URLSearchParams(location.search).has("debug") ? document.createElement("pre") : null;
if (box) document.body.append(Object.assign(box, { className: "debug" }));

/** @type {Record<string, unknown>} */
const known = {};

/** @param {Record<string, unknown>} facts what is so now; what was said before stays */
export function debug(facts) {
  if (!box) return;
  for (const [name, value] of Object.entries(facts)) if (name !== "type" && name !== "event_id") known[name] = value;
  box.textContent = JSON.stringify(known, null, 1);
}
