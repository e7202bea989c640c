// Measuring in the page, on a GPU that SwiftShader emulates.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Viewer } from "./page.mjs";
import { entry } from "./zip.mjs";

const LONG = 600_000;

/** No task of the page takes longer while it measures, in milliseconds. */
const LONGEST_TASK = 250;

/** A measurement ends within this time of the click on Cancel, in milliseconds. */
const LONGEST_CANCEL = 500;

/** Suite `mini` at a tenth of its size. */
const MINI = [
  "poisson2d?n=158",
  "stencil27?n=19",
  "fem-hex?n=11&dof=3",
  "banded?m=5000&half=500&row=20",
  "random?m=10000&row=10",
  "powerlaw?m=20000&nnz=70000&max=250",
  "road?m=30000",
  "circuit?m=11683&nnz=76639&dense=11419",
  "kkt?n=11",
  "diagonal?m=100000",
];

/** Opens the page with its panel; `before` prepares the page. */
async function opened(context, given, before) {
  const viewer = await Viewer.open(context, `${given.address}/#v1;view=best;as=auto`, before);
  await viewer.click("button", "Run here");
  await viewer.find("button", "Close the Run here panel");
  return viewer;
}

/** Writes into a field of the panel as assistive technology does. */
async function set(viewer, role, name, value) {
  const field = viewer.page.getByRole(role, { name });
  await field.waitFor({ state: "attached" });
  await field.evaluate((element, value) => {
    element.value = value;
    element.dispatchEvent(new Event("change"));
  }, value);
}

/** Asks for this many samples of each run. */
async function samples(viewer, count) {
  // The form moves when the GPU answers.
  await viewer.until("the browser's answer", async () =>
    (await viewer.widgets()).every(({ name }) => name !== "waiting for the browser"),
  );
  await viewer.until(`a form that says ${count} samples`, async () => {
    await viewer.click("spinbutton", "Samples per run");
    await viewer.frames(2);
    await viewer.page.keyboard.type(String(count));
    await viewer.page.keyboard.press("Enter");
    await viewer.frames(4);
    // A digit typed before the field had the focus has selected a view: go to the first one, which is drawn
    // quickly.
    await viewer.page.keyboard.press("1");
    await viewer.frames(2);
    const fields = (await viewer.widgets()).filter(({ name }) => name === "Samples per run");
    const field = fields.find(({ role }) => role === "spinbutton");
    return Number(field?.value) === count;
  });
}

/** An emulated GPU spends most of a measurement on this kernel. Other kernels need the same preparation. */
const SLOWEST = "wgpu/csr/shared-per-row";

/** Leaves a kernel out, as assistive technology does. */
async function leaveOut(viewer, kernel) {
  await viewer.until(`${kernel} left out`, async () => {
    // A click while the form moves may be lost.
    const box = (await viewer.widgets()).find(({ role, name }) => role === "checkbox" && name === kernel);
    if (box?.checked) {
      await viewer.page.getByRole("checkbox", { name: kernel }).evaluate((element) => element.click());
      await viewer.frames(4);
    }
    return box && !box.checked;
  });
}

/** Starts measuring on what a generator makes. */
async function start(viewer, generator) {
  // Text typed while the form moves may go to a field that no longer exists.
  await viewer.until(`a form that has ${generator}`, async () => {
    await set(viewer, "textbox", "Generator", generator);
    await viewer.frames(4);
    return (await viewer.widgets()).some(({ name }) => name === `Start measuring ${generator}`);
  });
  await viewer.click("button", `Start measuring ${generator}`);
}

/** The bundle of the measurement that is under way. */
async function measured(viewer) {
  const was = await viewer.page.evaluate(() => window.measured?.length ?? 0);
  await viewer.until(
    "what was measured",
    () => viewer.page.evaluate((was) => (window.measured?.length ?? 0) > was, was),
    LONG,
  );
  const url = await viewer.page.evaluate(
    () =>
      new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result);
        reader.readAsDataURL(window.measured.at(-1));
      }),
  );
  return Buffer.from(url.slice(url.indexOf(",") + 1), "base64");
}

