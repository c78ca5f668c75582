// Health in one place: models, providers, LiveKit, the database, the disk. It fetches models when it is asked, drills,
// and copies a diagnosis. The one rule: a figure is shown with what it is of, and a fault with what to do.

import { fill } from "../rows.js";
import { make, pressed, show, the, waits } from "./make.js";
import { ask, sentence, text } from "./server.js";
import { counted, inMb, same } from "./words.js";

const LOOK_AGAIN_MS = 700;
const models = make("ul", { className: "states", id: "models" });
/** What each row of the models shows. @type {WeakMap<HTMLElement, any>} */
const shown = new WeakMap();
let again = 0;

/** @param {string} name @param {string} state yes, partly or no @param {...(Node | string | false)} more */
function line(name, state, ...more) {
  return make("li", { data: { state } }, make("b", {}, name), make("span", {}, ...more));
}

/** @param {string} title @param {...Node} parts */
function panel(title, ...parts) {
  return make("section", { className: "panel", ariaLabel: title }, make("h2", {}, title), ...parts);
}

/** @param {any[]} rows */
function showModels(rows) {
  fill(models, rows, ({ name }) => name, modelOr);
  if (rows.some((row) => row.pull?.state === "fetching")) lookLater();
}

function lookLater() {
  clearTimeout(again);
  again = setTimeout(lookAgain, LOOK_AGAIN_MS);
}

async function lookAgain() {
  try {
    showModels((await ask("GET", "/health")).models);
  } catch {
    lookLater();
  }
}

/** The row of a model: the one that there `was` where it says the same, or needs no more than another figure.
 * @param {any} told @param {HTMLElement} [was] @returns {HTMLElement} */
function modelOr(told, was) {
  const before = was && shown.get(was);
  const bar = was?.querySelector("progress");
  const goesOn = bar && told.pull?.state === "fetching" && !told.present;
  if (goesOn && !same(before, told)) fetched(bar, told.pull);
  const row = goesOn || same(before, told) ? was : model(told);
  shown.set(row, told);
  return row;
}

/** How far it is. @param {HTMLProgressElement} bar @param {any} pull */
function fetched(bar, pull) {
  bar.max = pull.total_bytes || 1;
  bar.value = pull.bytes;
  bar.nextElementSibling.textContent = `${inMb(pull.bytes)} of ${inMb(pull.total_bytes)}`;
}

/** @param {any} row */
function model(row) {
  const { name, what_for: what, bytes, licence, present, pull } = row;
  const about = sentence(`${what}. ${inMb(bytes)}, ${licence}`);
  if (present) return line(name, "yes", about);
  const state = row.default ? "no" : "off";
  if (pull?.state === "fetching") {
    const bar = make("progress", { ariaLabel: `Fetching ${name}` });
    const made = line(name, "partly", about, bar, make("small"));
    fetched(bar, pull);
    return made;
  }
  const button = make("button", { type: "button", className: "link" }, pull ? "Try again" : "Fetch it");
  button.ariaLabel = `${button.textContent}: ${name}`;
  const fault = make("span", { className: "fault", role: "status" }, pull?.said && `${pull.said} `);
  pressed(button, async () => {
    waits(button, true);
    try {
      await ask("POST", `/health/models/${encodeURIComponent(name)}/pull`);
      await lookAgain();
    } catch (refused) {
      fault.textContent = `${/** @type {Error} */ (refused).message} `;
    }
    waits(button, false);
  });
  return line(name, state, about, " ", fault, button);
}

/** A button that asks for lines and shows them. @param {string} name @param {string} path @param {string} wait */
function asking(name, path, wait) {
  const said = make("p", { className: "small", role: "status" });
  const list = make("ul", { className: "drill", ariaLabel: name });
  const button = make("button", { type: "button", className: "button quiet" }, name);
  pressed(button, async () => {
    waits(button, true);
    said.textContent = wait;
    try {
      const { lines } = await ask("POST", path);
      said.textContent = counted(lines.length, "line");
      list.replaceChildren(...lines.map((/** @type {string} */ each) => make("li", {}, each)));
    } catch (fault) {
      said.textContent = /** @type {Error} */ (fault).message;
    }
    waits(button, false);
  });
  return make("div", {}, button, said, list);
}

