// What a reader chose, kept on this device, and the dialog in which they choose it. Nothing here goes to an account.
// A choice of one is no choice: a row with a single option is not shown.

const KEY = "firstword.settings";
const SHAPES = ["aura", "bar", "grid", "radial", "wave"];
const WAYS = [
  ["open", "Always", "speak whenever you like"],
  ["push", "Press", "press, speak, press again"],
  ["hold", "Hold", "hold the button while you speak"],
];
const SPEEDS = [0.75, 1.5];

export class Settings {
  /** @param {DOMStringMap} bot the data of the page's body */
  constructor(bot) {
    this.bot = bot.bot;
    this.voices = JSON.parse(bot.voices || "[]");
    this.languages = JSON.parse(bot.languages || "[]");
    const kept = read();
    this.shape = SHAPES.includes(kept.shape) ? kept.shape : bot.visual;
    this.way = WAYS.some(([way]) => way === kept.way) ? kept.way : "open";
    this.speed = kept.speed >= SPEEDS[0] && kept.speed <= SPEEDS[1] ? kept.speed : 1;
    this.speaks = kept.speaks !== false;
    const own = kept.bots?.[this.bot] ?? {};
    this.voice = this.voices.includes(own.voice) ? own.voice : "";
    this.language = this.languages.includes(own.language) ? own.language : bot.language;
  }

  keep() {
    const { shape, way, speed, speaks, voice, language } = this;
    const bots = { ...read().bots, [this.bot]: { voice, language } };
    try {
      localStorage.setItem(KEY, JSON.stringify({ shape, way, speed, speaks, bots }));
    } catch {
      // A device that keeps nothing still has a conversation.
    }
  }
}

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

/**
 * Fills the dialog; `changed` is called after each choice with its name.
 * @param {HTMLDialogElement} dialog @param {Settings} settings @param {(name: string) => void} changed
 */
export function fillSettings(dialog, settings, changed) {
  const set = (name) => (value) => {
    settings[name] = value;
    settings.keep();
    changed(name);
  };
  const form = make("form", { method: "dialog" });
  const title = make("h2", { id: "settings-title" }, "Settings");
  const close = make("button", { className: "tool", ariaLabel: "Close" }, "×");
  form.append(make("div", { className: "dialog-top" }, title, close));
  form.append(choice("Shape", "shape", SHAPES.map((shape) => [shape, shape, ""]), settings.shape, set("shape"), drawing));
  form.append(choice("How you are heard", "way", WAYS, settings.way, set("way")));
  if (settings.voices.length > 1) form.append(select("Voice", ["", ...settings.voices], settings.voice, set("voice")));
  if (settings.languages.length > 1) {
    form.append(select("Language", settings.languages, settings.language, set("language"), languageName));
  }
  form.append(speed(settings.speed, set("speed")), speaks(settings.speaks, set("speaks")));
  form.append(make("p", { className: "small" }, "Kept on this device."));
  dialog.replaceChildren(form);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

function choice(legend, name, options, chosen, set, picture) {
  const box = make("fieldset", { className: picture ? "drawings" : "choices" }, make("legend", {}, legend));
  for (const [value, label, more] of options) {
    const input = make("input", { type: "radio", name, value, checked: value === chosen });
    input.addEventListener("change", () => set(value));
    const text = make("span", {}, make("b", {}, label), more ? make("small", {}, more) : "");
    box.append(make("label", {}, input, picture?.(value) ?? "", text));
  }
  return box;
}

function drawing(shape) {
  const orb = document.createElement("fw-orb");
  orb.setAttribute("shape", shape);
  orb.setAttribute("sample", "");
  orb.setAttribute("aria-hidden", "true");
  return orb;
}

function select(label, values, chosen, set, named = (value) => value || "as the bot has it") {
  const options = values.map((value) => make("option", { value, selected: value === chosen }, named(value)));
  const input = make("select", {}, ...options);
  input.addEventListener("change", () => set(input.value));
  return make("label", { className: "row" }, make("span", {}, label), input);
}

function speed(chosen, set) {
  const input = make("input", { type: "range", min: SPEEDS[0], max: SPEEDS[1], step: 0.05, value: chosen });
  const shown = make("output", {}, `${chosen}×`);
  input.addEventListener("input", () => (shown.textContent = `${input.value}×`));
  input.addEventListener("change", () => set(Number(input.value)));
  return make("label", { className: "row" }, make("span", {}, "Speed"), input, shown);
}

function speaks(chosen, set) {
  const input = make("input", { type: "checkbox", checked: chosen });
  input.addEventListener("change", () => set(input.checked));
  const label = make("span", {}, make("b", {}, "Answer aloud"), make("small", {}, "off: answers are written only"));
  return make("label", { className: "row switch" }, label, input);
}

function languageName(tag) {
  return new Intl.DisplayNames([navigator.language], { type: "language" }).of(tag) ?? tag;
}

function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
