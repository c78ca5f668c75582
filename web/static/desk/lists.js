// Controls for lists: things to add and take away, checklists of what exists, a question about skills, audiences, and
// rows of what wakes a bot. The one rule: what stands in the file and is not on offer is shown all the same, so that it
// can be taken out and is never lost unseen.

import { make } from "./make.js";
import { row } from "./waking.js";
import { same } from "./words.js";

/** @typedef {import("./controls.js").Control} Control @typedef {import("./controls.js").Given} Given */

/** Words that are added one by one. @param {Given} given @param {string} what @returns {Control} */
export function chips(given, what) {
  /** @type {string[]} */
  let values = [];
  const list = make("ul", { className: "chips" });
  const input = make("input", { type: "text", ariaLabel: what, placeholder: what, autocomplete: "off" });
  const button = make("button", { type: "button", className: "button quiet" }, "Add");
  const draw = () => list.replaceChildren(...values.map((value) => chip(value, () => (put(values.filter((one) => one !== value)), input.focus()))));
  const put = (/** @type {string[]} */ next) => {
    values = next;
    draw();
    given.change(values);
  };
  const add = () => {
    const value = input.value.trim();
    input.value = "";
    if (value && !values.includes(value)) put([...values, value]);
    input.focus();
  };
  button.addEventListener("click", add);
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    add();
  });
  const set = (/** @type {any} */ value) => {
    if (same(values, value ?? [])) return;
    values = [...(value ?? [])];
    const within = list.contains(document.activeElement);
    draw();
    if (within) input.focus();
  };
  return { element: make("div", {}, list, make("div", { className: "line" }, input, button)), inputs: [input], set, group: true };
}

/** @param {string} value @param {() => void} gone */
function chip(value, gone) {
  const button = make("button", { type: "button", className: "tool", ariaLabel: `Take out ${value}`, title: "Take out" }, "×");
  button.addEventListener("click", gone);
  return make("li", {}, make("span", {}, value), button);
}

/** A checklist of what exists. @param {any} field @param {Given} given @returns {Control} */
export function checks(field, given) {
  const brought = new Set(given.brought[field.key] ?? []);
  const offered = field.key === "tools" ? given.offers.tools.map((/** @type {any} */ each) => [each.name, each.name, each.about]) : field.choices;
  return list(offered, given, brought);
}

/** @param {[string, string, string?][]} offered @param {Given} given @param {Set<string>} [brought] @returns {Control} */
function list(offered, given, brought = new Set()) {
  const element = make("div", { className: "checks" });
  /** @type {HTMLInputElement[]} */
  const inputs = [];
  /** @type {string[]} */
  let values = [];
  const changed = (/** @type {HTMLInputElement} */ input) => {
    values = input.checked ? [...values, input.value] : values.filter((one) => one !== input.value);
    given.change(values);
  };
  const add = (/** @type {string} */ value, /** @type {string} */ words, /** @type {string} */ about = "") => {
    const input = make("input", { type: "checkbox", value });
    input.addEventListener("change", () => changed(input));
    inputs.push(input);
    const more = brought.has(value) ? "comes with the bot it begins with" : about;
    element.append(make("label", {}, input, make("span", {}, make("b", {}, words), more && make("small", {}, more))));
  };
  for (const each of offered) add(...each);
  if (!offered.length) element.append(make("p", { className: "empty" }, "There is none to choose from."));
  const set = (/** @type {any} */ value) => {
    values = [...(value ?? [])];
    for (const one of values) if (!inputs.some((input) => input.value === one)) add(one, one);
    for (const input of inputs) {
      input.disabled = brought.has(input.value) && !values.includes(input.value);
      input.checked = values.includes(input.value) || brought.has(input.value);
    }
  };
  return { element, inputs, set, group: true };
}

