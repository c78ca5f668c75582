// Elements, made in one line each. The one rule: text is text; nothing is ever parsed as markup.

/**
 * @param {string} tag @param {object} [properties] `data` and `aria` hold attributes of those names
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {any}
 */
export function make(tag, properties = {}, ...children) {
  const { data = {}, aria = {}, ...rest } = /** @type {any} */ (properties);
  const made = Object.assign(document.createElement(tag), rest);
  for (const [name, value] of Object.entries(data)) made.dataset[name] = String(value);
  for (const [name, value] of Object.entries(aria)) if (value != null) made.setAttribute(`aria-${name}`, String(value));
  made.append(...children.filter((child) => child != null && child !== false && child !== ""));
  return made;
}

/** The element of an id, which the frame has. @param {string} id @returns {any} */
export function the(id) {
  return document.getElementById(id);
}

/** What a button does, but while it `waits`. @param {HTMLElement} button @param {() => unknown} work */
export function pressed(button, work) {
  button.addEventListener("click", () => button.ariaDisabled !== "true" && work());
}

/**
 * A button that waits can be found and not pressed: one that is disabled would throw the keyboard off itself.
 * @param {HTMLElement} button @param {boolean} on
 */
export function waits(button, on) {
  button.ariaDisabled = String(on);
}

/** Put a room on the page under its title. @param {string} title @param {...Node} parts */
export function show(title, ...parts) {
  the("title").textContent = title;
  the("said").textContent = "";
  the("room").append(...parts);
}
