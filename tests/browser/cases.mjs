// What the page must do in a browser. Each case gets its own browser context and `given`: the address of the
// server, bundles and their names, and what the command line says about them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { once } from "node:events";

import { DEFAULT_SIZE, drawing, Viewer } from "./page.mjs";

const sets = (texts) => [...new Set(texts)];

/** The address that shows one of the served bundles. */
const shown = (given, name, fragment = "") => `${given.address}/?bundle=${given.bundles[name]}${fragment}`;

export const cases = {
  async "nothing is drawn while nothing changes"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "golden.zip"));
    const frames = () => viewer.page.evaluate(() => window.sparsescope.frames());
    const rests = async (what) => {
      // What changed is drawn when there was no frame for a while.
      await viewer.until(`${what} at rest`, async () => {
        const before = await frames();
        await viewer.page.waitForTimeout(1500);
        return (await frames()) === before;
      });
      const before = await frames();
      await viewer.page.waitForTimeout(6000);
      const drawn = (await frames()) - before;
      assert.ok(drawn <= 1, `${what}: ${drawn} frames in 6 s`);
    };
    for (const view of ["best", "runs", "layouts", "predicted"]) {
      const before = await frames();
      await viewer.page.evaluate((view) => (location.hash = `#v1;view=${view}`), view);
      await viewer.until(`frames of ${view}`, async () => (await frames()) > before);
      await rests(view);
    }
    await viewer.page.keyboard.press("/");
    await viewer.find("textbox", "Search matrices");
    await rests("a focused text field");
    await viewer.close();
  },

  async "the start page needs neither program nor example, and a choice waits for both"(context, given) {
    // A file that is dropped chooses the operation, as no link does.
    const early = new Viewer();
    early.page = await context.newPage();
    await early.page.addInitScript(() => delete Navigator.prototype.serviceWorker); // which would answer the next page
    const go = await hold(early.page, "**/*.wasm");
    await early.page.goto(`${given.address}/`, { waitUntil: "commit" });
    await early.page.waitForFunction(() => performance.getEntriesByName("sparsescope:start").length);
    const solvers = await fetch(`${given.address}/examples/solvers.zip`);
    await early.drop("solvers.zip", Buffer.from(await solvers.arrayBuffer()));
    go();
    await early.until("an operation", () => /;operation=/.test(early.page.url()));
    await early.page.close();
    const page = await context.newPage();
    const asked = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const release = await hold(page, "**/*.wasm");
    await page.goto(`${given.address}/`, { waitUntil: "commit" });
    await page.waitForFunction(() => {
      const pictures = [...document.querySelectorAll("#landing .card img")];
      return pictures.length === 3 && pictures.every((picture) => picture.complete && picture.naturalWidth > 0);
    });
    await page.screenshot({ path: join(given.screenshots, "landing.png") });
    assert.deepEqual(asked.filter((path) => path.startsWith("/examples/")), []);
    await page.waitForFunction(() => performance.getEntriesByName("sparsescope:start").length);
    await page.getByRole("link", { name: /^Teach memory layouts/ }).click();
    assert.ok(await page.locator("#loader").isVisible() && !(await page.locator("#landing").isVisible()));
    // Another choice while the viewer starts: the last one counts.
    await page.evaluate(() => {
      const { start } = wasm_bindgen.Viewer;
      wasm_bindgen.Viewer.start = (...given) => {
        document.querySelector('#landing a[href*="view=spy"]').click();
        return start(...given);
      };
    });
    release();
    await page.waitForFunction(() => window.sparsescope.widgets().some(({ name }) => /^Cells of nlpkkt80/.test(name)));
    await page.waitForFunction(() => document.getElementById("loader").hidden);
    await page.close();
  },

  async "each card leads to what it says, and Home and Back to the start page"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/`);
    const landing = viewer.page.locator("#landing");
    const choose = (name) => landing.getByRole("link", { name }).click();
    assert.ok(await landing.isVisible());
    await choose(/^Who wins on my matrix/);
    await viewer.shows("view=best");
    await viewer.find("button", /^Matrix nlpkkt80/);
    await viewer.find("button", /^Close .*H100/);
    assert.ok(/\?bundle=examples\/gpu\.zip#/.test(viewer.page.url()), viewer.page.url());
    await viewer.click("button", "Sparsescope");
    await landing.waitFor();
    await choose(/^Look inside a matrix/);
    await viewer.find("group", /^Cells of nlpkkt80/);
    await viewer.page.keyboard.press("h");
    await landing.waitFor();
    // With the keyboard alone: the lesson is the third of the links.
    await viewer.page.keyboard.press("Tab");
    await viewer.page.keyboard.press("Tab");
    await viewer.page.keyboard.press("Tab");
    await viewer.page.keyboard.press("Enter");
    await viewer.shows("lesson=csr-hll,0");
    await viewer.until("the first step", async () => (await viewer.widgets()).some(({ name }) => /What has to be stored/.test(name)));
    await viewer.page.goBack();
    await landing.waitFor();
    // An example replaces the one before.
    await choose("SpMV on 16 cores of an Intel Xeon");
    await viewer.find("button", /^Matrix fem-3dof/);
    const names = (await viewer.widgets()).map((widget) => widget.name);
    assert.equal(names.filter((name) => /^Close .*(H100|EPYC|Xeon)/.test(name)).length, 1, sets(names).join("; "));
    await viewer.page.goBack();
    await landing.waitFor();
    await viewer.page.goForward();
    await viewer.find("button", /^Matrix fem-3dof/);
    // The address opens the same in another window.
    const other = await Viewer.open(context, viewer.page.url());
    await other.find("button", /^Matrix fem-3dof/);
    await other.close();
    await viewer.page.goto(`${given.address}/`);
    await viewer.page.waitForSelector("html[data-ready]", { state: "attached" });
    await landing.getByRole("button", { name: "Measure on this machine" }).click();
    await viewer.find("button", "Close the Run here panel");
    await viewer.close();
  },

  async "of two requests the last counts, and an address restores all that it names"(context, given) {
    const prepare = (page) => page.addInitScript(() => delete Navigator.prototype.serviceWorker); // it would fetch
    const viewer = await Viewer.open(context, `${given.address}/`, prepare);
    const { page } = viewer;
    const landing = page.locator("#landing");
    const choose = (name) => landing.getByRole("link", { name }).click();
    const open = async () => (await viewer.widgets()).filter(({ name }) => /^Close [^t]/.test(name)).length;
    const release = await hold(page, "**/examples/gpu.zip");
    await choose(/^Who wins on my matrix/);
    await page.goBack();
    await landing.waitFor();
    await choose("SpMV on 16 cores of an Intel Xeon");
    await viewer.find("button", /^Matrix fem-3dof/);
    assert.equal(await page.locator("#loader").isVisible(), false);
    release();
    await page.waitForTimeout(1500); // longer than the other one takes
    assert.deepEqual([await open(), (await viewer.texts()).filter((text) => /Matrix nlpkkt80/.test(text))], [1, []]);
    // An example that was opened by hand stays when an address brings back two others.
    const bundles = ["cpu", "solvers"].map((name) => `bundle=examples/${name}.zip`).join("&");
    await page.goto(`${given.address}/?${bundles}#v1;view=best`);
    await page.waitForSelector("html[data-ready]", { state: "attached" });
    await viewer.until("both", async () => (await open()) === 2);
    await viewer.click("button", /^Close [^t]/);
    await viewer.until("one of them", async () => (await open()) === 1);
    await viewer.click("button", "Sparsescope");
    await landing.waitFor();
    await choose(/^Who wins on my matrix/);
    await viewer.until("another one", async () => (await open()) === 2);
    await page.goBack();
    await landing.waitFor();
    await page.goBack();
    await viewer.until("all three", async () => (await open()) === 3);
    await viewer.close();
  },

  async "the start page is dark where the system is, and fits a phone"(context, given) {
    const prepare = async (page) => {
      await page.emulateMedia({ colorScheme: "dark" });
      await page.setViewportSize({ width: 390, height: 844 });
    };
    const viewer = await Viewer.open(context, `${given.address}/`, prepare);
    await viewer.page.screenshot({ path: join(given.screenshots, "landing-dark.png"), fullPage: true });
    const seen = await viewer.page.evaluate(() => {
      const landing = document.getElementById("landing");
      const targets = [...landing.querySelectorAll("a, button")];
      return {
        color: getComputedStyle(landing).backgroundColor,
        picture: landing.querySelector("img").currentSrc,
        wider: landing.scrollWidth - landing.clientWidth,
        small: targets.filter((target) => target.getBoundingClientRect().height < 44).map((target) => target.textContent),
      };
    });
    assert.equal(seen.color, "rgb(24, 24, 24)");
    assert.ok(/wins-dark/.test(seen.picture), seen.picture);
    assert.deepEqual([seen.wider, seen.small], [0, []]);
    await viewer.page.getByRole("link", { name: /^Teach memory layouts/ }).click();
    await viewer.shows("theme=dark", "lesson=csr-hll,0");
    await viewer.close();
  },

  async "bundles in the address leave no start page, and examples keep their old names"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "golden.zip"));
    assert.equal(await viewer.page.locator("#landing").isVisible(), false);
    await viewer.find("text", "Sparsescope");
    await viewer.close();
    const old = await Viewer.open(context, `${given.address}/?bundle=examples/mini.zip#v1;view=runs;run=3`);
    await old.find("button", /^Matrix fem-3dof/);
    await old.find("text", /^The example mini\.zip of this link was measured again and is now cpu\.zip/);
    assert.ok(!(await old.widgets()).some(({ name }) => name === "Close the run's details"));
    await old.close();
  },

  async "the example is shown at once and nothing is wrong"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/#v1;view=best;as=auto`, drawing);
    await viewer.find("button", "Charts");
    await viewer.find("button", /^Matrix fem-3dof/);
    const colours = await viewer.colours(join(given.screenshots, "example.png"));
    assert.ok(colours > 100, `a picture of ${colours} colours`);
    const milliseconds = await viewer.picture();
    await viewer.close();
    return `first picture after ${milliseconds} ms, software renderer`;
  },

  async "a loaded bundle gives the numbers of export --csv"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "golden.zip", "#v1;view=runs;sort=matrix"));
    const rows = tableRows(await viewer.widgets());
    const [header, ...lines] = readFileSync(given.csv, "utf8").trim().split("\n").map((line) => line.split(","));
    const column = (line, name) => line[header.indexOf(name)];
    assert.ok(rows.length > 10, `${rows.length} rows`);
    for (const row of rows) {
      const fits = lines.filter(
        (line) =>
          column(line, "matrix") === row.matrix &&
          column(line, "kernel") === row.kernel &&
          column(line, "threads") === row.threads &&
          (column(line, "hot") === "true") === (row.caches === "warm") &&
          close(Number(row.gflops), Number(column(line, "gflops"))) &&
          close(Number(row.gbs), Number(column(line, "gbs"))) &&
          column(line, "check") === row.check,
      );
      assert.ok(fits.length > 0, `not in the CSV: ${JSON.stringify(row)}`);
    }
    await viewer.close();
    return `${rows.length} rows compared`;
  },

  async "runs of an operation that the program does not know are shown as they rate themselves"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "unknown.zip", "#v1;view=runs;operation=increment"));
    await viewer.find("button", /^Sort by ns/);
    await viewer.click("button", /^Run of cpu\/increment\/.* on vector/);
    await viewer.click("button", "Matrix of the selected run");
    await viewer.shows("view=matrix");
    await viewer.find("text", /^time an element, ns/);
    await viewer.click("button", "Charts");
    await viewer.find("img", "Figure: Kernels by matrix");
    await viewer.screenshot({ path: join(given.screenshots, "unknown-operation.png") });
    await viewer.close();
    // Without an operation in the link it is the one of most runs.
    const products = await Viewer.open(context, shown(given, "unknown.zip", "#v1;view=runs"));
    await products.find("button", /^Sort by GFLOPS/);
    await products.close();
  },

  async "a click on a run leads to its matrix, and Back leads back"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "golden.zip"));
    await viewer.click("button", "Runs");
    await viewer.shows("view=runs");
    await viewer.click("button", /^Run of cpu\/hll\/.* on dense-row/);
    await viewer.click("button", "Matrix of the selected run");
    await viewer.shows("view=matrix");
    await viewer.find("text", "Longest row");
    await viewer.screenshot({ path: join(given.screenshots, "matrix.png") });
    await viewer.page.goBack();
    await viewer.shows("view=runs");
    await viewer.find("button", /^Run of cpu\/hll\/.* on dense-row/);
    await viewer.screenshot({ path: join(given.screenshots, "runs.png") });
    // The viewer's own Back undoes that step.
    await viewer.click("button", "Back");
    await viewer.shows("view=matrix");
    await viewer.close();
  },

  async "from the table to the structure of a matrix, into it, and on to the chart"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "golden.zip", "#v1;view=runs"));
    await viewer.click("button", /^Run of cpu\/csr\/serial on poisson2d/);
    await viewer.click("button", "Matrix of the selected run");
    await viewer.shows("view=matrix");
    await viewer.click("button", "Structure");
    await viewer.shows("view=spy");
    // poisson2d?n=6: 6 × 6 blocks of a five-point stencil, 36 + 4 · 30 nonzeros.
    await viewer.find("text", /^All 156 nonzeros/);
    const cells = await viewer.find("group", /^Cells of poisson2d/);
    const [left, top, width, height] = cells.rect;
    const texts = await viewer.hover(left + width / 72, top + height / 72);
    assert.ok(texts.includes("Row 0") && texts.includes("Column 0") && texts.includes("Value 4"), texts.join("; "));
    await viewer.page.mouse.wheel(0, -240);
    await viewer.until("an address that says the part", () => /;at=/.test(viewer.page.url()));
    await viewer.find("text", /^Rows 0 to \d+, columns 0 to \d+/);
    const colours = await viewer.colours(join(given.screenshots, "structure.png"));
    assert.ok(colours > 50, `a picture of ${colours} colours`);
    await viewer.click("button", "Charts");
    await viewer.until("an address without the view", () => !/view=/.test(viewer.page.url()));
    await viewer.find("img", /^Figure: Kernels/);
    await viewer.close();
  },

  async "the structures of the example are drawn by the adapter as they are painted without it"(context, given) {
    const address = `${given.address}/#v1;view=spy`;
    const drawn = await Viewer.open(context, address, (page) =>
      page.addInitScript(() => {
        const upload = WebGL2RenderingContext.prototype.texStorage3D;
        window.uploads = 0;
        WebGL2RenderingContext.prototype.texStorage3D = function (...of) {
          window.uploads += 1;
          return upload.apply(this, of);
        };
      }),
    );
    // A GPU that rejects the program for cells: they are painted as images.
    const painted = await Viewer.open(context, address, (page) =>
      page.addInitScript(() => {
        WebGL2RenderingContext.prototype.getUniformBlockIndex = () => 0xffffffff;
      }),
    );
    const matrices = (await drawn.widgets()).filter((widget) => /^Matrix ./.test(widget.name));
    assert.equal(matrices.length, 10, (await drawn.texts()).join("; "));
    // Uploads of counts for the finest and the coarser levels, once per matrix; the first one, the largest, is shown at
    // the start.
    const uploads = () => drawn.page.evaluate(() => window.uploads);
    assert.equal(await uploads(), 2);
    for (const [k, { name }] of matrices.entries()) {
      const pictures = [];
      for (const viewer of [drawn, painted]) {
        await viewer.page.bringToFront();
        await viewer.click("button", name);
        const cells = await viewer.find("group", `Cells of ${name.replace("Matrix ", "")}`);
        await viewer.page.mouse.move(640, 795);
        await viewer.frames(3);
        const [x, y, width, height] = cells.rect;
        const clip = { x: x + 2, y: y + 2, width: width - 4, height: height - 4 };
        pictures.push(await viewer.screenshot({ clip }));
      }
      const { colours, share } = await drawn.ofPixels(pictures, ([one, other]) => {
        // A pixel may be on the border of two cells; colours may differ in the last bit.
        const differs = (pixel, k) =>
          [0, 8, 16].some((bit) => Math.abs(((pixel >> bit) & 255) - ((other[k] >> bit) & 255)) > 2);
        return { colours: new Set(one).size, share: one.filter(differs).length / one.length };
      });
      assert.ok(colours > 1, `${name} is blank`);
      assert.ok(share < 0.01, `${name}: ${(100 * share).toFixed(1)} % of the pixels differ`);
      assert.equal(await uploads(), 2 * (k + 1), name);
    }
    assert.equal(await painted.page.evaluate(() => typeof window.uploads), "undefined");
    await painted.close();
    await drawn.close();
  },

  async "an entry is found in every format, a kernel is followed, a matrix is drawn by hand"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/#v1;view=layouts`);
    await viewer.find("button", "CSR: row_ptr[2] = 4, row 2");
    await viewer.click("button", "Nonzero 1 in row 2, column 1");
    await viewer.shows("pick=2,1");
    await viewer.screenshot({ path: join(given.screenshots, "layouts.png") });
    await viewer.page.goto(`${given.address}/#v1;view=layouts;walk=cuda/csr/thread-per-row`);
    await viewer.click("button", "Next step");
    await viewer.shows("step=1");
    await viewer.screenshot({ path: join(given.screenshots, "layouts-step.png") });
    await viewer.page.goto(`${given.address}/#v1;view=layouts;small=3x0,1/1/2`);
    await viewer.click("button", "No nonzero in row 2, column 0");
    await viewer.shows("small=3x0,1/1/0,2");
    await viewer.close();
  },

  async "a matrix that is dropped is shown, its structure saved as image"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/`);
    const text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2.5\n2 1 -1\n2 2 2.5\n3 3 7\n";
    await viewer.drop("three.mtx", Buffer.from(text));
    await viewer.shows("view=spy");
    await viewer.find("group", "Cells of three");
    await viewer.find("text", /^All 5 nonzeros/);
    const saved = async (...buttons) => {
      const download = viewer.page.waitForEvent("download");
      for (const button of ["Export", ...buttons]) {
        await viewer.click("button", button);
      }
      return readFileSync(await (await download).path());
    };
    const svg = (await saved("Save SVG")).toString();
    assert.ok(svg.startsWith("<svg") && svg.includes("three"), svg.slice(0, 200));
    const png = await saved("Save PNG");
    assert.equal(png.subarray(0, 8).toString("latin1"), "\x89PNG\r\n\x1a\n");
    // Two pixels per point of the figure.
    const size = /<svg[^>]* width="(\d+)" height="(\d+)"/.exec(svg);
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [2 * size[1], 2 * size[2]]);
    // 85 mm at 300 pixels an inch, which it says.
    const print = await saved("85 mm", "Save PNG");
    assert.deepEqual([print.readUInt32BE(16), print.toString("latin1", 37, 41), print.readUInt32BE(41)], [1004, "pHYs", 11811]);
    await viewer.drop("bad.mtx", Buffer.from("%%MatrixMarket matrix coordinate real general\n2 2\n"));
    await viewer.find("text", /^Could not open bad\.mtx: line 2/);
    await viewer.close();
  },

  async "a file of each form is a matrix when it is dropped"(context, given) {
    const file = (name) => readFileSync(new URL(`../python/forms/files/${name}`, import.meta.url));
    const names = [
      "scipy-csr.npz", "numpy-c.npy", "octave-v7-R.mat", "rbio-rra.rb", "petsc-real.petsc", "python.mtx.zip",
      "two-streams.mtx.bz2", "two-streams.mtx.xz", "two-streams.mtx.zst",
    ];
    const viewer = await Viewer.open(context, `${given.address}/`);
    for (const name of names) {
      const [stem] = name.split(".");
      await viewer.drop(name, file(name));
      await viewer.find("group", new RegExp(`^Cells of ${stem}`));
      await viewer.find("text", /^All 10 nonzeros/);
      // They hold the same matrix, which a page opens once.
      const close = new RegExp(`^Close ${stem}`);
      await viewer.click("button", close);
      await viewer.until(`${name} closed`, async () => !(await viewer.widgets()).some((widget) => close.test(widget.name)));
    }
    await viewer.drop("csr.h5ad", file("csr.h5ad"));
    await viewer.find("text", /^Could not open csr\.h5ad: .*HDF5/);
    await viewer.close();
  },

  async "a link shows what its sender saw and adds no step back"(context, given) {
    const sender = await Viewer.open(context, shown(given, "golden.zip"));
    await sender.click("button", "Theme: Light");
    await sender.click("button", "Dark");
    await sender.click("button", "Runs");
    await sender.click("button", /^Run of cpu\/csr\/serial on poisson2d/);
    await sender.click("button", "Matrix of the selected run");
    await sender.shows("view=matrix", "theme=dark");
    await sender.find("text", "Longest row");
    await sender.page.mouse.move(640, 790);
    await sender.frames(3);
    const texts = await sender.texts();
    const reader = await Viewer.open(context, sender.page.url());
    await reader.page.mouse.move(640, 790);
    await reader.frames(3);
    assert.deepEqual(await reader.texts(), texts);
    assert.equal((await reader.find("button", "Back")).disabled, true);
    assert.equal(await reader.page.evaluate(() => history.length), 2); // about:blank and this page
    await reader.screenshot({ path: join(given.screenshots, "dark.png") });
    // Another link, followed in the same page.
    await reader.page.evaluate(() => (location.hash = "#v1;view=runs;search=dense"));
    await reader.find("button", /^Run of .* on dense-row/);
    await sender.close();
    await reader.close();
  },

  async "a copied link brings the views, the bundles and a small file along"(context, given) {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const sender = await Viewer.open(context, `${given.address}/#v1;view=best;as=auto`);
    const text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2.5\n2 1 -1\n2 2 2.5\n3 3 7\n";
    await sender.drop("three, small.mtx", Buffer.from(text));
    await sender.find("group", "Cells of three, small");
    // Another file of that name.
    await sender.drop("three, small.mtx", Buffer.from(text.replace("3 3 7", "3 3 8")));
    await sender.find("group", "Cells of three, small (2)");
    await sender.click("button", "Copy link");
    // The page says that the address is only valid on this machine.
    await sender.find("text", /^Link copied\. It works only on this machine.*`sparsescope export --html`/);
    const link = await sender.page.evaluate(() => navigator.clipboard.readText());
    await sender.close();
    const reader = await Viewer.open(context, link);
    await reader.find("group", "Cells of three, small (2)");
    await reader.find("button", /^Matrix three, small(?! \(2\))/);
    await reader.find("button", /^Matrix fem-3dof/);
    // It stays in the address when the view changes.
    await reader.click("button", "Matrix");
    await reader.until("both in the address", () => /view=matrix.*;[bz]=/.test(reader.page.url()));
    await reader.close();
    // Links once had files as they are; a file that was cut off is named.
    const old = `${given.address}/#v1;view=spy;b=old.mtx,${Buffer.from(text).toString("base64url")};z=cut.mtx,AAAA`;
    const other = await Viewer.open(context, old);
    await other.find("group", "Cells of old");
    await other.find("text", /^Could not open a file in the address: /);
    assert.deepEqual((await other.texts()).filter((text) => /unknown here/.test(text)), []);
    // A link that is pasted into the open tab.
    const pasted = Buffer.from(text.replace("3 3 7", "3 3 9")).toString("base64url");
    await other.page.evaluate((part) => (location.hash = `#v1;view=spy;b=pasted.mtx,${part}`), pasted);
    await other.find("group", "Cells of pasted");
    await other.close();
  },

  async "an own lesson travels in the link to a step, and as one file"(context, given) {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const sender = await Viewer.open(context, `${given.address}/#v1;view=layouts`);
    const steps = [1, 2, 3].map((number) => ({
      title: `Step ${number} of mine`,
      text: Array.from({ length: 12 }, (_, k) => `Paragraph ${k}: {rows} rows. `.repeat(40)),
      show: "v1;view=layouts;small=four",
    }));
    const lesson = { format: "sparsescope-lesson", version: 1, id: "mine", language: "en", title: "Mine", steps };
    const bytes = Buffer.from(JSON.stringify(lesson));
    assert.ok(bytes.length > 24_000, "it fits only because it is compressed");
    await sender.drop("my lesson.json", bytes);
    await sender.find("text", "Step 1 of mine");
    await sender.page.keyboard.press("PageDown");
    await sender.find("text", "Step 2 of mine");
    await sender.click("button", "Copy link to this step");
    await sender.find("text", /^Link copied\./);
    const link = await sender.page.evaluate(() => navigator.clipboard.readText());
    assert.ok(link.length < 8_000, `${link.length} characters`);
    const download = sender.page.waitForEvent("download");
    await sender.click("button", "Save this lesson as one HTML file");
    const saved = await download;
    assert.equal(saved.suggestedFilename(), "mine.html");
    const path = join(given.screenshots, "lesson.html");
    await saved.saveAs(path);
    await sender.close();
    const reader = await Viewer.open(context, link);
    await reader.find("text", "Step 2 of mine");
    await reader.close();
    const file = await Viewer.open(context, `file://${path}`);
    await file.find("text", "Step 1 of mine");
    await file.close();
    return `${bytes.length} bytes in a link of ${link.length} characters`;
  },

  async "a file that is too large for a link is named"(context, given) {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const viewer = await Viewer.open(context, `${given.address}/#v1;view=best;as=auto`);
    await viewer.drop("big.mtx", Buffer.from(`%%MatrixMarket matrix coordinate real general\n%${randomBytes(27_000).toString("base64")}\n1 1 1\n1 1 1\n`));
    await viewer.find("group", "Cells of big");
    await viewer.click("button", "Copy link");
    await viewer.find("text", /^Link copied, without big\.mtx: /);
    await viewer.close();
  },

  async "after the first visit the page needs no network"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/#v1;view=best;as=auto`);
    await viewer.page.waitForFunction(() => navigator.serviceWorker.controller);
    // An example is kept once it was fetched.
    await viewer.page.reload();
    await viewer.page.waitForSelector("html[data-ready]", { state: "attached" });
    await context.setOffline(true);
    const answers = [];
    viewer.page.on("response", (response) => answers.push(response));
    await viewer.page.reload();
    await viewer.page.waitForSelector("html[data-ready]", { state: "attached" });
    await viewer.find("button", /^Matrix fem-3dof/);
    const own = answers.filter((response) => response.url().startsWith(given.address));
    assert.ok(own.length >= 5, `${own.length} files`);
    assert.ok(own.every((response) => response.fromServiceWorker()), own.map((response) => response.url()).join("; "));
    await viewer.close();
    return `${own.length} files kept`;
  },

  async "a narrow screen shows the views, and the matrices instead when asked"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/#v1;view=best;as=auto`, (page) => page.setViewportSize({ width: 390, height: 844 }));
    await viewer.find("button", /^Best on /);
    await viewer.screenshot({ path: join(given.screenshots, "narrow.png") });
    await viewer.click("button", "Matrices");
    await viewer.find("button", /^Matrix fem-3dof/);
    await viewer.screenshot({ path: join(given.screenshots, "narrow-side.png") });
    // The selection is visible.
    await viewer.click("button", /^Matrix fem-3dof/);
    await viewer.page.keyboard.press("5");
    await viewer.find("group", /^Cells of fem-3dof/);
    await viewer.screenshot({ path: join(given.screenshots, "narrow-spy.png") });
    await viewer.close();
  },

  async "a device that the browser imitates is drawn at its ratio of pixels"(context, given) {
    const phone = await context.browser().newContext({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 });
    const viewer = await Viewer.open(phone, `${given.address}/#v1;view=best`);
    assert.equal(await viewer.page.evaluate(() => document.getElementById("canvas").width), 780);
    await viewer.close();
    await phone.close();
  },

  async "dropped and chosen files are opened"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/`);
    const golden = readFileSync(given.files["golden.zip"]);
    await viewer.drop("golden.zip", golden);
    await viewer.find("button", /^Matrix dense-row/);
    const chooser = viewer.page.waitForEvent("filechooser");
    await viewer.click("button", "Open…");
    await (await chooser).setFiles({ name: "cut.zip", mimeType: "application/zip", buffer: golden.subarray(0, 1000) });
    await viewer.find("text", /^Could not open cut\.zip: /);
    await viewer.close();
  },

  async "a bundle that cannot be opened is one sentence, that of the command line"(context, given) {
    const refused = Object.entries(given.refused);
    const bundles = [...refused.map(([name]) => name), "golden.zip"].map((name) => `bundle=${given.bundles[name]}`);
    const viewer = await Viewer.open(context, `${given.address}/?${bundles.join("&")}`);
    for (const [name, sentence] of refused) {
      await viewer.find("text", `Could not open ${name}: ${sentence}.`);
    }
    await viewer.find("button", /^Matrix dense-row/);
    await viewer.close();
  },

  async "a server that fails or forbids is named, with what to do"(context, given) {
    const files = createServer((_, response) => response.end("bytes")).listen(0, "127.0.0.1");
    await once(files, "listening");
    const other = `http://127.0.0.1:${files.address().port}/result.zip`;
    const viewer = await Viewer.open(context, `${given.address}/?bundle=none.zip&bundle=${other}`);
    await viewer.find("text", `Could not open ${given.address}/none.zip: the server answered 404 Not Found.`);
    await viewer.find("text", new RegExp(`^Could not open ${other}: .*download it and drop it here\\.$`));
    files.close();
    // The browser itself reports both.
    assert.equal(viewer.errors.length, 3, viewer.errors.join("\n"));
    viewer.errors = [];
    await viewer.close();
  },

  async "what is drawn is saved as a file"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "golden.zip", "#v1;view=runs"));
    const download = viewer.page.waitForEvent("download");
    await viewer.click("button", "Export");
    await viewer.click("button", "Save CSV");
    const saved = await download;
    assert.equal(saved.suggestedFilename(), "sparsescope-runs.csv");
    const lines = readFileSync(await saved.path(), "utf8").trim().split("\n");
    assert.equal(lines.length, readFileSync(given.csv, "utf8").trim().split("\n").length);
    const png = await viewer.page.evaluate(async () => (await window.sparsescope.png()).type);
    assert.equal(png, "image/png");
    await viewer.close();
  },

  async "a screen reader finds and works the widgets"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "golden.zip"));
    const { page } = viewer;
    const runs = page.getByRole("tablist", { name: "Views" }).getByRole("tab", { name: "Runs", exact: true });
    await runs.waitFor({ state: "attached" });
    await runs.evaluate((element) => element.click());
    await viewer.shows("view=runs");
    const search = page.getByRole("textbox", { name: "Search matrices" });
    await search.evaluate((element) => {
      element.value = "dense";
      element.dispatchEvent(new Event("change"));
    });
    await viewer.shows("search=dense");
    const table = page.getByRole("table", { name: "Table of runs" });
    const rows = table.getByRole("row", { name: /on dense-row/ });
    await rows.first().waitFor({ state: "attached" });
    assert.ok((await rows.first().getByRole("cell").count()) >= 3);
    assert.match(await rows.first().evaluate((row) => row.ariaDescription), /\d threads?\b/);
    // The number of rows is that of all, of which some are on the screen.
    const csv = () => page.evaluate(() => window.sparsescope.table(location.hash.slice(1)));
    await viewer.until("the number of runs", async () => {
      const lines = (await csv()).trim().split("\n");
      return Number(await table.getAttribute("aria-rowcount")) === lines.length - 1;
    });
    await viewer.close();
  },

  async "every widget that a screen reader stops at has a name, in every view"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "golden.zip", "#v1;view=runs"));
    const views = ["Best", "Charts", "Runs", "Matrix", "Structure", "Layouts", "Predicted", "Levels", "Preconditioner", "Skyline"];
    for (const view of views) {
      await viewer.click("button", view);
      await viewer.until(`the tab ${view}`, async () =>
        (await viewer.widgets()).some(({ role, name, checked }) => role === "tab" && name === view && checked),
      );
      await viewer.frames(6);
      const stops = (await viewer.widgets()).filter(({ role, clicks, focusable }) => role !== "text" && (clicks || focusable));
      assert.ok(stops.length > 10, view);
      assert.deepEqual(stops.filter(({ name }) => !/[\p{L}\p{N}]/u.test(name)), [], view);
      await viewer.screenshot({ path: join(given.screenshots, `view-${view}.png`) }); // without an error of the graphics API
    }
    await viewer.close();
  },

  async "the Tab key stops once at the tabs, arrow keys move among them"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "golden.zip", "#v1;view=runs"));
    const { page } = viewer;
    const tab = (name) => page.getByRole("tab", { name, exact: true });
    await tab("Runs").waitFor({ state: "attached" });
    const canvas = () => page.evaluate(() => document.getElementById("canvas").tabIndex);
    const stops = () =>
      page.getByRole("tab").evaluateAll((tabs) => tabs.filter((tab) => tab.tabIndex === 0).map((tab) => tab.ariaLabel));
    assert.deepEqual(await stops(), ["Runs"]);
    assert.equal(await canvas(), 0);
    await tab("Runs").evaluate((element) => element.focus());
    assert.equal(await canvas(), -1);
    await page.keyboard.press("ArrowRight");
    const next = await page.evaluate(() => document.activeElement.ariaLabel);
    assert.notEqual(next, "Runs");
    assert.deepEqual(await stops(), [next]);
    await page.keyboard.press("ArrowLeft");
    assert.deepEqual(await stops(), ["Runs"]);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await viewer.until("another view", () => !/view=runs/.test(page.url()));
    await page.evaluate(() => document.activeElement.blur());
    assert.equal(await canvas(), 0);
    await viewer.close();
  },

  async "a screen reader reads the widget that has the focus on the canvas"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "golden.zip", "#v1;view=runs"));
    const { page } = viewer;
    const read = () =>
      page.evaluate(() => document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.ariaLabel);
    await page.locator("#canvas").focus();
    await page.keyboard.press("Tab");
    const first = await viewer.until("a widget", read);
    await page.keyboard.press("Tab");
    await viewer.until("the next widget", async () => ![undefined, first].includes(await read()));
    await viewer.close();
  },

  async "the Tab key visits the widgets of the canvas and leaves it, forwards and backwards"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/?embed=lesson:csr-hll`);
    const { page } = viewer;
    await page.evaluate(() => {
      const before = document.createElement("button");
      before.id = "before";
      document.body.prepend(before);
      before.focus();
    });
    const press = async (key) => {
      await page.keyboard.press(key);
      await viewer.frames(2);
      return page.evaluate(() => document.activeElement.id);
    };
    const visited = async () => (await viewer.widgets()).find(({ focused }) => focused)?.name;
    const names = new Set();
    let presses = 0;
    for (let at = await press("Tab"); at !== "whole"; at = await press("Tab"), presses += 1) {
      assert.equal(at, "canvas");
      assert.ok(presses < 100, [...names].join("; "));
      names.add(await visited());
    }
    assert.ok(names.has("Lesson: next step") && presses <= names.size + 5, `${presses}: ${[...names].join("; ")}`);
    // The next visit starts over.
    await page.locator("#canvas").focus();
    assert.equal(await press("Tab"), "canvas");
    assert.equal(await visited(), [...names].find(Boolean));
    assert.equal(await press("Shift+Tab"), "before");
    await viewer.close();
  },

  async "a screen reader reads the answer of a lesson's step when it appears"(context, given) {
    const viewer = await Viewer.open(context, shown(given, "golden.zip", "#v1;lesson=csr-hll,1"));
    const { page } = viewer;
    const said = (text) => async () => (await page.locator("#said").textContent()).includes(text);
    await viewer.until("the step", said("col and val hold the nonzeros of a row"));
    await page.locator("#canvas").focus();
    await page.keyboard.press("PageDown");
    await viewer.until("the answer", said("A row starts at its own pointer"));
    assert.equal(await said("col and val hold the nonzeros of a row")(), false);
    await viewer.close();
  },

  async "one file opens from disk, without a server or network"(context, given) {
    const asked = [];
    const watch = async (page) => page.on("request", (request) => asked.push(request.url()));
    const hosted = await Viewer.open(context, shown(given, "golden.zip", "#v1;view=runs"));
    // A single file does not offer what would have to be fetched.
    const texts = (await hosted.texts()).filter((text) => text !== "button SpMV on H100");
    await hosted.close();
    await context.setOffline(true);
    const viewer = await Viewer.open(context, `${given.standalone}#v1;view=runs`, watch);
    assert.deepEqual(await viewer.texts(), texts);
    const elsewhere = asked.filter((address) => !/^(file|data|blob):/.test(address));
    assert.deepEqual(elsewhere, []);
    await viewer.screenshot({ path: join(given.screenshots, "standalone.png") });
    await viewer.close();
  },

  async "a browser that lacks something is shown what"(context, given) {
    const without = async (spoil, sentence) => {
      const viewer = await Viewer.open(context, `${given.address}/`, (page) => page.addInitScript(spoil));
      assert.equal(await viewer.page.locator("#doing").innerText(), sentence);
      await viewer.close();
    };
    await without(() => {
      const get = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
        return kind === "webgl2" ? null : get.call(this, kind, ...more);
      };
    }, "Sparsescope needs WebGL 2, which this browser does not support or has disabled.");
    await without(
      () => delete globalThis.WebAssembly,
      "Sparsescope needs WebAssembly, which this browser does not support or has disabled.",
    );
  },

  async "a failure of the program is said on the page"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/`);
    await viewer.page.evaluate(() => window.sparsescope.page.failed("panicked at <here>"));
    const text = await viewer.page.locator("#loader").innerText();
    assert.ok(text.includes("Sparsescope crashed") && text.includes("panicked at <here>"), text);
    assert.deepEqual(await viewer.widgets(), []);
    await viewer.close();
  },

  async "a trap of the program ends the page, errors of others do not"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/#v1;view=best;as=auto`);
    await viewer.page.evaluate(() => {
      // When a layout takes two rounds, the browser reports a message without an error.
      const message = "ResizeObserver loop completed with undelivered notifications.";
      window.dispatchEvent(new ErrorEvent("error", { message }));
      setTimeout(() => {
        throw new TypeError("of an extension");
      });
      Promise.reject(new Error("of another extension"));
    });
    await viewer.until("both errors", () => viewer.errors.length === 2);
    await viewer.click("button", "Runs");
    await viewer.shows("view=runs");
    assert.equal(await viewer.page.locator("#loader").isVisible(), false);
    await viewer.page.evaluate(() => {
      // A program whose start function is the instruction `unreachable`.
      const program = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 8, 1, 0, 10, 5, 1, 3, 0, 0, 11];
      WebAssembly.instantiate(new Uint8Array(program));
    });
    await viewer.page.waitForSelector("html[data-failed]", { state: "attached" });
    const text = await viewer.page.locator("#loader").innerText();
    assert.ok(text.includes("Sparsescope crashed") && text.includes("RuntimeError"), text);
    assert.equal(viewer.errors.length, 3, viewer.errors.join("\n"));
    viewer.errors = [];
    await viewer.close();
  },
};

