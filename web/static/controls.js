// What people press: the box they write in, and the microphone's button where it is held.
// It knows keys and pointers, not conversations. The one rule: whatever a pointer can do, a key can do.

/**
 * The box grows with what is written and sends it with Enter; Shift with Enter is a new line.
 * @param {HTMLFormElement} form @param {HTMLTextAreaElement} line @param {(text: string) => void} say
 */
export function writable(form, line, say) {
  const fit = () => {
    line.style.blockSize = "auto";
    if (line.value) line.style.blockSize = `${line.scrollHeight}px`;
  };
  line.addEventListener("input", fit);
  line.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = line.value.trim();
    line.value = "";
    fit();
    if (text) say(text);
  });
}

/**
 * A button that acts for as long as it is held, by pointer or by key.
 * @param {HTMLElement} button @param {() => boolean} held whether it is that kind of button now
 * @param {() => void} press @param {() => void} release
 */
export function holdable(button, held, press, release) {
  const down = (/** @type {PointerEvent | KeyboardEvent} */ event) => {
    if (!held()) return;
    if (event instanceof PointerEvent) button.setPointerCapture(event.pointerId);
    else if (event.key !== " " && event.key !== "Enter") return;
    event.preventDefault();
    press();
  };
  button.addEventListener("pointerdown", down);
  button.addEventListener("keydown", down);
  for (const up of ["pointerup", "pointercancel", "keyup", "blur"]) {
    button.addEventListener(up, () => held() && release());
  }
}
