// Makes the pictures of README.md, docs/pictures/*.png, from the example bundles: `node tests/browser/pictures.mjs
// [WORD]`, only those whose name contains the word. It needs the page (`cargo web`), Chromium, and `npm ci` in this
// folder. It fails if something is missing, if a view does not show what it should, or if a picture is too large.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, extname, join, normalize } from "node:path";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { Viewer } from "./page.mjs";
import { withPalette } from "./png.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = join(HERE, "../..");
const PICTURES = join(ROOT, "docs/pictures");
const DIST = join(ROOT, "web/dist");
const GOLDEN = join(ROOT, "tests/golden");

/** The largest picture, in bytes. */
const LIMIT = 250_000;

/** Height of the bar above a presented view, in points; it is cut off. */
const BAR = 48;

const WIDE = { width: 1600, height: 900, scale: 1 };
const SMALL = { width: 800, height: 560, scale: 1.25 };

/** The views of the wide picture: who wins on 30 matrices, the structure of one of them, and what limits the kernels. */
const VIEWER =
  "v1;view=best;as=heat;layout=h(56:best,44:v(46:spy,54:chart));chart=roofline;matrix=3180781508431baf-stand-in";

const SMALL_MATRIX = "small=8x0,1/1/0,2,5/3/2,4/1,3,4,5,6,7/6/0,7";

/**
 * Each picture: the bundles, the view as a link names it, and the role and name of a widget that shows that the view is
 * there. Small pictures show a view without the bars around it.
 */
const pictures = {
  "viewer-light": [WIDE, ["examples/gpu.zip"], VIEWER, "button", /cuda\//],
  "viewer-dark": [WIDE, ["examples/gpu.zip"], `${VIEWER};theme=dark`, "button", /cuda\//],
  best: [SMALL, ["examples/gpu.zip"], "v1;view=best;as=heat", "img", /^On 30 matrices/],
  structure: [SMALL, ["examples/gpu.zip"], "v1;view=spy;search=nlpkkt80", "group", /^Cells of nlpkkt80/],
  layouts: [SMALL, [], `v1;view=layouts;${SMALL_MATRIX};formats=hll;pick=5,4`, "button", /^Nonzero /],
  solvers: [
    SMALL,
    ["golden/bundle-1.6.zip"],
    "v1;view=chart;operation=solve;chart=convergence;search=fem",
    "img",
    /^Figure: Convergence/,
  ],
  compare: [
    SMALL,
    ["examples/gpu.zip", "examples/cpu.zip"],
    "v1;view=chart;chart=roofline",
    "img",
    /^Figure: Roofline/,
  ],
  "own-kernel": [
    SMALL,
    ["golden/bundle-1.9.zip"],
    "v1;view=runs;backend=cuda;search=powerlaw;columns=kernel,setting,gflops,median_s,check",
    "button",
    /^Run of user\/my-csr/,
  ],
};

function fail(why) {
  console.error(`error: ${why}`);
  process.exit(1);
}

function chromium() {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync);
  return found ?? fail(`there is none of ${names.join(", ")} on the PATH`);
}

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** Serves the page, and the golden bundles below /golden/. */
async function serve() {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://here").pathname));
    const inGolden = path.startsWith("/golden/");
    const file = inGolden ? join(GOLDEN, path.slice("/golden/".length)) : join(DIST, path === "/" ? "index.html" : path);
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
    response.end(readFileSync(file));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
}

/** The page as it looks once it no longer changes. */
async function still(viewer, clip) {
  let before = Buffer.alloc(0);
  return viewer.until("a picture that stays the same", async () => {
    await viewer.frames(20);
    const shot = await viewer.page.screenshot({ clip });
    const rests = shot.equals(before);
    before = shot;
    return rests && shot;
  });
}

/** Takes a picture; what to say about it. */
async function take(browser, address, name) {
  const [{ width, height, scale }, bundles, state, role, shown] = pictures[name];
  const small = scale === SMALL.scale;
  const clip = small ? { x: 0, y: BAR, width, height } : undefined;
  const viewport = { width, height: height + (small ? BAR : 0) };
  const context = await browser.newContext({ viewport, deviceScaleFactor: scale, serviceWorkers: "block" });
  const query = bundles.map((bundle) => `bundle=${bundle}`).join("&");
  const viewer = await Viewer.open(context, `${address}/?${query}#${state}${small ? ";present=true" : ""}`);
  await viewer.find(role, shown);
  const { file, apart } = await withPalette(context, await still(viewer, clip));
  await viewer.close();
  await context.close();
  if (file.length > LIMIT) {
    throw new Error(`${file.length} bytes, more than the limit of ${LIMIT}`);
  }
  writeFileSync(join(PICTURES, `${name}.png`), file);
  return `${Math.round(file.length / 1000)} kB, colours within ${apart} of 255`;
}

const needed = [
  [join(DIST, "index.html"), "build the page with `cargo web`"],
  [join(HERE, "node_modules/playwright-core"), "run `npm ci` in tests/browser"],
  ...Object.values(pictures).flatMap(([, bundles]) =>
    bundles.map((bundle) => [
      bundle.startsWith("golden/") ? join(ROOT, "tests", bundle) : join(DIST, bundle),
      "build the page with `cargo web`",
    ]),
  ),
];
for (const [path, what] of needed) {
  if (!existsSync(path)) {
    fail(`${path} is missing: ${what}`);
  }
}
mkdirSync(PICTURES, { recursive: true });
const { launch } = await import("./browser.mjs");
const browser = await launch(chromium());
const address = await serve();
const wanted = Object.keys(pictures).filter((name) => name.includes(process.argv[2] ?? ""));
let failed = 0;
for (const name of wanted) {
  try {
    console.log(`docs/pictures/${name}.png: ${await take(browser, address, name)}`);
  } catch (error) {
    failed += 1;
    console.error(`error: docs/pictures/${name}.png: ${error.message}`);
  }
}
await browser.close();
process.exit(failed || !wanted.length ? 1 : 0);
