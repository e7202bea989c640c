// The page as others host it: in a folder of their server, and in a frame of their own page.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";

import { draw, Viewer } from "./page.mjs";

const FOLDER = "/some/sub/folder/";

export const cases = {
  async "the page works in a folder of any server, also offline"(context, given) {
    const elsewhere = [];
    const host = await served(async ({ url }, response) => {
      if (!url.startsWith(FOLDER)) {
        elsewhere.push(url);
        response.writeHead(404).end();
        return;
      }
      const found = await fetch(`${given.address}/${url.slice(FOLDER.length)}`);
      response.writeHead(found.status, { "Content-Type": found.headers.get("Content-Type") });
      response.end(Buffer.from(await found.arrayBuffer()));
    });
    const home = `${host.address}${FOLDER}`;
    const viewer = await Viewer.open(context, home);
    const landing = viewer.page.locator("#landing");
    await landing.getByRole("link", { name: /^Who wins on my matrix/ }).click();
    await viewer.shows("view=best");
    await viewer.find("button", /^Matrix nlpkkt80/);
    assert.ok(viewer.page.url().startsWith(`${home}?bundle=examples/gpu.zip#`), viewer.page.url());
    await viewer.click("button", "Sparsescope");
    await landing.waitFor();
    assert.equal(viewer.page.url(), home);
    await viewer.page.waitForFunction(() => navigator.serviceWorker.controller);
    await context.setOffline(true);
    await viewer.page.reload();
    await viewer.page.waitForSelector("html[data-ready]", { state: "attached" });
    await landing.getByRole("link", { name: /^Teach memory layouts/ }).click();
    await viewer.find("text", /What has to be stored/);
    assert.deepEqual(elsewhere, []);
    await viewer.close();
    host.close();
  },

  async "?embed=lesson:NAME shows a lesson that fills its frame, whatever size that gets"(context, given) {
    const src = `${given.address}/?embed=lesson:coalescing`;
    const around = await pageAround(`<iframe src="${src}" width="900" height="600"></iframe>`);
    const page = await context.newPage();
    await page.goto(around.address);
    const frame = page.frames()[1];
    await frame.waitForSelector("html[data-ready]", { state: "attached" });
    // The text is beside the board, or above it where the frame is narrow.
    for (const [width, height, above] of [[900, 600, false], [400, 700, true], [1100, 500, false]]) {
      await page.locator("iframe").evaluate((iframe, size) => Object.assign(iframe, size), { width, height });
      await frame.waitForFunction(
        ([width, height, above]) => {
          const all = window.sparsescope.widgets();
          const next = all.find(({ name }) => name === "Lesson: next step")?.rect;
          const board = all.find(({ name }) => name.startsWith("Memory layouts of"))?.rect;
          const isInside = ([left, top, w, h]) => left >= 0 && top >= 0 && left + w <= width && top + h <= height;
          const isAbove = () => next[1] + next[3] <= board[1];
          const { clientWidth, clientHeight } = document.getElementById("canvas");
          // The link to the whole page has a line of its own in narrow frames.
          const fills = clientWidth === width && clientHeight === height - (above ? 44 : 0);
          return fills && next && board && isInside(next) && board[0] + 100 < width && isAbove() === above;
        },
        [width, height, above],
      );
      await draw(frame);
      await page.screenshot({ path: join(given.screenshots, `embedded-${width}.png`) });
    }
    const names = await frame.evaluate(() => window.sparsescope.widgets().map((widget) => widget.name));
    assert.deepEqual(names.filter((name) => AROUND.test(name)), []);
    // The whole page shows the same, although nobody has moved on yet.
    const whole = new URL(await frame.locator("#whole").getAttribute("href"));
    assert.deepEqual([whole.search, whole.hash], ["", "#v1;view=layouts;lesson=coalescing,0"]);
    await page.close();
    around.close();
    const other = await Viewer.open(context, `${given.address}/?embed=lesson:none`);
    await other.find("text", "The lesson `none` is not open: drop its file here.");
    await other.close();
    // A lesson of another view.
    const levels = await Viewer.open(context, `${given.address}/?embed=lesson:gauss-seidel`);
    await levels.find("text", /^Here each of 8 rows/);
    await levels.close();
  },

  async "?embed= shows a view alone, with a link to the whole page"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/?embed=1#v1;view=layouts;lesson=coalescing,1`);
    await viewer.find("text", "Row-major: along the row");
    assert.equal(await viewer.page.locator("#landing").isVisible(), false);
    const names = (await viewer.widgets()).map(({ name }) => name);
    assert.deepEqual(names.filter((name) => AROUND.test(name)), []);
    await viewer.page.keyboard.press("PageDown");
    await viewer.shows("view=layouts", "told=true");
    assert.ok(/\?embed=1#/.test(viewer.page.url()), viewer.page.url());
    await viewer.screenshot({ path: join(given.screenshots, "embedded.png") });
    assert.equal(await viewer.page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0);
    const opened = context.waitForEvent("page");
    await viewer.page.locator("#whole").click();
    const whole = await opened;
    await whole.waitForSelector("html[data-ready]", { state: "attached" });
    const { search, hash } = new URL(whole.url());
    assert.equal(search, "");
    assert.ok(/told=true/.test(hash), hash);
    assert.equal(await whole.locator("#whole").isVisible(), false);
    await whole.close();
    await viewer.close();
    // Without a link there is no start page either.
    const best = await Viewer.open(context, `${given.address}/?bundle=${given.bundles["golden.zip"]}&embed`);
    assert.equal(await best.page.locator("#landing").isVisible(), false);
    await best.close();
  },

  async "a page that embeds the viewer chooses bundle and view"(context, given) {
    const inner = `${given.address}/?bundle=${given.bundles["golden.zip"]}#v1;view=runs`;
    const around = await pageAround(`<iframe src="${inner}" width="1200" height="700"></iframe>`);
    const page = await context.newPage();
    await page.goto(around.address);
    const frame = page.frames()[1];
    await frame.waitForSelector("html[data-ready]", { state: "attached" });
    const names = await frame.evaluate(() => window.sparsescope.widgets().map((widget) => widget.name));
    assert.ok(names.some((name) => name.startsWith("Run of ")), [...new Set(names)].join(", "));
    const before = await page.evaluate(() => history.length);
    const matrix = frame.locator('#widgets [role=tab][aria-label="Matrix"]');
    await matrix.waitFor({ state: "attached" });
    await matrix.evaluate((element) => element.click());
    await frame.waitForFunction(() => location.hash.includes("view=matrix"));
    assert.equal(await page.evaluate(() => history.length), before);
    await page.close();
    around.close();
  },
};

/** What is around a view or a lesson, unless another page shows it alone. */
const AROUND = /^(Sparsescope|Runs|Matrices|Open…|Keys|End presentation|Leave|Settings|Copy link.*|Save.*)$/;

/** A server on this machine: its address, and a function that closes it. */
async function served(answer) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** A server whose page is this HTML. */
const pageAround = (html) =>
  served((_, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(html);
  });
