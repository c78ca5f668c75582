// Controls: one way to say a value for each kind of it. A bad value can be typed: what is wrong with it is the compile's
// to say. The one rule: `set` puts a value on the screen and tells nobody; a person's hand tells.

import { audience, checks, chips, rows, skills } from "./lists.js";
import { make } from "./make.js";

/**
 * @typedef {{ element: HTMLElement, inputs: any[], set: (value: any) => void, group?: boolean }} Control
 * @typedef {{ id: string, offers: any, brought: any, change: (value: any) => void }} Given
 */

const NUMBER = /^-?\d+(\.\d+)?$/;

/** @param {import("./fields.js").Field} field @param {Given} given @returns {Control} */
export function control(field, given) {
  switch (field.control) {
    case "long":
      return long(field, given);
    case "engine":
      return engine(given);
    case "voice":
      return line(field, given, "words", voicesOf(given.offers));
    case "drawings":
      return drawings(field, given);
    case "chips":
      return chips(given, "Add a voice");
    case "checks":
      return checks(field, given);
    case "skills":
      return skills(given);
    case "audience":
      return audience(field, given);
    case "rows":
      return rows(given);
  }
  if (field.kind === "choice") return select(given, field.choices);
  if (field.kind === "switch") return select(given, [["", "where it costs nothing"], ["true", "always"], ["false", "never"]], toSwitch);
  if (field.key === "extends") return select(given, [["", "nothing"], ...given.offers.bots.map((/** @type {string} */ slug) => [slug, slug])]);
  return line(field, given, field.kind);
}

/** @param {any} field @param {Given} given @param {string} kind @param {string[]} [offered] @returns {Control} */
function line(field, given, kind, offered = []) {
  const number = kind === "number" || kind === "whole";
  const input = make("input", { type: "text", id: given.id, autocomplete: "off", spellcheck: !number });
  if (number) input.inputMode = kind === "whole" ? "numeric" : "decimal";
  if (offered.length) input.setAttribute("list", `${given.id}-list`);
  input.addEventListener("input", () => given.change(number ? toNumber(input.value) : input.value));
  const { unit } = field;
  const element = make("div", { className: number ? "line number" : "line" }, input, unit && make("span", { className: "unit" }, unit));
  if (offered.length) element.append(make("datalist", { id: `${given.id}-list` }, ...offered.map((value) => make("option", { value }))));
  const set = (/** @type {any} */ value) => {
    // Somebody who types has not finished: 1.0 stays 1.0.
    if (!number || toNumber(input.value) !== value) input.value = value == null ? "" : String(value);
  };
  return { element, inputs: [input], set };
}

/** @param {any} field @param {Given} given @returns {Control} */
function long(field, given) {
  const body = field.key === "body";
  const input = make("textarea", { id: given.id, rows: body ? 14 : 2 });
  const send = () => given.change(body ? input.value : input.value.replace(/\s*\n\s*/g, " "));
  input.addEventListener("input", send);
  return { element: input, inputs: [input], set: (value) => value !== input.value && (input.value = value ?? "") };
}

/** @param {Given} given @param {[string, string][]} choices @param {(value: string) => any} [read] @returns {Control} */
function select(given, choices, read = (value) => value) {
  const input = make("select", { id: given.id }, ...choices.map(([value, words]) => make("option", { value }, words)));
  input.addEventListener("change", () => given.change(read(input.value)));
  const set = (/** @type {any} */ value) => {
    const wanted = value == null ? "" : String(value);
    // A file may name what is not on the list; the list then has it.
    if (![...input.options].some((each) => each.value === wanted)) input.append(make("option", { value: wanted }, wanted));
    input.value = wanted;
  };
  return { element: make("div", { className: "line" }, input), inputs: [input], set };
}

/** @param {Given} given @returns {Control} */
function engine(given) {
  /** @type {{ name: string, why_not: string }[]} */
  const engines = given.offers.engines;
  const made = select(given, engines.map(({ name, why_not: why }) => [name, why ? `${name} (not here)` : name]));
  const note = make("p", { className: "help" });
  made.element.append(note);
  const tell = () => (note.textContent = engines.find(({ name }) => name === made.inputs[0].value)?.why_not ?? "");
  made.inputs[0].addEventListener("change", tell);
  const set = made.set;
  return { ...made, set: (value) => (set(value), tell()) };
}

/** @param {any} field @param {Given} given @returns {Control} */
function drawings(field, given) {
  const inputs = field.choices.map(([value]) => make("input", { type: "radio", name: given.id, value }));
  const labels = inputs.map((/** @type {HTMLInputElement} */ input) => {
    const orb = make("fw-orb", { aria: { hidden: "true" } });
    orb.setAttribute("shape", input.value);
    orb.setAttribute("sample", "");
    input.addEventListener("change", () => given.change(input.value));
    return make("label", {}, input, orb, make("b", {}, input.value));
  });
  const set = (/** @type {any} */ value) => inputs.forEach((/** @type {any} */ each) => (each.checked = each.value === value));
  return { element: make("div", { className: "drawings" }, ...labels), inputs, set, group: true };
}

/** @param {any} offers @returns {string[]} */
function voicesOf(offers) {
  return offers.engines.flatMap((/** @type {any} */ each) => each.voices);
}

/** @param {string} said */
function toNumber(said) {
  const text = said.trim();
  return text === "" ? null : NUMBER.test(text) ? Number(text) : text;
}

/** @param {string} value */
function toSwitch(value) {
  return value === "" ? null : value === "true";
}
