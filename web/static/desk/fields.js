// A field: its name, its control, what holds anyway, and what is wrong with it, each where the other is.
// What kind of control is `controls.js`'s and `lists.js`'s. The one rule: what the compile says of a value stands under
// that value, and the control says to whoever cannot see it that it does.

import { control } from "./controls.js";
import { make } from "./make.js";
import { sentence } from "./server.js";
import { same, shown } from "./words.js";

/**
 * @typedef {{ key: string, label: string, help: string, control: string, unit: string, value: any, own: boolean,
 *   kind: string, usual: any, taken?: boolean, least?: number | null, most?: number | null, longest?: number | null,
 *   choices: [string, string][] }} Field
 */

export class FieldBox {
  /** @param {Field} field @param {any} offers @param {import("./draft.js").Draft} draft @param {any} brought */
  constructor(field, offers, draft, brought) {
    this.field = field;
    this.draft = draft;
    this.id = `f-${field.key.replace(/\W/g, "-")}`;
    this.control = control(field, { id: this.id, offers, brought, change: (value) => this.#changed(value) });
    this.fault = make("p", { className: "fault", id: `${this.id}-fault`, hidden: true });
    this.was = make("span");
    this.back = make("button", { type: "button", className: "link" });
    this.back.addEventListener("click", () => this.#putBack());
    this.mark = make("p", { className: "mark", hidden: true }, this.was, this.back);
    const help = [field.help, this.#usual()].filter(Boolean).join(" ");
    this.help = make("p", { className: "help", id: `${this.id}-help` }, help);
    const name = make(this.control.group ? "legend" : "label", {}, field.label);
    if (!this.control.group) name.htmlFor = this.id;
    const box = this.control.group ? "fieldset" : "div";
    this.element = make(box, { className: "field", data: { key: field.key } }, name, this.control.element, this.fault);
    this.element.append(this.mark, help ? this.help : "");
    this.told = help ? `${this.fault.id} ${this.help.id}` : this.fault.id;
    this.control.set(draft.value(field));
    this.show([], {});
  }

  /** @param {any} value */
  #changed(value) {
    this.draft.set(this.field.key, value);
    this.#mark({});
  }

  #usual() {
    const { usual, kind, unit, taken, least, most, control: how } = this.field;
    if (["names", "rows", "switch"].includes(kind) || how === "drawings" || how === "voice") return "";
    const range = least != null && most != null && most < 1000 ? `${least} to ${most}. ` : "";
    if (usual == null || usual === "") return this.field.key.startsWith("limits.per.") ? "Empty: no ceiling." : range.trim();
    const said = this.field.choices.find(([value]) => value === usual)?.[1] ?? shown(usual);
    return `${range}${taken ? "Taken over" : "Usually"}: ${said}${unit ? ` ${unit}` : ""}.`;
  }

  /** @param {{ what: string }[]} refusals of this field @param {Record<string, any>} conflicts */
  show(refusals, conflicts) {
    const wrong = refusals.length > 0;
    this.fault.hidden = !wrong;
    this.fault.textContent = refusals.map((each) => sentence(each.what)).join(" ");
    for (const input of this.control.inputs) {
      input.setAttribute("aria-describedby", this.told);
      // A button holds no value that could be wrong.
      if (wrong && input.tagName !== "BUTTON") input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
    this.#mark(conflicts);
  }

  /** What it was, and the way back. @param {Record<string, any>} conflicts */
  #mark(conflicts) {
    const { key, value } = this.field;
    const changed = key in this.draft.changes && !same(this.draft.value(this.field), value);
    this.mark.hidden = !changed;
    if (!changed) return;
    const theirs = key in conflicts;
    this.was.textContent = theirs ? `Somebody else made it: ${shown(conflicts[key])}. ` : key === "body" ? "Changed. " : `Was: ${shown(value)}. `;
    this.back.textContent = theirs ? "Take theirs" : "Put it back";
    this.back.ariaLabel = `${this.back.textContent}: ${this.field.label}`;
    this.mark.dataset.theirs = String(theirs);
  }

  #putBack() {
    const { key, value } = this.field;
    this.control.set(value);
    this.draft.set(key, value);
    this.control.inputs[0]?.focus();
    this.#mark({});
  }

  /** Say what the file says now. @param {Field} field */
  renew(field) {
    this.field = field;
    this.control.set(this.draft.value(field));
    this.show([], {});
  }
}