/** All skills, those written later too, or the ones on a list. @param {Given} given @returns {Control} */
export function skills(given) {
  const { all, skills: known } = given.offers;
  const way = (/** @type {string} */ value, /** @type {string} */ words) => {
    const input = make("input", { type: "radio", name: `${given.id}-way`, value });
    return [input, make("label", { className: "way" }, input, make("span", {}, words))];
  };
  const [every, everyLabel] = way("all", "Everything there is, and what is written later");
  const [some, someLabel] = way("some", "Only these");
  let held = /** @type {string[]} */ ([]);
  const these = list(
    known.map((/** @type {any} */ each) => [each.name, each.name, each.about]),
    { ...given, change: (value) => given.change((held = value)) },
    new Set((given.brought.skills ?? []).filter((/** @type {string} */ one) => one !== all)),
  );
  const show = () => (these.element.hidden = every.checked);
  every.addEventListener("change", () => (show(), given.change([all])));
  some.addEventListener("change", () => (show(), given.change(held)));
  const set = (/** @type {any} */ value) => {
    const values = value ?? [];
    every.checked = values.includes(all);
    some.checked = !every.checked;
    if (!every.checked) held = values;
    these.set(held);
    show();
  };
  return { element: make("div", {}, everyLabel, someLabel, these.element), inputs: [every, some], set, group: true };
}

/** Words of an audience: those there are, and any tier, role or purchase. @param {any} field @param {Given} given @returns {Control} */
export function audience(field, given) {
  const words = { anyone: "Anyone", authenticated: "People who have signed in", customer: "Customers", subscribed: "Subscribers" };
  /** @type {[string, string][]} */
  const offered = given.offers.audience.map((/** @type {string} */ one) => [one, words[/** @type {"anyone"} */ (one)] ?? one.replace(":", ": ")]);
  const held = { values: /** @type {string[]} */ ([]) };
  const known = list(offered, { ...given, change: (value) => given.change((held.values = value)) });
  const input = make("input", { type: "text", placeholder: "tier:gold, role:staff, bought:book", autocomplete: "off" });
  input.ariaLabel = `Another word of “${field.label}”`;
  const button = make("button", { type: "button", className: "button quiet" }, "Add");
  const set = (/** @type {any} */ value) => known.set((held.values = [...(value ?? [])]));
  const add = () => {
    const value = input.value.trim();
    input.value = "";
    if (!value || held.values.includes(value)) return;
    set([...held.values, value]);
    given.change(held.values);
  };
  button.addEventListener("click", add);
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    add();
  });
  return { element: make("div", {}, known.element, make("div", { className: "line" }, input, button)), inputs: [...known.inputs, input], set, group: true };
}

/** What wakes a bot, a row each. @param {Given} given @returns {Control} */
export function rows(given) {
  const list = make("div", { className: "rows" });
  /** @type {any[]} */
  let values = [];
  // A list of its own: what was handed on does not change any more.
  const put = () => given.change([...values]);
  const draw = () =>
    list.replaceChildren(
      ...values.map((value, at) =>
        row(
          value,
          (next) => {
            values[at] = next;
            put();
          },
          () => {
            values.splice(at, 1);
            draw();
            put();
            add.focus();
          },
        ),
      ),
    );
  const add = make("button", { type: "button", className: "button quiet" }, "Add a way");
  add.addEventListener("click", () => {
    values.push("mention");
    draw();
    put();
    /** @type {HTMLElement} */ (list.lastElementChild?.querySelector("select"))?.focus();
  });
  const set = (/** @type {any} */ value) => {
    // Whoever writes in a row goes on writing in it.
    if (same(values, value ?? [])) return;
    values = [...(value ?? [])];
    const within = list.contains(document.activeElement);
    draw();
    if (within) add.focus();
  };
  // Of a row, its kind stands for it: that is what is marked where the row is refused.
  const kinds = () => [...list.querySelectorAll(".waking > .line > select")];
  return { element: make("div", {}, list, add), get inputs() { return [...kinds(), add]; }, set, group: true };
}