/** Has the page tell what it measures, how long its tasks take, and which devices it opens. */
async function watched(page) {
  await page.addInitScript(() => {
    window.measured = [];
    window.devices = [];
    window.longest = 0;
    let page;
    // The program calls through this object.
    Object.defineProperty(window, "sparsescope", {
      get: () => page,
      set: (given) => {
        const { keep } = given.page;
        given.page.keep = (name, bytes) => {
          window.measured.push(new Blob([bytes]));
          keep(name, bytes);
        };
        page = given;
      },
      configurable: true,
    });
    new PerformanceObserver((list) => {
      for (const task of list.getEntries()) {
        window.longest = Math.max(window.longest, task.duration);
      }
    }).observe({ entryTypes: ["longtask"] });
    const request = GPUAdapter.prototype.requestDevice;
    GPUAdapter.prototype.requestDevice = async function (...asked) {
      const device = await request.apply(this, asked);
      window.devices.push(device);
      return device;
    };
  });
}

/** Runs of a bundle, of which all are right. */
function passed(zip, what) {
  const { runs } = entry(zip, "runs.json");
  const wrong = runs.filter((run) => run.check.verdict !== "pass" || !run.figures);
  assert.deepEqual(wrong.map((run) => `${run.kernel}: ${run.check.reason}`), [], what);
  return runs;
}

const GPU_KERNELS = 10;

