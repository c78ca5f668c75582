// One bot: its fields by section, what it sounds like, and the bar that keeps, publishes and undoes.
// It wires. The one rule: whatever is on the screen is kept before it is published, and whatever was refused says where.

import { whenInWords } from "../words.js";
import { Draft } from "./draft.js";
import { FieldBox } from "./fields.js";
import { Hear } from "./hear.js";
import { make, pressed, show, the, waits } from "./make.js";
import { ask } from "./server.js";
import { counted } from "./words.js";

const slug = document.body.dataset.slug ?? "";

class BotRoom {
  /** @param {any} form */
  constructor(form) {
    this.form = form;
    this.refusals = form.refusals;
    this.conflicts = form.conflicts;
    this.busy = false;
    this.draft = new Draft(slug, form, {
      checked: (checked) => this.#checked(checked),
      keeping: () => (this.#say("Keeping your draft…"), this.#buttons()),
      failed: (fault) => this.#say(fault.message),
    });
    /** @type {Map<string, FieldBox>} */
    this.boxes = new Map();
    this.bar = this.#bar();
    this.hear = new Hear(slug, {
      changes: () => Object.fromEntries(Object.entries(this.draft.changes).filter(([key]) => key.startsWith("voice."))),
      digest: () => this.draft.digest,
      shape: () => this.#value("voice.visual"),
      engine: () => this.#value("voice.engine"),
      solves: (engine) => form.offers.engines.some((/** @type {any} */ each) => each.name === engine && each.solves),
      choose: (steps) => this.#put("voice.opening", steps),
    });
    const parts = form.sections.map((/** @type {any} */ section) => this.#section(section));
    const contents = make("nav", { className: "contents", ariaLabel: "Sections" });
    for (const { name } of form.sections) contents.append(make("a", { href: `#${idOf(name)}` }, name));
    const talk = make("a", { className: "button quiet", href: `/app/voice/${encodeURIComponent(slug)}` }, "Talk to it");
    const stands = make("p", { className: "stands", data: { state: form.can ? (form.why ? "partly" : "yes") : "no" } });
    stands.textContent = [form.can ? "Can answer now." : "Cannot answer now.", form.why].filter(Boolean).join(" ");
    const head = make("div", { className: "bot-head" }, stands, form.spoken && talk);
    show(form.name, head, make("div", { className: "bot-room" }, contents, make("form", { id: "fields" }, ...parts)), this.bar.element);
    the("fields").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
    addEventListener("pagehide", () => this.draft.keep());
    this.#show();
  }

  /** @param {any} section */
  #section({ name, fields }) {
    const figures = fields.every((/** @type {any} */ each) => ["number", "whole", "switch"].includes(each.kind));
    const box = make("section", { id: idOf(name), className: figures ? "figures-of" : "", aria: { labelledby: `${idOf(name)}-name` } });
    box.append(make("h2", { id: `${idOf(name)}-name` }, name));
    if (name === "Voice") box.append(this.hear.element);
    for (const field of fields) {
      const made = new FieldBox(field, this.form.offers, this.draft, this.form.brought);
      this.boxes.set(field.key, made);
      box.append(made.element);
    }
    return box;
  }

  #bar() {
    const said = make("p", { role: "status", id: "state" });
    const general = make("p", { className: "fault", role: "alert", id: "general", hidden: true });
    const discard = make("button", { type: "button", className: "button quiet", id: "discard" }, "Discard");
    const undo = make("button", { type: "button", className: "button quiet", id: "undo" }, "Undo");
    const publish = make("button", { type: "button", className: "button", id: "publish" }, "Publish");
    pressed(discard, () => this.#doing(() => this.#discard()));
    pressed(undo, () => this.#doing(() => this.#undo()));
    pressed(publish, () => this.#doing(() => this.#publish()));
    const buttons = make("div", { className: "bar-buttons" }, undo, discard, publish);
    const element = make("div", { className: "bar", role: "region", ariaLabel: "Draft" }, make("div", {}, said, general), buttons);
    return { element, said, general, discard, undo, publish };
  }

  /** One thing at a time. @param {() => Promise<void>} work */
  async #doing(work) {
    this.busy = true;
    this.#buttons();
    try {
      await work();
    } catch (fault) {
      this.#say(/** @type {Error} */ (fault).message);
    }
    this.busy = false;
    this.#buttons();
  }

  async #publish() {
    await this.draft.keep();
    const wrong = this.#wrong();
    if (wrong) {
      this.#say(wrong);
      this.element(this.refusals[0].key)?.focus();
      return;
    }
    try {
      const { note } = await this.draft.publish();
      await this.#renew();
      this.#say(["Published. The next conversation has it.", note].filter(Boolean).join(" "));
    } catch (fault) {
      const { status, told } = /** @type {any} */ (fault);
      if (status === 409) {
        const by = told?.published;
        await this.#renew();
        const which = by?.fields?.length ? ` (${by.fields.join(", ")})` : "";
        this.#say(`${by ? `${by.by} published this bot meanwhile${which}.` : "The file was changed meanwhile."} Your changes are kept: look at them, and publish again.`);
        return;
      }
      if (told?.refusals) {
        this.refusals = told.refusals;
        this.#show();
      }
      throw fault;
    }
  }

  async #undo() {
    await ask("POST", `/bots/${encodeURIComponent(slug)}/undo`);
    await this.#renew();
    this.#say("Undone. The next conversation has it as it was before.");
  }

