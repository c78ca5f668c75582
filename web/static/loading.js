// Models on their way: what is being fetched, what it is for, and how many bytes of it are here. It asks /readyz until
// everything is; it guesses nothing, and where the server tells no such thing the page is simply ready.

const ASK_AGAIN_MS = 600;

/** Resolves when the server is ready. @param {HTMLElement} box where progress is shown */
export async function whenReady(box) {
  for (;;) {
    const state = await ask();
    if (state.ready !== false) {
      box.hidden = true;
      return;
    }
    show(box, state.loading ?? []);
    await new Promise((go) => setTimeout(go, ASK_AGAIN_MS));
  }
}

async function ask() {
  try {
    const reply = await fetch("/readyz", { headers: { Accept: "application/json" } });
    return reply.ok || reply.status === 503 ? await reply.json() : {};
  } catch {
    // The network is gone: not ready, and nothing is known about why.
    return { ready: false };
  }
}

function show(box, models) {
  box.hidden = false;
  const rows = models.map(({ name, what, bytes, total_bytes: total }) => {
    const row = document.createElement("div");
    const label = document.createElement("label");
    const bar = document.createElement("progress");
    const said = document.createElement("span");
    label.textContent = what || name;
    bar.id = label.htmlFor = `load-${name}`;
    if (total) {
      bar.max = total;
      bar.value = bytes ?? 0;
      said.textContent = bytes >= total ? "here" : `${inMb(bytes ?? 0)} of ${inMb(total)} MB`;
    } else {
      said.textContent = bytes ? `${inMb(bytes)} MB` : "waiting";
    }
    row.append(label, said, bar);
    return row;
  });
  const heading = document.createElement("p");
  heading.textContent = models.length ? "Getting the models ready" : "Waiting for the server";
  box.replaceChildren(heading, ...rows);
}

function inMb(bytes) {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
}
