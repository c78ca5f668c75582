// The rows of a list that is looked up again, or that loses one. A row that is still there stays the element it is, so
// whoever is on it by keyboard, by finger or in the middle of a question stays on it. It knows no data and asks nobody.
// The one rule: no change of a list throws the keyboard out of it.

/**
 * Make `list` show `wanted`, in that order.
 * @template T
 * @param {HTMLElement} list
 * @param {T[]} wanted
 * @param {(one: T) => string | number} name what a row is known by
 * @param {(one: T, was: HTMLElement | undefined) => HTMLElement} row the row of one: `was` itself wherever it will do
 * @param {HTMLElement | null} [beyond] where the keyboard goes when no row is left
 */
export function fill(list, wanted, name, row, beyond) {
  keepingPlace(list, beyond, () => {
    const there = new Map(rowsOf(list).map((each) => [each.dataset.row, each]));
    const rows = new Set(
      wanted.map((one) => {
        const id = String(name(one));
        const made = row(one, there.get(id));
        made.dataset.row = id;
        return made;
      }),
    );
    for (const each of there.values()) if (!rows.has(each)) each.remove();
    // Rows that stand where they should are not touched, and those between two of them go in at once.
    let here = list.firstElementChild;
    let waiting = [];
    for (const each of rows) {
      if (each !== here) {
        waiting.push(each);
        continue;
      }
      if (waiting.length) here.before(...waiting);
      waiting = [];
      here = here.nextElementSibling;
    }
    if (waiting.length) list.append(...waiting);
  });
}

/**
 * Take a row out.
 * @param {HTMLElement} row
 * @param {HTMLElement | null} [beyond] where the keyboard goes when no row is left
 */
export function takeOut(row, beyond) {
  const list = row.parentElement;
  if (list) keepingPlace(list, beyond, () => row.remove());
}

/** @param {HTMLElement} list @param {HTMLElement | null | undefined} beyond @param {() => void} change */
function keepingPlace(list, beyond, change) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const at = rowsOf(list).findIndex((each) => each.contains(focused));
  const name = rowsOf(list)[at]?.dataset.row;
  change();
  if (at < 0 || document.activeElement === focused) return;
  // A row that was moved is there still; one that was made again has the same button; else the next is nearest.
  if (focused.isConnected) return focused.focus();
  const rows = rowsOf(list);
  const same = rows.find((each) => each.dataset.row === name);
  const does = focused.dataset.does;
  const again = does && same?.querySelector(`[data-does="${does}"]`);
  const near = same ?? rows[Math.min(at, rows.length - 1)];
  /** @type {HTMLElement | null | undefined} */ (again || (near ? within(near) : beyond))?.focus();
}

/** Where the keyboard is on a row: its first button, or the row itself. @param {HTMLElement} row @returns {HTMLElement} */
function within(row) {
  const button = /** @type {HTMLElement | null} */ (row.querySelector("button"));
  if (button) return button;
  row.tabIndex = -1;
  return row;
}

/** @param {HTMLElement} list */
function rowsOf(list) {
  return /** @type {HTMLElement[]} */ ([...list.children]);
}
