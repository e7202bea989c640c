// Runs the cases in Chromium: `node run.mjs GIVEN.json [WORD]`, only those whose name contains the word.
// Prints one line per case; exits with an error if one fails.

import { readFileSync } from "node:fs";

import { launch } from "./browser.mjs";
import { cases as views } from "./cases.mjs";
import { cases as here, timed } from "./here.mjs";
import { cases as hosted } from "./hosted.mjs";
import { newContext } from "./page.mjs";
import { cases as same } from "./same.mjs";
import { cases as shaders } from "./shaders.mjs";

/** Browsers at a time. Each runs one case at a time, so that no two share a clipboard or a graphics process. */
const BROWSERS = 2;

const given = JSON.parse(readFileSync(process.argv[2], "utf8"));
const wanted = (cases) => Object.entries(cases).filter(([name]) => name.includes(process.argv[3] ?? ""));
let passed = 0;
let failed = 0;

/** Runs a case in a context of its own and prints how it ended. */
async function judge(browser, [name, run]) {
  const began = performance.now();
  const seconds = () => `${Math.round((performance.now() - began) / 1000)} s`;
  let context;
  try {
    context = await newContext(browser);
    const note = await run(context, given);
    passed += 1;
    console.log(`ok      ${name} (${note ? `${note}; ` : ""}${seconds()})`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name} (${seconds()})\n${error.stack}`);
  }
  await context?.close();
}

/** Runs cases in this many browsers, each of which takes the next case when it is done with one. */
async function runIn(browsers, cases, isTimed) {
  const left = [...cases];
  const work = async () => {
    const browser = await launch(given.browser, isTimed);
    while (left.length) {
      await judge(browser, left.shift());
    }
    await browser.close();
  };
  await Promise.all(Array.from({ length: Math.min(browsers, left.length) }, work));
}

// The long ones first, so that at the end no browser waits long for the other.
await runIn(BROWSERS, wanted({ ...same, ...shaders, ...here, ...hosted, ...views }), false);
await runIn(1, wanted(timed), true);
console.log(`${passed} of ${passed + failed} cases passed`);
// A failed case may have left a server open.
process.exit(failed || !passed ? 1 : 0);
