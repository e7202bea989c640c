// The entries of a bundle: an ordinary zip file, deflated.

import assert from "node:assert/strict";
import { inflateRawSync } from "node:zlib";

/** The content of an entry as JSON. */
export function entry(zip, wanted) {
  // The end of the central directory has no comment; APPNOTE 4.3.16 describes its fields.
  const end = zip.length - 22;
  assert.equal(zip.readUInt32LE(end), 0x06054b50, "a zip ends with its directory");
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field));
    if (zip.toString("utf8", at + 46, at + 46 + name) === wanted) {
      const local = zip.readUInt32LE(at + 42);
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      return JSON.parse(inflateRawSync(zip.subarray(start, start + zip.readUInt32LE(at + 20))));
    }
    at += 46 + name + extra + comment;
  }
  assert.fail(`there is no ${wanted}`);
}