  async #discard() {
    await this.draft.discard();
    await this.#renew();
    this.#say("Your draft is thrown away.");
  }

  /** Read the file's form again: the screen says what it says, under what is in the draft. */
  async #renew() {
    const form = await ask("GET", `/bots/${encodeURIComponent(slug)}`);
    this.form = form;
    this.draft.changes = { ...form.draft, ...this.draft.waiting };
    this.draft.digest = form.digest;
    for (const section of form.sections) for (const field of section.fields) this.boxes.get(field.key)?.renew(field);
    the("title").textContent = form.name;
    this.#checked(form);
  }

  /** @param {import("./draft.js").Checked} checked */
  #checked(checked) {
    this.refusals = checked.refusals;
    this.conflicts = checked.conflicts;
    this.#show();
  }

  #show() {
    for (const [key, box] of this.boxes) box.show(this.refusals.filter((each) => each.key === key), this.conflicts);
    const general = this.refusals.filter((/** @type {any} */ each) => !this.boxes.has(each.key));
    this.bar.general.hidden = !general.length;
    this.bar.general.textContent = general.map((/** @type {any} */ each) => each.what).join(" ");
    this.hear.follow();
    this.#say(this.#stateInWords());
    this.#buttons();
  }

  #stateInWords() {
    const many = Object.keys(this.draft.changes).length;
    if (many) return [`${counted(many, "change")}, kept as a draft.`, this.#wrong()].filter(Boolean).join(" ");
    const last = this.form.published;
    return last ? `Published by ${last.by}, ${whenInWords(last.at_s, new Date())}.` : "As it is in the file.";
  }

  #wrong() {
    const many = this.refusals.length;
    return many ? `${counted(many, "value is", "values are")} refused.` : "";
  }

  #buttons() {
    const { publish, discard, undo } = this.bar;
    const some = Object.keys(this.draft.changes).length > 0;
    waits(publish, this.busy || !some);
    for (const each of [discard, undo]) waits(each, this.busy);
    const at = /** @type {HTMLElement} */ (document.activeElement);
    discard.hidden = !some;
    undo.hidden = some || !this.form.published?.undo;
    // Of a button that goes, the keyboard is at the one beside it.
    if (at.hidden) publish.focus();
  }

  /** @param {string} words */
  #say(words) {
    this.bar.said.textContent = words;
  }

  /** @param {string} key */
  element(key) {
    return this.boxes.get(key)?.control.inputs[0];
  }

  /** @param {string} key */
  #value(key) {
    const field = this.form.sections.flatMap((/** @type {any} */ one) => one.fields).find((/** @type {any} */ one) => one.key === key);
    return this.draft.value(field);
  }

  /** @param {string} key @param {any} value */
  #put(key, value) {
    this.boxes.get(key)?.control.set(value);
    this.draft.set(key, value);
  }
}

/** @param {string} name */
function idOf(name) {
  return name.toLowerCase().replace(/\W+/g, "-");
}

try {
  new BotRoom(await ask("GET", `/bots/${encodeURIComponent(slug)}`));
} catch (fault) {
  the("title").textContent = slug;
  the("said").textContent = /** @type {Error} */ (fault).message;
}
