// Runs the cases in Chromium: `node run.mjs GIVEN.json [WORD]`, only those whose name contains the word.
// Prints one line per case; exits with an error if one fails.

import { readFileSync } from "node:fs";

import { launch } from "./browser.mjs";
import { cases as views, DEFAULT_SIZE } from "./cases.mjs";
import { cases as here } from "./here.mjs";
import { cases as hosted } from "./hosted.mjs";
import { cases as same } from "./same.mjs";
import { cases as shaders } from "./shaders.mjs";

const cases = { ...views, ...same, ...shaders, ...hosted, ...here };

const given = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await launch(given.browser);
let failed = 0;
const wanted = Object.entries(cases).filter(([name]) => name.includes(process.argv[3] ?? ""));
for (const [name, run] of wanted) {
  const context = await browser.newContext({ viewport: DEFAULT_SIZE, acceptDownloads: true });
  const began = performance.now();
  const seconds = () => `${Math.round((performance.now() - began) / 1000)} s`;
  try {
    const note = await run(context, given);
    console.log(`ok      ${name} (${note ? `${note}; ` : ""}${seconds()})`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name} (${seconds()})\n${error.stack}`);
  }
  await context.close();
}
await browser.close();
console.log(`${wanted.length - failed} of ${wanted.length} cases passed`);
// A failed case may have left a server open.
process.exit(failed || !wanted.length ? 1 : 0);