export const cases = {
  async "every kernel passes its check here, on matrices that break kernels"(context, given) {
    const viewer = await opened(context, given, watched);
    await viewer.find("text", /SwiftShader.*\(WebGPU, software\)/i);
    await viewer.find("text", "This GPU is emulated by the CPU: you are measuring the CPU.");
    await viewer.screenshot({ path: join(given.screenshots, "here.png") });
    await samples(viewer, 5);
    for (const generator of ["powerlaw?m=3000&nnz=20000&max=300", "dense-row?m=2000", "diagonal?m=1", "random?m=9000&row=2"]) {
      await start(viewer, generator);
      const runs = passed(await measured(viewer), generator);
      const of = (backend) => runs.filter((run) => run.backend === backend);
      assert.equal(of("wgpu").length, GPU_KERNELS);
      for (const { device, params, precision, samples } of of("wgpu")) {
        assert.ok(/\(WebGPU, software\)$/.test(device), device);
        assert.ok(/^(timestamps of|wall clock)/.test(params.clock), params.clock);
        assert.deepEqual([params.checks, precision, samples.length], ["on", "f32", 5]);
      }
      const kernels = of("cpu").map((run) => `${run.kernel} ${run.precision}`);
      assert.deepEqual(kernels, ["cpu/csr/serial f32", "cpu/csr/serial f64", "cpu/hll/serial f64"]);
      assert.ok(of("cpu").every((run) => run.device.startsWith("WebAssembly")));
      assert.ok(of("wgpu").every((run) => run.figures.speedup > 0), "speed-ups are of the reference in f32");
    }
    // Rows without nonzeros, and one across the whole matrix.
    const rows = [...Array(300).keys()].map((column) => `2 ${column + 1} ${0.1 + column}`);
    const text = `%%MatrixMarket matrix coordinate real general\n5 300 301\n${rows.join("\n")}\n5 7 2.5\n`;
    // The form moves when a measurement ends.
    await viewer.until("a form without a generator", async () => {
      await set(viewer, "textbox", "Generator", "");
      await viewer.frames(4);
      return (await viewer.widgets()).some(({ role, name, value }) => role === "textbox" && name === "Generator" && !value);
    });
    await viewer.drop("odd.mtx", Buffer.from(text));
    await viewer.find("group", "Cells of odd");
    await viewer.click("button", "Close the Run here panel");
    await viewer.click("button", "Run here");
    await viewer.click("button", "Start measuring odd");
    passed(await measured(viewer), "odd");
    await viewer.screenshot({ path: join(given.screenshots, "here-measured.png") });
    await viewer.close();
  },

  async "several columns are multiplied here, on the GPU and on the CPU"(context, given) {
    const viewer = await opened(context, given, watched);
    await samples(viewer, 5);
    await viewer.click("button", "SpMM");
    await viewer.click("button", "32 columns of X");
    const generator = "powerlaw?m=3000&nnz=20000&max=300";
    await start(viewer, generator);
    const runs = passed(await measured(viewer), generator);
    assert.deepEqual(
      runs.map(({ kernel, precision, params }) => `${kernel} ${precision} ${params.vectors}`),
      ["cpu/spmm/serial f32 32", "cpu/spmm/serial f64 32", "wgpu/spmm/row-split f32 32"],
    );
    await viewer.find("text", /^3 runs on powerlaw/);
    await viewer.close();
  },

  async "a matrix that is too large is refused with its bytes"(context, given) {
    const viewer = await opened(context, given);
    await start(viewer, "stencil27?n=600");
    await viewer.find("text", /^Nothing was measured: .*stencil27\?n=600 needs \d+ bytes \(.* GB\)/);
    await viewer.close();
  },

  async "without WebGPU a sentence says why, and the CPU kernels run"(context, given) {
    const without = async (spoil, sentence) => {
      const viewer = await opened(context, given, (page) => page.addInitScript(spoil));
      await viewer.find("text", sentence);
      return viewer;
    };
    const insecure = await without(
      () => Object.defineProperty(window, "isSecureContext", { value: false }),
      /^This page is not in a secure context, which WebGPU needs: use https, 127\.0\.0\.1,/,
    );
    await insecure.screenshot({ path: join(given.screenshots, "here-no-gpu.png") });
    await insecure.close();
    const silent = await without(
      () => (GPU.prototype.requestAdapter = async () => null),
      "WebGPU cannot be used: this browser supports WebGPU, but no adapter was found.",
    );
    await silent.close();
    const viewer = await without(
      () => Object.defineProperty(Navigator.prototype, "gpu", { value: undefined }),
      "This browser has no WebGPU, or it is disabled.",
    );
    await start(viewer, "poisson2d?n=20");
    await viewer.find("text", /^3 runs on poisson2d/);
    await viewer.close();
  },

  async "a lost device is opened again once, and the page says so"(context, given) {
    const viewer = await opened(context, given, watched);
    await samples(viewer, 40);
    await start(viewer, "stencil27?n=12");
    await viewer.until("a kernel of the GPU being sampled", async () => {
      const widgets = await viewer.widgets();
      const bar = widgets.find(({ name }) => name === "Measuring");
      return bar?.value > 5 && widgets.some(({ role, name }) => role === "text" && /^wgpu\//.test(name));
    }, LONG);
    await viewer.page.evaluate(() => window.devices.at(-1).destroy());
    passed(await measured(viewer), "after the loss");
    await viewer.find("text", /^The GPU was lost during the measurement and reopened\./);
    await viewer.close();
  },

  async "graphics that are taken away come back with what was measured, and measuring goes on"(context, given) {
    const viewer = await opened(context, given, watched);
    await samples(viewer, 5);
    await start(viewer, "poisson2d?n=40");
    passed(await measured(viewer), "before");
    await samples(viewer, 40);
    await start(viewer, "stencil27?n=12");
    await viewer.find("button", "Cancel");
    await viewer.page.evaluate(() =>
      document.getElementById("canvas").getContext("webgl2").getExtension("WEBGL_lose_context").loseContext(),
    );
    await viewer.find("text", /^The browser lost the graphics context; the viewer restarted with everything that was open or measured\.$/);
    passed(await measured(viewer), "after");
    const names = (await viewer.widgets()).map((widget) => widget.name);
    assert.ok(names.some((name) => /^Matrix stencil27/.test(name)), names.join("; "));
    await viewer.close();
  },

  async "nobody sees the page: it pauses, and goes on when it is seen again"(context, given) {
    const viewer = await opened(context, given, watched);
    await samples(viewer, 25);
    const show = (hidden) =>
      viewer.page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await start(viewer, "poisson2d?n=40");
    await viewer.find("button", "Cancel");
    await show(true);
    // Longer than the whole measurement.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const what = async () => (await viewer.widgets()).filter(({ role, name }) => role === "text" && /^(wgpu|cpu)\//.test(name)).map(({ name }) => name);
    const before = await what();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    assert.deepEqual(await what(), before);
    assert.equal(await viewer.page.evaluate(() => window.measured.length), 0);
    await show(false);
    passed(await measured(viewer), "afterwards");
    await viewer.close();
  },

  async "a page that is loaded again while it measures is as new"(context, given) {
    const viewer = await opened(context, given, watched);
    await samples(viewer, 40);
    await start(viewer, "stencil27?n=12");
    await viewer.find("button", "Cancel");
    await viewer.page.reload();
    await viewer.page.waitForSelector("html[data-ready]", { state: "attached" });
    await viewer.click("button", "Run here");
    await samples(viewer, 5);
    await start(viewer, "poisson2d?n=20");
    passed(await measured(viewer), "after the reload");
    await viewer.close();
  },

  async "from the link to the comparison with the H100 in three clicks, then into one file"(context, given) {
    const viewer = await Viewer.open(context, `${given.address}/#v1;view=best;as=auto`, watched);
    await viewer.click("button", "Run here");
    await samples(viewer, 5); // which a teacher leaves unchanged
    await viewer.click("button", /^Start measuring FEM_3D_thermal1/);
    await viewer.screenshot({ path: join(given.screenshots, "here-running.png") });
    const { runs } = entry(await measured(viewer), "runs.json");
    assert.ok(runs.filter((run) => run.check.verdict === "pass").length > GPU_KERNELS, "most have a time");
    await viewer.click("button", "Compare with the H100");
    await viewer.find("img", /^Figure: Kernels by matrix/);
    await viewer.until("the H100's bundle", async () => (await viewer.widgets()).some(({ name }) => /cuda\/hll\/column-major/.test(name)));
    await viewer.frames(10);
    await viewer.screenshot({ path: join(given.screenshots, "here-compared.png") });
    const download = viewer.page.waitForEvent("download");
    await viewer.click("button", "Save as HTML");
    const saved = await download;
    assert.ok(/^sparsescope-here-.*\.html$/.test(saved.suggestedFilename()), saved.suggestedFilename());
    const path = join(given.screenshots, "here.html");
    await saved.saveAs(path);
    await viewer.close();
    const file = await Viewer.open(context, `file://${path}#v1;view=runs`);
    await file.find("button", /^Run of wgpu\/hll\/column-major on FEM_3D_thermal1/);
    await file.close();
  },
};

/**
 * Cases in which times are compared with a limit: nothing else may run meanwhile. Frames are computed, but the canvas
 * draws nothing and the browser does not composite it.
 */
export const timed = {
  async "suite mini at a tenth of its size is measured here, and the page goes on drawing"(context, given) {
    const viewer = await opened(context, given, watched);
    await samples(viewer, 5);
    // Other cases check what it computes.
    await leaveOut(viewer, SLOWEST);
    const longest = [];
    for (const generator of MINI) {
      let shortest = Infinity;
      // Whatever else the machine does may hold up a task: one that is too long is so every time.
      for (let k = 0; k < 6 && shortest > LONGEST_TASK; k += 1) {
        await viewer.page.evaluate(() => (window.longest = 0));
        await start(viewer, generator);
        const { runs } = entry(await measured(viewer), "runs.json");
        const wrong = runs.filter((run) => run.check.verdict === "fail");
        assert.deepEqual(wrong.map((run) => `${run.kernel}: ${run.check.reason}`), [], generator);
        shortest = Math.min(shortest, await viewer.page.evaluate(() => window.longest));
      }
      longest.push(shortest);
    }
    const most = Math.max(...longest);
    assert.ok(most <= LONGEST_TASK, `${MINI.map((name, k) => `${name}: ${longest[k]}`).join("; ")}`);
    await viewer.close();
    return `the longest task took ${Math.round(most)} ms`;
  },

  async "a measurement is cancelled within half a second, and what it has is kept"(context, given) {
    const viewer = await opened(context, given, watched);
    await samples(viewer, 200);
    let shortest = Infinity;
    // Whatever else the machine does may hold up the page: a cancel that is too slow is so every time.
    for (let k = 0; k < 3 && shortest > LONGEST_CANCEL; k += 1) {
      await start(viewer, "stencil27?n=19");
      await viewer.find("button", "Cancel");
      await viewer.until("half of the samples", async () => {
        const bar = (await viewer.widgets()).find((widget) => widget.name === "Measuring");
        const percent = (await viewer.widgets()).some((widget) => /^wgpu\//.test(widget.name) && widget.role === "text");
        return bar && percent;
      }, LONG);
      const took = viewer.page.evaluate(
        () =>
          new Promise((resolve) => {
            const pressed = () => {
              const start = performance.now();
              const look = () =>
                window.sparsescope.widgets().some(({ name }) => /^Start measuring/.test(name))
                  ? resolve(performance.now() - start)
                  : requestAnimationFrame(look);
              look();
            };
            window.addEventListener("pointerup", pressed, { once: true, capture: true });
          }),
      );
      await viewer.click("button", "Cancel");
      shortest = Math.min(shortest, await took);
    }
    const milliseconds = Math.round(shortest);
    assert.ok(milliseconds <= LONGEST_CANCEL, `${milliseconds} ms`);
    await viewer.close();
    return `${milliseconds} ms`;
  },
};
