// Chromium as the scripts of this folder drive it.

import { chromium } from "playwright-core";

/** Starts the program `executablePath`: the renderer and the GPU are software, the same everywhere. */
export const launch = (executablePath) =>
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
      "--disable-gpu-compositing", // a software GPU puts pages together more slowly than the CPU does
      "--no-sandbox", // a container has no user namespace for the sandbox
    ],
  });
