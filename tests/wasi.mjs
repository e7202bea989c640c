// Runs a test program built for `wasm32-wasip1`: `node wasi.mjs PROGRAM.wasm [ARGUMENT...]`.

import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [program, ...args] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, ...args], env: process.env });
const instance = await WebAssembly.instantiate(await WebAssembly.compile(await readFile(program)), wasi.getImportObject());
process.exit(wasi.start(instance));
