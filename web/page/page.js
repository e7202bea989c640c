// The code around the viewer: loads it and the bundles that the address names, keeps the address in sync with
// the view, takes dropped files, saves files, and mirrors the canvas's widgets as elements. The same script
// serves the hosted page and the self-contained file.
"use strict";
(() => {
  const script = document.currentScript.dataset;
  const byId = (id) => document.getElementById(id);
  let canvas = byId("canvas"); // replaced after it lost its graphics context
  const loader = byId("loader");

  const root = document.documentElement;

  /** What a notebook's cell gives to this page in its frame: `{program, bundles, shows}`; python/sparsescope/viewer.js. */
  const cell = window.frameElement?.sparsescope;

  /** The running viewer; absent until it runs and after a failure. */
  let viewer = null;

  /** Resolves once the viewer runs. */
  let runs;
  const running = new Promise((resolve) => (runs = resolve));

  // ---- loading ----------------------------------------------------------------------------------

  const downloads = new Map(); // URL or name of each download → {done, total} in bytes

  function progressed(what, done, total) {
    downloads.set(what, { done, total });
    const all = [...downloads.values()];
    const sum = (field) => all.reduce((bytes, each) => bytes + (each[field] || 0), 0);
    const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
    const known = all.every((each) => each.total);
    byId("doing").textContent = known
      ? `Loading ${[...downloads.keys()].join(", ")}: ${megabytes(sum("done"))} of ${megabytes(sum("total"))} MB`
      : `Loading ${[...downloads.keys()].join(", ")}: ${megabytes(sum("done"))} MB`;
    const bar = byId("progress");
    if (known) {
      bar.max = sum("total");
      bar.value = sum("done");
    } else {
      bar.removeAttribute("value");
    }
  }

  /** A stream that reports the bytes that pass, and refuses to go on above `most()`. */
  function counted(stream, what, total, most) {
    let done = 0;
    progressed(what, done, total);
    return stream.pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          done += chunk.byteLength;
          if (done > most()) {
            throw new TooLarge();
          }
          progressed(what, done, Math.max(total, done));
          controller.enqueue(chunk);
        },
      }),
    );
  }

  class TooLarge extends Error {}

  /** The size that no bundle exceeds; known once the viewer is loaded. */
  const mostBytes = () => (viewer ? wasm_bindgen.Viewer.most_bytes() : Infinity);

  function fromBase64(text) {
    if (Uint8Array.fromBase64) {
      return Uint8Array.fromBase64(text);
    }
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) {
      bytes[i] = letters.charCodeAt(i);
    }
    return bytes;
  }

  /** The viewer's WebAssembly: compiled by a notebook, gzipped within this page, or a file beside it. */
  async function program() {
    if (cell) {
      return cell.program;
    }
    const inlined = byId("program");
    if (inlined) {
      const packed = new Blob([fromBase64(inlined.textContent)]);
      inlined.remove();
      const unpacked = packed.stream().pipeThrough(new DecompressionStream("gzip"));
      return new Response(unpacked, { headers: { "Content-Type": "application/wasm" } });
    }
    const response = await fetch(script.program);
    if (!response.ok) {
      throw new Error(`${script.program}: the server answered ${response.status} ${response.statusText}`);
    }
    // The size is embedded in the page: a server that compresses on the fly reports another one.
    const stream = counted(response.body, "the viewer", Number(script.bytes), () => Infinity);
    return new Response(stream, { headers: { "Content-Type": "application/wasm" } });
  }

  function lastPart(path) {
    const part = path.split("/").pop();
    try {
      return decodeURIComponent(part) || "bundle";
    } catch {
      return part;
    }
  }

  /** Names that examples had, in links from that time. */
  const OLD_NAMES = { mini: "cpu", h200: "gpu", thesis: "solvers" };

  const addressOf = (example) => `examples/${example}.zip`;
  const isExample = (address) => address.startsWith("examples/");

  const inAddress = () => new URLSearchParams(location.search).getAll("bundle");
  /** The old name of an example in an address, if it is one. */
  const oldName = (address) => /^examples\/(mini|h200|thesis)\.zip$/.exec(address)?.[1];

  /** The bundles that the address names. */
  const addressed = () =>
    inAddress().map((address) => (oldName(address) ? addressOf(OLD_NAMES[oldName(address)]) : address));

  /** Says of examples with old names that their runs are not those of the link. */
  function sayMeasuredAgain() {
    for (const old of inAddress().map(oldName).filter(Boolean)) {
      viewer?.say(`The example ${old}.zip of this link was measured again and is now ${OLD_NAMES[old]}.zip: its runs and times differ from those of the link.`);
    }
  }

  /** Fetches one bundle: `{name, bytes, address}`, or `{sentence}` that says why not. `signal` stops it. */
  async function bundleAt(address, signal) {
    let url;
    try {
      url = new URL(address, document.baseURI);
    } catch {
      return { sentence: `Could not open ${address}: it is not a valid address.` };
    }
    const name = lastPart(url.pathname);
    try {
      const response = await fetch(url, { signal });
      if (!response.ok) {
        const status = `${response.status} ${response.statusText}`.trim();
        return { sentence: `Could not open ${url}: the server answered ${status}.` };
      }
      // A server that compresses on the fly reports the compressed size.
      const total = response.headers.get("Content-Encoding") ? 0 : Number(response.headers.get("Content-Length"));
      const stream = counted(response.body, name, total, mostBytes);
      return { name, bytes: new Uint8Array(await new Response(stream).arrayBuffer()), address };
    } catch (error) {
      return { sentence: whyNot(url, error) };
    } finally {
      downloads.delete(name);
    }
  }

  function whyNot(url, error) {
    if (error instanceof TooLarge) {
      return `Could not open ${url}: it exceeds the limit of ${mostBytes()} bytes for a bundle.`;
    }
    // A page cannot find out whether the server is down or forbids cross-origin requests.
    if (url.origin !== location.origin) {
      return `Could not open ${url}: its server cannot be reached or does not allow other pages to read it; download it and drop it here.`;
    }
    return `Could not open ${url}: the server cannot be reached.`;
  }

  /** What was opened, by its name in the viewer: `{address, inlined, bytes}`; without bytes if those are too many to be kept. */
  const files = new Map();

  /** The largest file that is kept, in bytes. */
  const MOST_KEPT = 16_000_000;

  /** The example that the next one replaces: its address. */
  let example = null;

  /**
   * Opens a fetched file, or says why there is none, unless `signal` stops it. An example that `isOnly` replaces the
   * one before, and its runs of `operation` are shown.
   */
  async function show({ name, bytes, sentence, address, inlined, isOnly }, operation = "", signal = undefined) {
    if (sentence) {
      viewer?.say(sentence);
      return;
    }
    const file = await wasm_bindgen.Viewer.read(name, bytes);
    if (!viewer || signal?.aborted) {
      file.free();
      return;
    }
    const free = freeName(name, bytes, files, (name) => viewer.has(name));
    files.set(free, { address, inlined, bytes: bytes.length <= MOST_KEPT ? bytes : null });
    if (isOnly) {
      example = address;
      viewer.openExample(free, file, operation);
    } else {
      viewer.open(free, file);
    }
  }

  /** The name under which a file is opened: its own, with a number if another file of that name `isOpen`. */
  function freeName(name, bytes, files, isOpen) {
    const isSame = (other) => other?.length === bytes.length && other.every((byte, k) => byte === bytes[k]);
    const numbered = (number) => name.replace(/(\.\w+)?(\.(gz|bz2|xz|zst))?$/, (end) => ` (${number})${end}`);
    let free = name;
    for (let number = 2; isOpen(free) && !isSame(files.get(free)?.bytes); number++) {
      free = numbered(number);
    }
    return free;
  }

  /** The addresses of what is open. */
  const openAddresses = () => (viewer?.files() ?? []).map((name) => files.get(name)?.address).filter(Boolean);

  let last = new AbortController(); // stops the last `openAll`

  /**
   * Opens what these addresses name and is not open, once the viewer runs; with an `operation`, also what is open. One
   * example alone replaces the one before. Stops what was to be opened before; says whether nothing stopped this.
   */
  async function openAll(addresses, operation) {
    last.abort();
    last = new AbortController();
    const { signal } = last;
    const open = operation ? [] : openAddresses();
    const missing = addresses.filter((address) => !open.includes(address));
    const isOnly = addresses.length === 1 && isExample(addresses[0]);
    const found = await Promise.all(missing.map((address) => bundleAt(address, signal)));
    await running;
    for (const file of signal.aborted ? [] : found) {
      await show({ ...file, isOnly }, operation, signal);
    }
    return !signal.aborted;
  }

  async function openExample(which, operation) {
    await null; // the program must not be called in a frame
    if ((await openAll([addressOf(which)], operation)) && hasHome) {
      writeFragment();
      const named = openAddresses().map((address) => `bundle=${address}`);
      history.replaceState(null, "", `?${named.join("&")}#${fragment()}`);
    }
  }

  // ---- links ------------------------------------------------------------------------------------

  /** The most bytes of a file in a link, compressed if that is shorter: programs that send links on cut long ones. */
  const MOST_LINKED = 24_000;

  /** The largest file that is compressed for a link, in bytes: no lesson is larger. */
  const MOST_UNPACKED = 262_144;
  /** Files in one address. */
  const MOST_FILES = 8;

  /** Keeps what was measured in this page: no file and no address has it. */
  function keep(name, view) {
    files.set(name, { bytes: view.slice() }); // `view` is a view into the program's memory
  }

  /** Copies a link to what is shown: the state of the views and the files that are `open`. */
  async function copyLink(state, open) {
    const link = new URL(location.href);
    link.search = "";
    link.hash = state;
    const missing = [];
    for (const file of open) {
      const source = files.get(file);
      if (source?.inlined) {
        continue; // this page has it built in
      }
      if (source?.address) {
        link.searchParams.append("bundle", source.address);
        continue;
      }
      const part = source?.bytes?.length <= MOST_UNPACKED && (await partOf(file, source.bytes));
      if (part) {
        link.hash += `;${part}`;
      } else {
        missing.push(file);
      }
    }
    try {
      await navigator.clipboard.writeText(link.href);
    } catch {
      window.prompt("The browser blocked copying. The link:", link.href);
    }
    viewer?.copied(location.href, missing);
  }

  /** A file as part of a link: `b=` as it is, `z=` compressed; none if it is too large. */
  async function partOf(file, bytes) {
    const packed = globalThis.CompressionStream ? await piped(bytes, new CompressionStream("deflate-raw")) : bytes;
    const [key, short] = packed.length < bytes.length ? ["z", packed] : ["b", bytes];
    return short.length <= MOST_LINKED ? `${key}=${encodeURIComponent(file)},${toBase64url(short)}` : null;
  }

  /** The bytes that come out of a stream; fails above `most`. */
  async function piped(bytes, through, most = Infinity) {
    let done = 0;
    const limit = new TransformStream({
      transform(chunk, controller) {
        done += chunk.byteLength;
        if (done > most) {
          throw new TooLarge();
        }
        controller.enqueue(chunk);
      },
    });
    const stream = new Blob([bytes]).stream().pipeThrough(through).pipeThrough(limit);
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  function toBase64(bytes) {
    let letters = "";
    for (const byte of bytes) {
      letters += String.fromCharCode(byte);
    }
    return btoa(letters);
  }

  const toBase64url = (bytes) => toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

  /** The bundles that this page is to show: inlined ones, those of the address, or an example. */
  async function bundles() {
    const inlined = [...document.querySelectorAll("script[data-bundle]")].map((element) => {
      return { name: element.dataset.bundle, bytes: fromBase64(element.textContent), inlined: true };
    });
    const others = [...(cell?.bundles.splice(0) ?? []), ...inlined, ...(await linkedFiles())];
    const addresses = addressed();
    if (others.length + addresses.length === 0 && script.example && !isAlone) {
      addresses.push(addressOf(script.example));
    }
    const isOnly = addresses.length === 1 && isExample(addresses[0]);
    const found = await Promise.all(addresses.map((address) => bundleAt(address)));
    return [...others, ...found.map((file) => ({ ...file, isOnly }))];
  }

  /** The parts of fragments whose files were opened. */
  const opened = new Set();

  /** Small files within the fragment itself, but for those opened before: each `;b=` or `;z=`, a name and a comma if any, base64url. */
  function linkedFiles() {
    const parts = linkedParts().slice(0, MOST_FILES).filter((part) => !opened.has(part));
    const found = parts.map(async (part) => {
      opened.add(part);
      const [text, name] = part.slice(2).split(",").reverse();
      try {
        const packed = fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
        const inflate = () => piped(packed, new DecompressionStream("deflate-raw"), MOST_UNPACKED);
        return { name: name ? decodeURIComponent(name) : "linked", bytes: part.startsWith("z") ? await inflate() : packed };
      } catch {
        return { sentence: "Could not open a file in the address: the address was cut or changed." };
      }
    });
    return Promise.all(found);
  }

  // ---- the address ------------------------------------------------------------------------------

  const fragment = () => location.hash.slice(1);
  const isFile = (part) => /^[bz]=/.test(part);
  const linkedParts = () => fragment().split(";").filter(isFile);
  /** The number of a run of an example that was measured again: another run has it now. */
  const isOldRun = (part) => /^run=\d+$/.test(part) && inAddress().some(oldName);
  /** What a fragment says of the views, without the files in it. */
  const stateIn = (text) => text.split(";").filter((part) => !isFile(part) && !isOldRun(part)).join(";");
  const embedded = window.parent !== window;

  /** Whether only the view is shown, for a page around this one. */
  const isAlone = new URLSearchParams(location.search).has("embed");

  /** What `?embed=lesson:NAME` shows where the fragment names nothing: the lesson from its first step. */
  const [, lesson] = /^lesson:(.+)/.exec(new URLSearchParams(location.search).get("embed")) ?? [];
  const lessonLink = lesson ? `v1;view=layouts;lesson=${encodeURIComponent(lesson)},0` : "";

  let written = null; // the fragment waiting to be written
  let timer = 0;

  function writeFragment() {
    clearTimeout(timer);
    timer = 0;
    if (written !== null && written !== fragment()) {
      history.replaceState(null, "", `#${written}`);
    }
    written = null;
  }

  /** Browsers refuse an address that changes with every frame: at most four times a second. */
  function shows(text, step) {
    if (atHome()) {
      return;
    }
    cell?.shows(text);
    const next = [text, ...linkedParts()].join(";");
    // In a page that embeds this one, Back belongs to the other page.
    if (step && !embedded) {
      writeFragment();
      history.pushState(null, "", `#${next}`);
      return;
    }
    written = next;
    timer ||= setTimeout(writeFragment, 250);
  }

  // Back, Forward, and a fragment that is typed or pasted.
  window.addEventListener("popstate", async () => {
    clearTimeout(timer);
    timer = 0;
    written = null;
    if (hasHome) {
      setHome(!fragment() && addressed().length === 0);
    }
    const home = atHome();
    const named = hasHome && !home ? addressed() : [];
    const all = openAll(named); // and nothing of the other address
    if (home) {
      return;
    }
    const link = stateIn(fragment()) || lessonLink;
    soon(() => viewer.show(link));
    for (const file of await linkedFiles()) {
      await running;
      await show(file);
    }
    await waitFor(all);
  });

  // The viewer has its own Back and Redo on these keys; the browser's would leave the page.
  window.addEventListener("keydown", (event) => {
    if (!atHome() && event.altKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      event.preventDefault();
    }
  });

  // ---- the start page ---------------------------------------------------------------------------

  const landing = byId("landing"); // none in the self-contained file

  /** Whether the start page can be shown: the address names no bundles but examples, and no other page embeds this one. */
  const hasHome = Boolean(landing) && !embedded && !isAlone && addressed().every(isExample);

  /** Whether it is shown. A script in the head decides that before this one is loaded. */
  const atHome = () => hasHome && !root.classList.contains("opens");

  function setHome(shown) {
    root.classList.toggle("opens", !shown);
    byId("viewer").inert = shown;
    (shown ? landing : canvas).focus();
  }

  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const themed = (link) => (isDark ? `${link};theme=dark` : link);

  /** What the viewer shows first, if that was chosen before it ran. */
  let early = null;

  /** Does something with the viewer, or as soon as it runs in place of what was to be done then. */
  function soon(act) {
    early = viewer ? null : act;
    if (viewer) {
      act();
    }
  }

  /** Leaves the start page for what a link shows, of an example if it names one. */
  async function leave(link, which) {
    let state = themed(link);
    soon(() => (state = viewer.leaveHome(link)));
    const search = which ? `?bundle=${addressOf(which)}` : "";
    history.pushState(null, "", `${location.pathname}${search}#${state}`);
    setHome(false);
    await waitFor(openAll(which ? [addressOf(which)] : []));
  }

  let waits = 0;

  /** Covers the viewer until something is there. */
  async function waitFor(work) {
    waits += 1;
    loader.hidden = false;
    await work;
    waits -= 1;
    uncover();
  }

  function uncover() {
    loader.hidden ||= waits === 0 && Boolean(viewer);
  }

  function home() {
    writeFragment();
    history.pushState(null, "", location.pathname);
    setHome(true);
  }

  function installHome() {
    byId("viewer").inert = atHome();
    landing?.addEventListener("click", (event) => {
      const door = event.target.closest('a[href*="#"]');
      if (door && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
        event.preventDefault();
        leave(new URL(door.href).hash.slice(1), door.dataset.example);
      }
    });
    byId("open")?.addEventListener("click", () => byId("choose").click());
    byId("measure")?.addEventListener("click", async () => {
      await leave("v1;view=best;as=auto");
      viewer?.measure();
    });
  }

  /** Shows the link from an embedded view to the whole page, with what is shown now. */
  function installWhole() {
    const whole = byId("whole");
    const aim = () => {
      const link = new URL(location.href);
      link.searchParams.delete("embed");
      link.hash = written ?? (fragment() || lessonLink);
      whole.href = link.href;
    };
    aim();
    for (const event of ["pointerenter", "focus", "click"]) {
      whole.addEventListener(event, aim);
    }
    whole.hidden = !isAlone;
  }

  // ---- files in, files out ----------------------------------------------------------------------

  let opening = null; // the files that are opened now

  /** Opens files in order, after those that were given before. */
  function openFiles(given) {
    const ready = atHome() ? leave("v1;view=best;as=auto") : running;
    opening = openEach(given, Promise.all([opening, ready]));
  }

  async function openEach(given, ready) {
    await ready;
    for (const file of given) {
      try {
        if (file.size > mostBytes()) {
          viewer?.say(`Could not open ${file.name}: it has ${file.size} bytes, more than the limit of ${mostBytes()} for a bundle.`);
        } else {
          await show({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
        }
      } catch (error) {
        viewer?.say(`Could not open ${file.name}: the browser cannot read it (${error.message}).`);
      }
    }
  }

  function installDrop() {
    const hint = byId("drop");
    const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
    const on = (name, act) =>
      window.addEventListener(
        name,
        (event) => {
          if (carriesFiles(event)) {
            event.preventDefault();
            event.stopPropagation();
            act(event);
          }
        },
        { capture: true },
      );
    on("dragover", () => (hint.hidden = false));
    on("dragleave", (event) => (hint.hidden = event.relatedTarget === null));
    on("drop", (event) => {
      hint.hidden = true;
      openFiles([...event.dataTransfer.files]);
    });
    const input = byId("choose");
    input.addEventListener("change", () => {
      openFiles([...input.files]);
      input.value = ""; // the same file can be chosen again
    });
  }

  function save(name, bytes) {
    const link = document.createElement("a");
    // `bytes` is a view into the program's memory.
    link.href = URL.createObjectURL(new Blob([bytes.slice()]));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  /** Gives out an SVG as PNG of this size in pixels. */
  async function saveAsPng(name, svg, width, height, onPaper) {
    // `svg` is a view into the program's memory.
    const url = URL.createObjectURL(new Blob([svg.slice()], { type: "image/svg+xml" }));
    try {
      const image = new Image();
      image.src = url;
      await image.decode();
      const drawn = document.createElement("canvas");
      drawn.width = width;
      drawn.height = height;
      drawn.getContext("2d").drawImage(image, 0, 0, width, height);
      const blob = await new Promise((resolve) => drawn.toBlob(resolve, "image/png"));
      const bytes = new Uint8Array(await blob.arrayBuffer());
      save(name, onPaper ? wasm_bindgen.Viewer.onPaper(bytes) : bytes);
    } catch (error) {
      viewer?.say(`Could not save ${name}: ${error.message}.`);
    } finally {
      URL.revokeObjectURL(url);
    }
  }

  /** Gives out the page as one file with a bundle in it, as `sparsescope export --html` does. */
  async function saveHtml(name, view) {
    const packed = toBase64(view);
    const file = `${name.replace(/\.(zip|json)$/, "")}.html`;
    try {
      const response = await fetch("standalone.html");
      if (!response.ok) {
        throw new Error(`the server answered ${response.status} ${response.statusText}`.trim());
      }
      const mark = "\x3c!-- sparsescope:bundles -->"; // this script is itself part of a page
      const [before, after] = (await response.text()).split(mark);
      if (after === undefined) {
        throw new Error("this page has no slot for bundles");
      }
      // Only characters of the name that are safe in an attribute are kept.
      const element = `<script type="text/plain" data-bundle="${name.replace(/[^\w.-]/g, "")}">${packed}<\/script>\n`;
      save(file, new TextEncoder().encode(before + element + after));
    } catch (error) {
      viewer?.say(`Could not save ${file}: ${error.message}.`);
    }
  }

  /** Gives out the page as one file with a lesson in it: that of an opened file, or one of the page's own. */
  async function saveLesson(id, file) {
    const own = () => JSON.parse(byId("lessons").textContent).find((lesson) => lesson.id === id);
    const bytes = files.get(file)?.bytes ?? (own() && new TextEncoder().encode(JSON.stringify(own())));
    if (bytes) {
      await saveHtml(`${id}.json`, bytes);
    } else {
      viewer?.say(`Could not save the lesson ${id}: its file is not open any more.`);
    }
  }

  /** The next frame as a PNG. */
  function png() {
    return new Promise((resolve) => {
      afterFrame = () => canvas.toBlob(resolve, "image/png");
      viewer?.redraw();
    });
  }

  // ---- the mirror of the widgets ----------------------------------------------------------------

  const elements = new Map(); // id of a widget → its element
  let mirrored = "[]";
  let mirrorTimer = 0;

  /** Where the page's elements cannot have the role of their own. */
  const TAGS = { button: "button", link: "button", textbox: "input", searchbox: "input" };

  /** Widgets around others, each with one stop of the Tab key inside. */
  const GROUPS = new Set(["tablist", "table", "group"]);

  /** The attribute that says that a widget is chosen; for other roles it is `aria-checked`. */
  const CHOSEN = { button: "aria-pressed", tab: "aria-selected", row: "aria-selected" };

  function mirror() {
    mirrorTimer = 0;
    const json = viewer?.widgets() ?? "[]";
    if (json === mirrored) {
      return;
    }
    mirrored = json;
    const widgets = JSON.parse(json);
    const present = new Map(widgets.map((widget) => [widget.id, widget]));
    for (const [id, element] of elements) {
      if (!present.has(id)) {
        element.remove();
        elements.delete(id);
      }
    }
    const groups = new Set(widgets.map((widget) => widget.in).filter((id) => GROUPS.has(present.get(id)?.role)));
    const last = new Map(); // parent → the child that was placed last
    for (const widget of widgets) {
      const element = elementOf(widget);
      const around = present.get(widget.in);
      const parent = (around && elements.get(around.id)) ?? byId("widgets");
      const next = last.has(parent) ? last.get(parent).nextSibling : parent.firstChild;
      if (element !== next) {
        parent.insertBefore(element, next);
      }
      last.set(parent, element);
      describe(element, widget, around, groups.has(widget.id));
    }
    for (const id of groups) {
      chooseStop(elements.get(id));
    }
    for (const row of byId("widgets").querySelectorAll("[role=row]")) {
      const cells = [...row.querySelectorAll("[role=cell]")].map((cell) => cell.textContent);
      row.ariaDescription = cells.filter((text) => !row.ariaLabel.includes(text)).join(", ");
    }
    sayFocus(widgets.find(({ focused }) => focused));
    sayNew(widgets.filter(({ live }) => live).map(({ name }) => name));
  }

  let said = []; // the texts that a screen reader was given to read
  let saidTimer = 0;

  /** Has a screen reader read those of these texts that were not there before. */
  function sayNew(texts) {
    const fresh = texts.filter((text) => !said.includes(text));
    said = texts;
    if (fresh.length > 0) {
      clearTimeout(saidTimer);
      // Among hundreds of other changes Orca would drop this one.
      saidTimer = setTimeout(() => {
        byId("said").textContent = fresh.join(" ");
        saidTimer = setTimeout(() => byId("said").replaceChildren(), 5000); // it is among the widgets, too
      }, 700);
    }
  }

  /** While the keyboard works the canvas, a screen reader reads the element of the widget that has the focus there. */
  function sayFocus(widget) {
    const element = elements.get(widget?.id);
    if (element) {
      canvas.setAttribute("aria-activedescendant", element.id);
    } else {
      canvas.removeAttribute("aria-activedescendant");
    }
    // What is typed into a text field of the canvas goes to an element that the viewer makes beside it.
    const typed = byId("viewer").querySelector(":scope > input");
    if (typed) {
      typed.tabIndex = -1;
      typed.ariaLabel = widget?.name ?? "";
    }
  }

  const stopsOf = (group) => [...group.querySelectorAll("[data-stop]")];

  /** One widget of a group is a stop of the Tab key: the focused one, else the chosen, the last or the first one. */
  function chooseStop(group) {
    const stops = stopsOf(group);
    const stop =
      stops.find((element) => element === document.activeElement) ??
      stops.find((element) => element.getAttribute("aria-selected") === "true") ??
      stops.find((element) => element.tabIndex === 0) ??
      stops[0];
    for (const element of stops) {
      element.tabIndex = element === stop ? 0 : -1;
    }
  }

  function elementOf(widget) {
    const tag = TAGS[widget.role] ?? "div";
    const known = elements.get(widget.id);
    if (known?.localName === tag) {
      return known;
    }
    known?.remove();
    const element = document.createElement(tag);
    element.id = `widget-${widget.id}`;
    element.tabIndex = -1;
    const on = (event, action, value) =>
      element.addEventListener(event, (happened) => {
        if ("stop" in element.dataset) {
          happened.stopPropagation(); // what is around it is a widget, too
          viewer?.act(widget.id, action, value?.());
        }
      });
    on("click", "click");
    on("focus", "focus");
    on("change", "set", () => element.value);
    elements.set(widget.id, element);
    return element;
  }

  /** `around` is the widget that contains this one, if any; a group contains others. */
  function describe(element, widget, around, isGroup) {
    const set = (name, value) => {
      if (value === null || value === undefined) {
        element.removeAttribute(name);
      } else if (element.getAttribute(name) !== String(value)) {
        element.setAttribute(name, value);
      }
    };
    // What is set again, though it is the same, reaches a screen reader as a change: hundreds of them hide the real ones.
    const setText = (text) => {
      if (element.textContent !== text) {
        element.textContent = text;
      }
    };
    const isText = widget.role === "text";
    const isStop = (widget.clicks || widget.focusable) && !isText && !isGroup;
    const isCell = isText && around?.role === "row";
    set("role", isText ? (isCell ? "cell" : null) : widget.role);
    set("aria-label", isText ? null : widget.name);
    set("aria-description", isCell ? null : widget.description);
    set("aria-disabled", widget.disabled);
    set(CHOSEN[widget.role] ?? "aria-checked", widget.checked);
    set("aria-rowcount", widget.rows);
    set("aria-colcount", widget.columns);
    set("aria-rowindex", widget.row);
    set("aria-valuenow", typeof widget.value === "number" ? widget.value : null);
    set("data-stop", isStop ? "" : null);
    if (isStop && !GROUPS.has(around?.role)) {
      element.tabIndex = 0;
    }
    if (element.localName === "input") {
      if (document.activeElement !== element) {
        element.value = widget.value ?? "";
      }
    } else if (isText) {
      setText((isCell && widget.description) || widget.name); // a cell may be cut where it is drawn
    } else if (!isGroup && widget.role !== "row") {
      const isSaid = widget.role === "combobox" && widget.name.includes(widget.value);
      setText(isSaid ? "" : `${widget.value ?? ""}`);
    }
    const [left, top, width, height] = widget.rect ?? [0, 0, 0, 0];
    const [x, y] = around?.rect ?? [0, 0];
    Object.assign(element.style, {
      left: `${left - x}px`,
      top: `${top - y}px`,
      width: `${width}px`,
      height: `${height}px`,
      overflow: isGroup ? "visible" : "",
    });
  }

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  /** The widget of a group that is next to one of them in a direction; what lies aside is farther. */
  function nextTo(from, [dx, dy], stops) {
    const center = (element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    };
    const [x, y] = center(from);
    const far = (element) => {
      const [right, down] = center(element).map((place, axis) => place - [x, y][axis]);
      const along = right * dx + down * dy;
      return along > 0.5 ? along + 2 * Math.abs(right * dy + down * dx) : Infinity;
    };
    const [next] = stops.map((element) => [far(element), element]).sort(([one], [other]) => one - other);
    return next[0] < Infinity ? next[1] : null;
  }

  function installMirror() {
    const widgets = byId("widgets");
    // While a screen reader is here, the Tab key does not lead to the canvas, which is the same again.
    widgets.addEventListener("focusin", () => (canvas.tabIndex = -1));
    widgets.addEventListener("focusout", () => (canvas.tabIndex = 0));
    widgets.addEventListener("keydown", (event) => {
      const element = event.target;
      const group = element.parentElement.closest("[role=tablist], [role=table], [role=group]");
      if (ARROWS[event.key] && group && element.localName !== "input") {
        event.preventDefault();
        nextTo(element, ARROWS[event.key], stopsOf(group))?.focus({ preventScroll: true });
        chooseStop(group);
      } else if ([" ", "Enter"].includes(event.key) && element.localName === "div") {
        event.preventDefault();
        element.click(); // buttons do this by themselves
      }
    });
  }

  /** Before the first and behind the last widget of the canvas, the Tab key goes on to what is around the viewer. */
  function installExits() {
    const exit = (event) => {
      const isOnCanvas = !byId("widgets").contains(event.target);
      if (event.key === "Tab" && isOnCanvas && viewer?.exits(event.shiftKey)) {
        event.stopPropagation(); // the program would start over and keep the key from the browser
        (event.shiftKey ? canvas : byId("said")).focus(); // from where the browser goes on: the widgets were all passed
      }
    };
    byId("viewer").addEventListener("keydown", exit, { capture: true });
  }

  // ---- measuring --------------------------------------------------------------------------------

  /** The WebGPU device that was opened last. */
  let device = null;

  /** Programs ask for the features that they know of; those for subgroups get these, too, where there are any. */
  function askForSubgroups() {
    const adapters = globalThis.GPUAdapter?.prototype;
    const request = adapters?.requestDevice;
    if (!request) {
      return;
    }
    adapters.requestDevice = async function (asked = {}) {
      const features = new Set(asked.requiredFeatures ?? []);
      if (this.features.has("subgroups")) {
        features.add("subgroups");
      }
      device = await request.call(this, { ...asked, requiredFeatures: [...features] });
      return device;
    };
  }

  function gpu() {
    const info = device?.adapterInfo ?? {};
    return JSON.stringify({
      vendor: info.vendor ?? "",
      architecture: info.architecture ?? "",
      description: info.description ?? "",
      fallback: Boolean(info.isFallbackAdapter),
      subgroups: Boolean(device?.features.has("subgroups")),
    });
  }

  function whyNoGpu() {
    if (!window.isSecureContext) {
      return "This page is not in a secure context, which WebGPU needs: use https, 127.0.0.1, or an HTML file opened from disk.";
    }
    return navigator.gpu ? "" : "This browser has no WebGPU, or it is disabled.";
  }

  function browser() {
    const brands = navigator.userAgentData?.brands?.filter(({ brand }) => !/not.*brand/i.test(brand)) ?? [];
    const known = brands.find(({ brand }) => brand !== "Chromium") ?? brands[0];
    if (known) {
      return `${known.brand} ${known.version}`;
    }
    const agent = navigator.userAgent;
    const [, version] = /Version\/([\d.]+).*Safari/.exec(agent) ?? [];
    return version ? `Safari ${version}` : (/(Firefox|Edg|Chrome)\/[\d.]+/.exec(agent)?.[0].replace("/", " ") ?? "a browser");
  }

  /** Ends when somebody sees the page. */
  function seen() {
    return new Promise((resolve) => {
      const look = () => {
        if (!document.hidden) {
          document.removeEventListener("visibilitychange", look);
          resolve();
        }
      };
      document.addEventListener("visibilitychange", look);
      look();
    });
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      viewer?.hidden();
    }
  });

  // ---- the viewer's side ------------------------------------------------------------------------

  let afterFrame = null;
  let frames = 0;

  function frame() {
    frames += 1;
    if (afterFrame) {
      // Runs after the frame is drawn, before the browser clears it.
      queueMicrotask(afterFrame);
      afterFrame = null;
    }
    mirrorTimer ||= setTimeout(mirror, 250);
  }

  function failed(message) {
    if (root.dataset.failed) {
      return;
    }
    root.dataset.failed = "true";
    viewer = null;
    root.classList.add("opens");
    const sentence = document.createElement("p");
    sentence.textContent = "Sparsescope crashed; this is a bug. Reload the page to start again.";
    const details = document.createElement("pre");
    details.textContent = message;
    loader.replaceChildren(sentence, details);
    loader.hidden = false;
  }

  /**
   * Ends the page when the program has trapped; a panic tells by itself. Other errors are none of the
   * program's: an extension's, or that of a browser whose layout takes two rounds.
   */
  function ended(error) {
    if (error instanceof WebAssembly.RuntimeError) {
      failed(`${error}`);
    }
  }

  function cannot(sentence) {
    root.dataset.failed = "true";
    root.classList.add("opens");
    byId("progress").hidden = true;
    byId("doing").textContent = sentence;
  }

  window.sparsescope = {
    /** The widgets on the canvas: a list of {id, role, name, value, rect, …} in reading order. */
    widgets: () => JSON.parse(viewer?.widgets() ?? "[]"),
    /** The number of frames drawn so far. */
    frames: () => frames,
    png,
    /** What a link shows as CSV or as SVG, as Save writes it. */
    table: (link) => viewer.table(link),
    svg: (link) => viewer.svg(link),
    page: {
      frame,
      shows,
      save,
      saveAsPng,
      saveHtml,
      saveLesson,
      choose: () => byId("choose").click(),
      openExample,
      home: () => setTimeout(home), // the focus moves, which the program must not see in a frame
      copyLink,
      failed,
      keep,
      gpu,
      whyNoGpu,
      browser,
      seen,
      isHidden: () => document.hidden,
      now: () => new Date().toISOString().replace(/\.\d+/, ""),
      turn: () => new Promise((resolve) => setTimeout(resolve)),
    },
  };

  // ---- the start --------------------------------------------------------------------------------

  function missing() {
    if (typeof WebAssembly === "undefined") {
      return "Sparsescope needs WebAssembly, which this browser does not support or has disabled.";
    }
    // A function that makes a vector of sixteen zeros.
    const vectors = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11];
    if (!WebAssembly.validate(new Uint8Array(vectors))) {
      return "Sparsescope needs WebAssembly SIMD, which this browser does not support.";
    }
    // The context that the viewer draws with: making another one takes a fifth of a second.
    if (!canvas.getContext("webgl2")) {
      return "Sparsescope needs WebGL 2, which this browser does not support or has disabled.";
    }
    if (location.protocol === "file:" && !byId("program")) {
      return "This page needs a web server, e.g. `sparsescope serve`. `sparsescope export --html` writes a file that opens from disk.";
    }
    return null;
  }

  const begin = () => {
    const first = atHome() && isDark ? themed("v1;view=best;as=auto") : stateIn(written ?? fragment()) || lessonLink;
    return wasm_bindgen.Viewer.start(canvas, first, Boolean(script.example), hasHome, isAlone, byId("lessons").textContent);
  };

  /** Starts the viewer, which then shows what was chosen meanwhile. */
  async function run() {
    viewer = await begin();
    early?.();
    early = null;
  }

  /** How often the viewer was started again. */
  let restarts = 0;

  /**
   * The browser has taken the canvas's graphics away, as it does when the driver ends: starts the viewer again on
   * another canvas, with what was open. What is measured goes on.
   */
  async function startAgain() {
    const old = viewer;
    if (!old) {
      return;
    }
    const open = old.files();
    viewer = null;
    old.stop();
    old.free();
    const other = canvas.cloneNode();
    canvas.replaceWith(other);
    canvas = other;
    restarts += 1;
    if (restarts > MOST_RESTARTS) {
      failed("The browser keeps losing the graphics context.");
      return;
    }
    watchGraphics();
    try {
      await run();
    } catch (error) {
      cannot(`The viewer cannot draw: ${error.message ?? error}.`);
      loader.hidden = false;
      return;
    }
    const missing = [];
    for (const name of open) {
      const file = files.get(name);
      const isOnly = Boolean(file?.address) && file.address === example;
      if (file?.bytes) {
        await show({ ...file, name, isOnly });
      } else if (file?.address) {
        await show({ ...(await bundleAt(file.address)), isOnly });
      } else {
        missing.push(name);
      }
    }
    const again = "The browser lost the graphics context; the viewer restarted with everything that was open or measured";
    viewer?.say(missing.length ? `${again}, except ${missing.join(", ")}, which must be dropped again.` : `${again}.`);
  }

  const MOST_RESTARTS = 5;

  function watchGraphics() {
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      startAgain();
    });
  }

  /**
   * Where a browser imitates a device, its count of the canvas's pixels is the imitating screen's, not the one that the
   * ratio gives: then the viewer goes by the ratio.
   */
  function checkPixels() {
    const entries = ResizeObserverEntry.prototype;
    if (!("devicePixelContentBoxSize" in entries)) {
      return;
    }
    const observer = new ResizeObserver(([entry]) => {
      observer.disconnect();
      const counted = entry.devicePixelContentBoxSize[0].inlineSize;
      if (Math.abs(counted - entry.contentRect.width * devicePixelRatio) > 2) {
        delete entries.devicePixelContentBoxSize;
      }
    });
    observer.observe(canvas);
  }

  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

  async function start() {
    installHome();
    if (atHome()) {
      // Making the context takes long, and the start page needs none.
      await nextFrame();
      await nextFrame();
    }
    const reason = missing();
    if (reason) {
      cannot(reason);
      return;
    }
    window.addEventListener("error", (event) => ended(event.error));
    window.addEventListener("unhandledrejection", (event) => ended(event.reason));
    installDrop();
    installWhole();
    installMirror();
    installExits();
    askForSubgroups();
    watchGraphics();
    checkPixels();
    performance.mark("sparsescope:start");
    const asked = atHome() ? [] : bundles();
    try {
      await wasm_bindgen({ module_or_path: program() });
      downloads.delete("the viewer");
    } catch (error) {
      cannot(`The viewer could not be loaded: ${error.message ?? error}.`);
      return;
    }
    performance.mark("sparsescope:program");
    try {
      await run();
    } catch (error) {
      cannot(`The viewer cannot draw: ${error.message ?? error}.`);
      return;
    }
    runs();
    viewer.wait(true); // a picture without the bundles would only take time
    for (const bundle of await asked) {
      await show(bundle);
    }
    sayMeasuredAgain();
    viewer?.wait(false);
    performance.mark("sparsescope:opened");
    // One frame to draw it, the next to know that it is visible.
    await nextFrame();
    await nextFrame();
    if (viewer) {
      uncover();
      performance.mark("sparsescope:picture");
      root.dataset.ready = "true";
    }
    if (script.worker && !isAlone) {
      // Without it, e.g. on pages without TLS, the page needs the network; nothing else changes.
      navigator.serviceWorker?.register(script.worker).catch(() => {});
    }
  }

  start();
})();
