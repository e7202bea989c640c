// A result in a cell of a notebook: its picture, and once that is clicked, the page's viewer in a frame. The viewer and
// what it shows come from the kernel in messages, never from the network. Its program is compiled once for all cells.

/** Viewers that run at once: browsers keep 16 graphics contexts for a page and its frames. */
const MOST_LIVE = 8;

/** How long the kernel may take for an answer, in milliseconds: it answers between two cells that it runs. */
const PATIENCE = 30_000;

/** How often the kernel learns of a changed view, in milliseconds. */
const BETWEEN_LINKS = 250;

const HEIGHT = 640;

const STYLE = `
  .sparsescope { position: relative; max-width: 1200px; }
  .sparsescope > button { all: unset; display: block; position: relative; cursor: pointer; }
  .sparsescope > button:focus-visible { outline: 2px solid #1a73e8; }
  .sparsescope img { display: block; max-width: 100%; }
  .sparsescope pre { margin: 0; padding: 0.5em; }
  .sparsescope > button > span { position: absolute; top: 8px; right: 8px; padding: 2px 8px; border-radius: 4px;
    background: #fffd; color: #222; font: 13px sans-serif; }
  .sparsescope > iframe { display: block; width: 100%; height: ${HEIGHT}px; border: 1px solid #8884; box-sizing: border-box; }
  .sparsescope > p { margin: 4px 0; font: 13px sans-serif; }
`;

/** What the cells of a page share: the viewers that run, the oldest first, and the program of each version. */
const shared = (globalThis[Symbol.for("sparsescope")] ??= { live: [], programs: new Map() });

/** Asks the kernel a question; its answer is `[message, buffers]`. */
function ask(model, question, signal) {
  const id = `${Date.now()}-${Math.random()}`;
  return new Promise((resolve, reject) => {
    const end = (settle, value) => {
      clearTimeout(timer);
      model.off("msg:custom", answered);
      signal?.removeEventListener("abort", stopped);
      settle(value);
    };
    const answered = (message, buffers) => {
      if (message.id === id) {
        end(...(message.error ? [reject, new Error(message.error)] : [resolve, [message, buffers]]));
      }
    };
    const stopped = () => end(reject, new Error("closed"));
    const silent = new Error("The kernel does not answer: it is busy, or this cell must run again.");
    const timer = setTimeout(() => end(reject, silent), PATIENCE);
    signal?.addEventListener("abort", stopped);
    model.on("msg:custom", answered);
    // Fails if the kernel is not the one that made this cell: at once in JupyterLab, by a promise in marimo.
    const send = async () => model.send({ ...question, id });
    send().catch(() => end(reject, silent));
  });
}

/** Fetches bytes from the kernel, part by part: `{bytes, ...}` with what the first answer says of them. */
async function fetched(model, what, signal) {
  const parts = [];
  let first;
  for (let done = 0; !first || done < first.total; ) {
    const [message, [part]] = await ask(model, { what, from: done }, signal);
    first ??= message;
    if (first.version !== message.version || (part.byteLength === 0 && first.total > 0)) {
      throw new Error("What the kernel sends has changed.");
    }
    parts.push(part);
    done += part.byteLength;
  }
  return { ...first, parts };
}

const unzipped = (parts) => new Blob(parts).stream().pipeThrough(new DecompressionStream("gzip"));

/** The viewer of this version: `{module, address}`, compiled once and its page at an address of this document. */
function program(model) {
  const version = model.get("_version");
  if (!shared.programs.has(version)) {
    const load = async () => {
      const code = await fetched(model, "program");
      const headers = { "Content-Type": "application/wasm" };
      const module = await WebAssembly.compileStreaming(new Response(unzipped(code.parts), { headers }));
      const page = await fetched(model, "page");
      const html = await new Response(unzipped(page.parts)).blob();
      return { module, address: URL.createObjectURL(new Blob([html], { type: "text/html;charset=utf-8" })) };
    };
    const loading = load();
    shared.programs.set(version, loading);
    // Another cell, maybe of another kernel, may try again.
    loading.catch(() => shared.programs.delete(version));
  }
  return shared.programs.get(version);
}

