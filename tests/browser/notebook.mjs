// Drives JupyterLab over a notebook with more viewers than it keeps live. Takes the path of Chromium and that of a
// Python that has sparsescope, with its viewer, and jupyterlab, anywidget, nbconvert and scipy.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { launch } from "./browser.mjs";

const [chromium, python] = process.argv.slice(2);
const CELLS = 12;
const MOST_LIVE = 8;

const folder = mkdtempSync(join(tmpdir(), "sparsescope-notebook-"));
const file = join(folder, "test.ipynb");

const code = (source) => ({ cell_type: "code", execution_count: null, id: `c${code.count++}`, metadata: {}, outputs: [], source });
code.count = 0;

const cells = [
  code("import scipy.sparse as sp\nimport sparsescope as ss\nviews = []"),
  ...Array.from({ length: CELLS }, (_, k) =>
    code(`views.append(ss.spy(sp.eye_array(${100 + k}, format="csr"), name="eye ${k}"))\nviews[-1]`),
  ),
  code("rows = globals().get('rows', 10) + 10\nviews[0].widget.zoom = (50, 50, rows)"),
  code("print('link', views[1].widget.link, views[1].widget.zoom)"),
  code("ss.solve(sp.eye_array(3), [1, 2, 3])"),
  code('ss.skyline({"price": [3, 1, 2], "stars": [3, 1, 1]}, minimize="price", maximize="stars")'),
];
const kernelspec = { name: "python3", display_name: "Python 3", language: "python" };
writeFileSync(file, JSON.stringify({ cells, metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 }));

