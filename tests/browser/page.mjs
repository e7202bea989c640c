// A page of the viewer as the cases see it: widgets by role and name, mouse input, and console errors.

import assert from "node:assert/strict";

const READY = "html[data-ready], html[data-failed]";
const PATIENCE = 20_000;

export const DEFAULT_SIZE = { width: 1280, height: 800 };

/** Has the canvas draw nothing, and the browser leave it out of the page, unless `window.draws` is true. The browser
 *  still checks the calls, but not the ranges of their vertices. */
function drawOnRequest() {
  const unseen = new CSSStyleSheet();
  unseen.replaceSync("#canvas { opacity: 0 }");
  document.adoptedStyleSheets = [unseen];
  let draws = false;
  Object.defineProperty(window, "draws", {
    get: () => draws,
    set: (value) => {
      draws = value;
      unseen.disabled = value;
    },
  });
  const { prototype } = WebGL2RenderingContext;
  const { drawArrays, drawElements } = prototype;
  prototype.drawArrays = function (mode, first, count) {
    drawArrays.call(this, mode, first, window.draws ? count : 0);
  };
  prototype.drawElements = function (mode, count, ...more) {
    drawElements.call(this, mode, window.draws ? count : 0, ...more);
  };
}

/**
 * A context whose pages compute every frame, but draw only those that are looked at: without a GPU, drawing takes
 * several times as long as the rest of a frame.
 */
export async function newContext(browser) {
  const context = await browser.newContext({ viewport: DEFAULT_SIZE, acceptDownloads: true });
  await context.addInitScript(drawOnRequest);
  return context;
}

/** Has a page, or a frame in one, draw from its start. */
export const drawing = (page) => page.addInitScript(() => (window.draws = true));

/** Has a page, or a frame in one, draw from now on. */
export const draw = (page) =>
  page.evaluate(async () => {
    window.draws = true;
    await window.sparsescope.png();
  });

export class Viewer {
  /** Opens an address and waits for the first picture. `before` prepares the page. */
  static async open(context, address, before = async () => {}) {
    const viewer = new Viewer();
    viewer.page = await context.newPage();
    viewer.page.setDefaultTimeout(PATIENCE);
    viewer.errors = [];
    viewer.page.on("pageerror", (error) => viewer.errors.push(String(error)));
    viewer.page.on("console", (message) => {
      // Misuse of the graphics API is only a warning.
      if (message.type() === "error" || /INVALID_|GL_INVALID/.test(message.text())) {
        viewer.errors.push(message.text());
      }
    });
    await before(viewer.page);
    await viewer.page.goto(address);
    await viewer.page.waitForSelector(READY, { state: "attached" });
    return viewer;
  }

  /** Closes the page, in whose console there must be no errors. */
  async close() {
    await this.page.close();
    assert.deepEqual(this.errors, []);
  }

  /** As one text: Playwright copies hundreds of objects slowly. */
  async widgets() {
    return JSON.parse(await this.page.evaluate(() => JSON.stringify(window.sparsescope.widgets())));
  }

  /** Every text that the canvas shows, sorted: what two equal pictures have in common. */
  async texts() {
    const widgets = await this.widgets();
    return widgets.map((widget) => `${widget.role} ${widget.name}`).sort();
  }

  /** Waits for a widget of this role whose name is, or matches, `name`. Tabs and rows are buttons, too. */
  async find(role, name) {
    const roles = role === "button" ? ["button", "tab", "row"] : [role];
    const fits = (widget) =>
      roles.includes(widget.role) && (name instanceof RegExp ? name.test(widget.name) : widget.name === name);
    return this.until(`${role} ${name}`, async () => (await this.widgets()).find(fits));
  }

  /** Clicks into the middle of a widget with the mouse, once it stays where it is. */
  async click(role, name) {
    let before = null;
    const rect = await this.until(`${role} ${name} at rest`, async () => {
      const { rect } = await this.find(role, name);
      const rests = String(rect) === String(before);
      before = rect;
      return rests && rect;
    });
    const [left, top, width, height] = rect;
    await this.page.mouse.move(left + width / 2, top + height / 2);
    await this.frames(2);
    await this.page.mouse.down();
    await this.page.mouse.up();
  }

  /** Puts the mouse somewhere; the texts that are shown then. */
  async hover(x, y) {
    await this.page.mouse.move(x - 1, y);
    await this.frames(2);
    await this.page.mouse.move(x, y);
    return this.until("a text at the mouse", async () => {
      const texts = (await this.widgets()).filter((widget) => widget.role === "text");
      return texts.some((widget) => widget.name.startsWith("Row ")) && texts.map((widget) => widget.name);
    });
  }

  /** Lets the page draw this many frames. */
  frames(count) {
    return this.page.evaluate(async (count) => {
      for (let i = 0; i < count; i++) {
        await new Promise(requestAnimationFrame);
      }
    }, count);
  }

  /** Waits until `probe` gives something, and gives that. */
  async until(what, probe, patience = PATIENCE) {
    const end = Date.now() + patience;
    for (;;) {
      const found = await probe();
      if (found) {
        return found;
      }
      if (Date.now() > end) {
        assert.fail(`waited in vain for: ${what}`);
      }
      await this.frames(2);
    }
  }

  /** Waits for the fragment to hold all of these parts. */
  async shows(...parts) {
    await this.until(`an address with ${parts.join(", ")}`, () => {
      const shown = new URL(this.page.url()).hash.slice(1).split(";");
      return parts.every((part) => shown.includes(part));
    });
  }

  /** Drops a file of these bytes onto the canvas. */
  async drop(name, bytes) {
    await this.page.evaluate(
      ({ name, bytes }) => {
        const carried = new DataTransfer();
        const letters = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
        carried.items.add(new File([letters], name));
        for (const type of ["dragover", "drop"]) {
          const event = new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true });
          document.getElementById("canvas").dispatchEvent(event);
        }
      },
      { name, bytes: bytes.toString("base64") },
    );
  }

  /** A screenshot. */
  async screenshot(options) {
    await draw(this.page);
    const png = await this.page.screenshot(options);
    await this.page.evaluate(() => (window.draws = false));
    return png;
  }

  /** Takes a screenshot into `file`; the number of colours in it. */
  async colours(path) {
    const png = await this.screenshot({ path });
    return this.ofPixels([png], ([pixels]) => new Set(pixels).size);
  }

  /**
   * What `found` gives of the pixels of pictures (PNG), 32-bit numbers each. It is called in a page of the browser, for a
   * million numbers take seconds to come from there, and so sees nothing but its argument.
   */
  async ofPixels(pngs, found) {
    const blank = await this.page.context().newPage();
    const answer = await blank.evaluate(
      async ({ pngs, found }) => {
        const pixels = pngs.map(async (png) => {
          const image = new Image();
          image.src = `data:image/png;base64,${png}`;
          await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
          canvas.drawImage(image, 0, 0);
          return new Uint32Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
        });
        return new Function(`return ${found}`)()(await Promise.all(pixels));
      },
      { pngs: pngs.map((png) => png.toString("base64")), found: String(found) },
    );
    await blank.close();
    return answer;
  }

  /** Milliseconds from the navigation to the first picture. */
  async picture() {
    const marks = () => performance.getEntriesByName("sparsescope:picture")[0].startTime;
    return Math.round(await this.page.evaluate(marks));
  }
}