/** One view of a result. */
class Cell {
  frame = null;
  stop = null; // aborts what is being fetched
  timer = 0;
  written = null; // the link that the kernel is to learn

  constructor(model, el) {
    this.model = model;
    this.root = document.createElement("div");
    this.root.className = "sparsescope";
    const style = document.createElement("style");
    style.textContent = STYLE;
    this.picture = document.createElement("button");
    this.picture.type = "button";
    this.picture.title = "Click to explore";
    this.hint = document.createElement("span");
    this.note = document.createElement("p");
    this.picture.append(this.still(), this.hint);
    this.picture.addEventListener("click", () => this.wake());
    this.root.append(style, this.picture, this.note);
    el.append(this.root);
    this.say("Click to explore");
    this.linked = () => this.follow();
    model.on("change:link", this.linked);
  }

  /** The picture, or the text if there is none. */
  still() {
    const svg = this.model.get("_picture");
    const text = this.model.get("_text");
    if (!svg) {
      const element = document.createElement("pre");
      element.textContent = text;
      return element;
    }
    const image = document.createElement("img");
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    image.alt = text;
    return image;
  }

  say(words, note = "") {
    this.hint.textContent = words;
    this.note.textContent = note;
    this.note.hidden = !note;
  }

  /** Puts the viewer in place of the picture. */
  async wake() {
    if (this.stop) {
      return;
    }
    this.stop = new AbortController();
    const { signal } = this.stop;
    this.say("Loading");
    try {
      const { module, address } = await program(this.model);
      signal.throwIfAborted();
      const { name, note, parts } = await fetched(this.model, "data", signal);
      if (signal.aborted) {
        return;
      }
      const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
      this.show(module, address, { name, bytes, inlined: true }, note);
    } catch (error) {
      if (!signal.aborted) {
        this.stop = null;
        this.say("Click to try again", error.message);
      }
    }
  }

  show(module, address, file, note) {
    // The one that was started first makes room.
    while (shared.live.length >= MOST_LIVE) {
      shared.live[0].sleep();
    }
    shared.live.push(this);
    this.frame = document.createElement("iframe");
    this.frame.title = this.model.get("_text");
    this.frame.sparsescope = { program: module, bundles: [file], shows: (link) => this.shows(link) };
    let loads = 0;
    this.frame.addEventListener("load", () => {
      loads += 1;
      if (loads > 1) {
        // The notebook took the cell out of its document and put it back, which empties a frame.
        this.sleep();
        this.wake();
      } else if (!this.frame?.contentDocument?.getElementById("canvas")) {
        this.sleep();
        this.say("Click to try again", "This notebook does not let the viewer run in a frame.");
      }
    });
    this.address = address;
    this.frame.src = `${address}#${this.model.get("link")}`;
    this.picture.replaceWith(this.frame);
    this.say("", note);
  }

  /** The viewer shows another state: tells the kernel, but not at every frame. */
  shows(link) {
    this.written = link;
    this.timer ||= setTimeout(() => this.tell(), BETWEEN_LINKS);
  }

  tell() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.written !== null && this.written !== this.model.get("link")) {
      this.model.set("link", this.written);
      this.model.save_changes();
    }
    this.written = null;
  }

  /** Shows the link that the kernel, or another view of the same result, has set. */
  follow() {
    const link = this.model.get("link");
    if (this.frame && link !== this.written) {
      // A cell that is out of its document has no window, and starts again with the link once it is back.
      this.frame.contentWindow?.location.replace(`${this.address}#${link}`);
    }
  }

  /** Puts the picture back; the viewer and its memory are gone. */
  sleep() {
    this.stop?.abort();
    this.stop = null;
    if (this.frame) {
      this.tell();
      shared.live.splice(shared.live.indexOf(this), 1);
      this.frame.replaceWith(this.picture);
      this.frame.sparsescope = null;
      this.frame = null;
    }
    this.say("Click to explore");
  }

  close() {
    this.sleep();
    this.model.off("change:link", this.linked);
    this.root.remove();
  }
}

export default {
  render({ model, el }) {
    const cell = new Cell(model, el);
    return () => cell.close();
  },
};
