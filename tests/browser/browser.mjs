// Chromium as the scripts of this folder drive it.

import { chromium } from "playwright-core";

/**
 * Composites pages on the CPU: cheaper than with an emulated GPU. But the page then waits, whenever it draws, for what
 * the GPU is doing.
 */
const ON_CPU = "--disable-gpu-compositing";

/**
 * Starts the program `executablePath`: the renderer and the GPU are software, the same everywhere. Where the page's
 * own times matter, `isTimed` keeps those of the emulated GPU out of them.
 */
export const launch = (executablePath, isTimed = false) =>
  chromium.launch({
    executablePath,
    headless: false, // the argument below is the new headless mode
    args: [
      "--headless=new",
      "--use-gl=angle",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--enable-unsafe-webgpu",
      "--use-webgpu-adapter=swiftshader",
      ...(isTimed ? [] : [ON_CPU]),
      "--no-sandbox", // a container has no user namespace for the sandbox
    ],
  });
