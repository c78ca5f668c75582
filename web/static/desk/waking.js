// One row of what wakes a bot: a mention, a schedule or an event, and only what that kind needs.
// It holds a plain value. The one rule: what it does not know of a row stays in the row.

import { make } from "./make.js";

const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/**
 * @param {any} value @param {(value: any) => void} changed @param {() => void} gone
 * @returns {HTMLElement}
 */
export function row(value, changed, gone) {
  let held = value;
  const body = make("div", { className: "row-parts" });
  const kind = make("select", { ariaLabel: "What wakes it" });
  for (const [name, words] of [["mention", "A mention"], ["schedule", "A time"], ["event", "An event"]]) {
    kind.append(make("option", { value: name }, words));
  }
  if (!["mention", "schedule", "event"].includes(kindOf(value))) kind.append(make("option", { value: kindOf(value) }, kindOf(value)));
  kind.value = kindOf(value);
  const put = (/** @type {any} */ next) => changed((held = next));
  const draw = () => body.replaceChildren(...(PARTS[/** @type {"event"} */ (kind.value)]?.(held, put) ?? []));
  kind.addEventListener("change", () => {
    put(FRESH[/** @type {"event"} */ (kind.value)]());
    draw();
  });
  const out = make("button", { type: "button", className: "tool", ariaLabel: "Take this row out", title: "Take out" }, "×");
  out.addEventListener("click", gone);
  draw();
  return make("div", { className: "waking", role: "group", ariaLabel: "A way to wake it" }, make("span", { className: "line" }, kind), body, out);
}

const FRESH = {
  mention: () => "mention",
  schedule: () => ({ schedule: { every: "week", on: ["monday"], at: "08:00" }, in: "", ask: "" }),
  event: () => ({ event: "", ask: "" }),
};

/** @type {Record<string, (value: any, put: (value: any) => void) => HTMLElement[]>} */
const PARTS = {
  mention: () => [],
  event: (value, put) => [
    words("Event", value.event ?? "", "purchase.paid", (event) => put((value = { ...value, event }))),
    words("It is asked", value.ask ?? "", "", (ask) => put((value = { ...value, ask }))),
  ],
  schedule: (value, put) => {
    const time = (/** @type {object} */ part) => put((value = { ...value, schedule: { ...value.schedule, ...part } }));
    const every = make("select", {}, ...["day", "week", "month"].map((one) => make("option", { value: one }, one)));
    every.value = value.schedule?.every ?? "week";
    const days = make("div", { className: "days", role: "group", ariaLabel: "On" });
    const on = new Set(value.schedule?.on ?? []);
    for (const day of DAYS) {
      const input = make("input", { type: "checkbox", checked: on.has(day), ariaLabel: day });
      input.addEventListener("change", () => {
        input.checked ? on.add(day) : on.delete(day);
        time({ on: DAYS.filter((one) => on.has(one)) });
      });
      days.append(make("label", { title: day }, input, make("span", { aria: { hidden: "true" } }, day.slice(0, 2))));
    }
    const show = () => (days.hidden = every.value !== "week");
    every.addEventListener("change", () => {
      show();
      const { on: _on, ...rest } = value.schedule ?? {};
      put((value = { ...value, schedule: every.value === "week" ? { ...rest, every: "week", on: [...on] } : { ...rest, every: every.value } }));
    });
    show();
    return [
      make("label", {}, make("span", {}, "Every"), make("span", { className: "line" }, every)),
      days,
      words("At", value.schedule?.at ?? "", "08:00", (at) => time({ at })),
      words("In", value.in ?? "", "space/channel", (place) => put((value = { ...value, in: place }))),
      words("It is asked", value.ask ?? "", "", (ask) => put((value = { ...value, ask }))),
    ];
  },
};

/** @param {string} name @param {string} value @param {string} placeholder @param {(value: string) => void} changed */
function words(name, value, placeholder, changed) {
  const input = make("input", { type: "text", value, placeholder, autocomplete: "off" });
  input.addEventListener("input", () => changed(input.value));
  return make("label", {}, make("span", {}, name), input);
}

/** @param {any} value @returns {string} */
function kindOf(value) {
  return typeof value === "string" ? value : Object.keys(value ?? {})[0] ?? "mention";
}