/** Holds back what the page requests at these addresses, until the returned function is called. */
async function hold(page, addresses) {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(addresses, async (route) => {
    await held;
    await route.continue().catch(() => {}); // the page may no longer want it
  });
  return release;
}

/** Equal but for what three digits leave out. */
function close(shownNumber, number) {
  return Math.abs(shownNumber - number) <= 0.0051 * Math.abs(number);
}

/** The lines of the table of runs, from the labels that stand side by side. */
function tableRows(widgets) {
  const runs = widgets.filter((widget) => widget.name.startsWith("Run of "));
  const bottom = DEFAULT_SIZE.height;
  const inside = (label, [left, top, width, height]) => {
    const [x, y, w, h] = label.rect;
    return x >= left && x < left + width && y + h / 2 > top && y + h / 2 < top + height;
  };
  return runs
    .filter(({ rect: [, top, , height] }) => top + height <= bottom)
    .map(({ rect }) => {
      const labels = widgets.filter((widget) => widget.role === "text" && inside(widget, rect));
      const texts = labels.sort((a, b) => a.rect[0] - b.rect[0]).map((label) => label.name);
      const [matrix, kernel, setting, caches, gflops, gbs, , , , check] = texts;
      const threads = String(parseInt(setting, 10));
      // Numbers are named by their headings.
      const after = (heading, text) => (text?.startsWith(`${heading} `) ? text.slice(heading.length + 1) : "none");
      return { matrix, kernel, threads, caches, gflops: after("GFLOPS", gflops), gbs: after("GB/s", gbs), check };
    });
}
