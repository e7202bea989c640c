// Compiles the kernels' sources with the browser's own compiler, which is stricter than the one that the
// program uses elsewhere.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const BLOCKS = [32, 64, 96, 128, 160, 192, 224, 256];

/** Every text as the page compiles it, by the name of its file. */
function texts(folder) {
  const read = (name) => readFileSync(join(folder, name), "utf8");
  const families = readdirSync(folder).filter(
    (name) => name.endsWith(".wgsl") && !["common.wgsl", "slots.wgsl"].includes(name),
  );
  return Object.fromEntries(
    families.map((name) => {
      const enables = name.includes("subgroup") ? "enable subgroups;\n" : "";
      const slots = read(name).includes("sum_of_slots(") ? read("slots.wgsl") : "";
      return [name, enables + read("common.wgsl") + slots + read(name)];
    }),
  );
}

/** In the page: compiles a text, and builds each of its kernels for each size of workgroups. */
async function compile({ text, blocks }) {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) {
    return { error: "no adapter answered" };
  }
  const missing = ["subgroups", "timestamp-query"].filter((feature) => !adapter.features.has(feature));
  if (missing.length) {
    return { error: `the adapter has no ${missing.join(", ")}` };
  }
  const device = await adapter.requestDevice({ requiredFeatures: ["subgroups"] });
  const module = device.createShaderModule({ code: text });
  const { messages } = await module.getCompilationInfo();
  const found = messages.map(({ type, lineNum, message }) => `${type} in line ${lineNum}: ${message}`);
  const kernels = [...text.matchAll(/@compute\s+@workgroup_size\(block\)\s+fn (\w+)/g)].map(([, name]) => name);
  for (const entryPoint of kernels) {
    for (const block of blocks) {
      try {
        await device.createComputePipelineAsync({
          layout: "auto",
          compute: { module, entryPoint, constants: { block } },
        });
      } catch (error) {
        found.push(`${entryPoint} of ${block}: ${error.message}`);
      }
    }
  }
  device.destroy();
  return { found, kernels };
}

export const cases = {
  async "every kernel's text is compiled by the browser, for every size of workgroups"(context, given) {
    const page = await context.newPage();
    await page.goto(`${given.address}/notices.txt`);
    let kernels = 0;
    for (const [name, text] of Object.entries(texts(given.kernels))) {
      const { error, found, kernels: built } = await page.evaluate(compile, { text, blocks: BLOCKS });
      assert.equal(error, undefined);
      assert.deepEqual(found, [], name);
      assert.ok(built.length > 0, name);
      kernels += built.length;
    }
    await page.close();
    return `${kernels} kernels of ${BLOCKS.length} sizes`;
  },
};