function copying() {
  const said = make("span", { className: "small", role: "status" });
  const shown = make("pre", { hidden: true, tabIndex: 0, ariaLabel: "Diagnosis" });
  const button = make("button", { type: "button", className: "button", id: "copy" }, "Copy diagnosis");
  button.addEventListener("click", async () => {
    try {
      const words = await text("/health/diagnosis");
      shown.textContent = words;
      shown.hidden = false;
      await navigator.clipboard.writeText(words);
      said.textContent = "Copied. It holds no secret, no address and nothing that anybody said.";
    } catch (fault) {
      // A browser that lets nobody write its clipboard: the words are there to be taken by hand.
      said.textContent = shown.hidden ? /** @type {Error} */ (fault).message : "Your browser does not let a page copy: take it from here.";
    }
  });
  return make("div", { className: "copying" }, button, " ", said, shown);
}

/** @param {any} told */
function providers(told) {
  const rows = told.providers.map((/** @type {any} */ each) => {
    const why = each.why_not || (each.costs ? "asked; it costs money" : "asked; it costs nothing");
    return line(each.name, each.why_not ? "partly" : "yes", `${each.model}. ${why[0].toUpperCase()}${why.slice(1)}.`);
  });
  return panel(
    "Providers",
    make("ul", { className: "states" }, ...rows),
    asking("Ask everybody now", "/health/ask", "Asking…"),
    asking("Fire drill", "/health/drill", "Each way a provider can break, in a core of its own. It takes half a minute…"),
  );
}

/** @param {any} told */
function rest(told) {
  const database = told.database;
  const well = database.here && database.writing === "well";
  const kept = database.writing === "well" ? "" : " Lines of conversations wait in memory until it is back.";
  const said = (database.here ? `Answers in ${database.ms} ms.` : `${database.said}.`) + kept;
  const livekit = Object.entries(told.livekit).map(([name, value]) => line(name, value === "set" ? "yes" : "off", String(value)));
  const disk = told.disk.map((/** @type {any} */ each) => {
    const low = each.free_bytes < 1e9;
    return line(each.what, low ? "no" : "yes", `${inMb(each.free_bytes)} free of ${inMb(each.total_bytes)}.${low ? " Make room." : ""}`);
  });
  const none = make("p", { className: "empty" }, "Not configured: people reach this server by the page itself.");
  const machine = make("dl", { className: "figures" });
  for (const [name, value] of Object.entries(told.machine)) machine.append(make("div", {}, make("dt", {}, name), make("dd", {}, String(value))));
  return [
    panel("Database", make("ul", { className: "states" }, line(database.kind, well ? "yes" : "no", said))),
    panel("LiveKit", livekit.length ? make("ul", { className: "states" }, ...livekit) : none),
    panel("Disk", make("ul", { className: "states" }, ...disk)),
    panel("Machine", machine),
  ];
}

try {
  const told = await ask("GET", "/health");
  showModels(told.models);
  const engines = told.engines.map((/** @type {any} */ each) => line(each.name, each.why_not ? "off" : "yes", each.why_not || counted(each.voices, "voice")));
  const refused = told.refusals.map((/** @type {any} */ each) => line(`${each.file}, line ${each.line}`, "no", `${each.what}. ${each.instead}.`));
  const faults = told.ready.faults.map((/** @type {string} */ each) => make("p", { className: "fault" }, each));
  const lead = told.ready.ready && !faults.length ? "Everything is loaded." : told.ready.ready ? "Loaded, with faults." : "The models are getting ready.";
  show(
    "Health",
    make("p", { className: "lead" }, lead),
    ...faults,
    copying(),
    make(
      "div",
      { className: "panels" },
      panel("Models", models),
      ...(refused.length ? [panel("Refused files", make("ul", { className: "states" }, ...refused))] : []),
      providers(told),
      panel("Engines", make("ul", { className: "states" }, ...engines)),
      ...rest(told),
    ),
  );
} catch (fault) {
  the("title").textContent = "Health";
  the("said").textContent = /** @type {Error} */ (fault).message;
}