/** A port that nobody uses. */
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Waits until something holds. */
async function until(what, holds, seconds = 60) {
  const end = Date.now() + 1000 * seconds;
  for (;;) {
    const found = await holds();
    if (found) {
      return found;
    }
    assert.ok(Date.now() < end, `${what}: not after ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const log = (words) => console.log(words);

function convert() {
  const args = ["-m", "nbconvert", "--to", "html", "--execute", file, "--output", "converted"];
  execFileSync(python, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const html = readFileSync(join(folder, "converted.html"), "utf8");
  const inlined = html.match(/data:image\/svg\+xml;base64,[^"]+/g) ?? [];
  const pictures = inlined.map((address) => Buffer.from(address.split(",")[1], "base64").toString());
  const named = pictures.filter((svg) => svg.includes("<title>Structure of eye "));
  assert.equal(named.length, CELLS - 1, "nbconvert keeps the pictures");
  for (const title of ["<title>Residual after ", "<title>Skyline: 2 of 3 points<"]) {
    assert.ok(pictures.some((svg) => svg.includes(title)), `nbconvert keeps ${title}`);
  }
  assert.ok(!html.includes("model_id"), "and no widgets");
  log("nbconvert keeps the pictures");
}

const port = await freePort();
const base = `http://127.0.0.1:${port}`;
const options = [
  "--no-browser",
  "--allow-root",
  `--ServerApp.port=${port}`,
  "--ServerApp.ip=127.0.0.1",
  "--IdentityProvider.token=",
  `--ServerApp.root_dir=${folder}`,
  "--LabApp.expose_app_in_browser=True",
];
const own = ["CONFIG", "DATA", "RUNTIME"].map((what) => [`JUPYTER_${what}_DIR`, join(folder, ".jupyter", what)]);
const settings = join(folder, ".jupyter", "settings");
const environment = { ...process.env, ...Object.fromEntries(own), JUPYTERLAB_SETTINGS_DIR: settings };
/** Every cell is in the document, not only those in view; nothing covers them. */
for (const [name, value] of [
  ["notebook-extension/tracker", { windowingMode: "none" }],
  ["apputils-extension/notification", { fetchNews: "false", checkForUpdates: false }],
]) {
  const path = join(settings, "@jupyterlab", `${name}.jupyterlab-settings`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
}
const server = spawn(python, ["-m", "jupyterlab", ...options], { cwd: folder, env: environment, stdio: ["ignore", "ignore", "pipe"] });
let errors = "";
server.stderr.on("data", (text) => (errors += text));

let browser;
try {
  await until("JupyterLab starts", () => fetch(`${base}/api/status`).then((answer) => answer.ok, () => false));
  browser = await launch(chromium);
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 } });
  const elsewhere = [];
  await context.route(/./, (route) => {
    const url = new URL(route.request().url());
    if (url.host === `127.0.0.1:${port}` || ["blob:", "data:"].includes(url.protocol)) {
      return route.continue();
    }
    elsewhere.push(url.href);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => log(`page error: ${error}`));

  const command = (id, args = {}) => page.evaluate(([id, args]) => window.jupyterapp.commands.execute(id, args), [id, args]);
  const opened = async () => {
    await page.goto(`${base}/lab/tree/test.ipynb`);
    await until("the notebook opens", () => page.evaluate(() => Boolean(window.jupyterapp?.shell.currentWidget?.sessionContext?.isReady)));
  };
  /** Runs the cell at a position, and waits for it; returns what it printed. */
  const run = async (index) =>
    page.evaluate(async (index) => {
      const notebook = window.jupyterapp.shell.currentWidget;
      notebook.content.deselectAll();
      notebook.content.activeCellIndex = index;
      await window.jupyterapp.commands.execute("notebook:run-cell");
      const { outputs } = notebook.content.widgets[index].model;
      return Array.from({ length: outputs.length }, (_, k) => outputs.get(k).toJSON().text ?? "").join("");
    }, index);
  const pictures = () => page.locator('.sparsescope > button:has(img[alt^="eye "])').count();
  const frames = () => page.locator(".sparsescope > iframe").count();
  const cell = (k) => page.locator(".jp-Cell").nth(1 + k).locator(".sparsescope");
  /** Clicks on the picture of a cell, and waits until the viewer shows it. */
  const wake = async (k) => {
    await cell(k).locator("button").click();
    await until(`viewer ${k}`, () =>
      cell(k).evaluate((root) => root.querySelector("iframe")?.contentDocument?.documentElement?.dataset.ready === "true"),
    );
  };
  const inFrame = (k, act, value) => cell(k).evaluate((root, [act, value]) => {
    const { contentWindow } = root.querySelector("iframe");
    return new Function("window", "value", `return ${act}`)(contentWindow, value);
  }, [act, value]);

  await opened();
  let start = Date.now();
  await command("notebook:run-all-cells");
  await until("all pictures", async () => (await pictures()) === CELLS);
  await until("decoded pictures", () => page.evaluate(() => [...document.querySelectorAll(".sparsescope img")].every((image) => image.naturalWidth > 100)));
  assert.equal(await frames(), 0, "no viewer before a click");
  log(`${CELLS} pictures after ${Date.now() - start} ms`);

  start = Date.now();
  await wake(0);
  log(`the first viewer after ${Date.now() - start} ms`);
  const names = await inFrame(0, "window.sparsescope.widgets().map((one) => `${one.name} ${one.value ?? ''}`).join('\\n')");
  assert.match(names, /Structure of eye 0/);
  assert.match(names, /Rows 40 to 59, columns 40 to 59/, "the zoom that Python set before");
  start = Date.now();
  await wake(1);
  log(`the second after ${Date.now() - start} ms`);
  if (process.env.SPARSESCOPE_SCREENSHOTS) {
    await page.screenshot({ path: join(process.env.SPARSESCOPE_SCREENSHOTS, "notebook.png") });
  }

  await run(CELLS + 1);
  await until("a zoom from Python", () => inFrame(0, "window.location.hash.includes('at=50,50,30')"));
  log("Python zooms the viewer");
  const viewer = cell(1).locator("iframe");
  await viewer.scrollIntoViewIfNeeded();
  const box = await viewer.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await until("a zoom with the wheel", async () => {
    await page.mouse.wheel(0, -300);
    return inFrame(1, "window.location.hash.includes('at=')");
  });
  const answer = await until("a zoom that Python sees", async () => {
    const text = await run(CELLS + 2);
    return /at=/.test(text) && text;
  });
  log(`Python sees ${answer.trim()}`);

  for (let k = 2; k < CELLS; k++) {
    await wake(k);
    assert.equal(await frames(), Math.min(k + 1, MOST_LIVE));
  }
  assert.equal(await pictures(), CELLS - MOST_LIVE, "the oldest are pictures again");
  assert.equal(await cell(0).locator("button").count(), 1);
  const state = await page.evaluate(() => {
    const { live, programs } = globalThis[Symbol.for("sparsescope")];
    return [live.length, programs.size];
  });
  assert.deepEqual(state, [MOST_LIVE, 1], "one program for all");
  for (let k = CELLS - MOST_LIVE; k < CELLS; k++) {
    assert.equal(await inFrame(k, "window.document.documentElement.dataset.failed ?? ''"), "", `viewer ${k}`);
    assert.equal(await inFrame(k, "window.document.querySelector('canvas').getContext('webgl2').isContextLost()"), false, `viewer ${k}`);
  }
  log(`${MOST_LIVE} of ${CELLS} viewers are live, with one program`);
  await wake(0);
  assert.match(await inFrame(0, "window.location.hash"), /at=50,50,30/, "it shows what it showed before");
  const solve = CELLS + 2;
  await wake(solve);
  assert.equal(await inFrame(solve, "window.document.documentElement.dataset.failed ?? ''"), "");
  assert.match(await inFrame(solve, "window.location.hash"), /chart=convergence/);
  log("a solve has a viewer");

  const memory = async () => {
    const session = await context.newCDPSession(page);
    await session.send("HeapProfiler.collectGarbage");
    const { metrics } = await session.send("Performance.enable").then(() => session.send("Performance.getMetrics"));
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
  };
  const before = await memory();
  await page.evaluate((last) => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.deselectAll();
    notebook.activeCellIndex = last;
  }, CELLS);
  await command("notebook:delete-cell");
  await until("a cell that is deleted ends its viewer", async () => (await frames()) === MOST_LIVE - 1);
  await until("its memory is free", async () => (await memory()).Frames < before.Frames);
  log("a deleted cell frees its viewer");

  await command("docmanager:save");
  const saved = readFileSync(file).length;
  assert.ok(saved < CELLS * 70_000, `the notebook has ${saved} bytes`);

  await opened();
  await until("pictures after a reload", async () => (await pictures()) === CELLS - 1);
  await wake(3);
  log("a reloaded notebook has its pictures and viewers");

  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart());
  await until("the kernel restarts", () => page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === "idle"));
  assert.equal(await inFrame(3, "window.document.documentElement.dataset.ready"), "true", "a viewer outlives its kernel");
  await cell(4).locator("button").click();
  const note = () => cell(4).locator("p").evaluate((note) => note.textContent);
  await until("a picture without its kernel says so", async () => /^The kernel does not answer/.test(await note()));
  await command("notebook:run-all-cells");
  await until("pictures after a restart", async () => (await pictures()) === CELLS - 1);
  await wake(5);
  log("after a restart, running the cells again is enough");
  assert.deepEqual(elsewhere, [], "nothing comes from the network");
  convert();
} catch (error) {
  console.error(errors.split("\n").slice(-15).join("\n"));
  throw error;
} finally {
  await browser?.close();
  server.kill("SIGINT");
  setTimeout(() => server.kill("SIGKILL"), 5000).unref();
  await new Promise((resolve) => server.once("exit", resolve));
  rmSync(folder, { recursive: true, force: true });
}
