// PNG files with a palette: a third of the size of those that the browser writes.

import { crc32, deflateSync } from "node:zlib";

/**
 * The pixels of a PNG with at most 256 colours, as indices into a palette. The most frequent colours are kept; every
 * other one becomes a kept one whose channels differ by at most `apart`, the least number for which 256 suffice. Runs in
 * a page of the browser, which decodes the picture.
 */
async function indexed(base64) {
  const image = new Image();
  image.src = `data:image/png;base64,${base64}`;
  await image.decode();
  const { width, height } = image;
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const pixels = new Uint32Array(canvas.getImageData(0, 0, width, height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) {
    counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  }
  const colours = [...counts].sort(([, one], [, other]) => other - one).map(([colour]) => colour);
  const near = (one, other, apart) =>
    [0, 8, 16].every((bit) => Math.abs(((one >> bit) & 255) - ((other >> bit) & 255)) <= apart);
  for (let apart = 0; ; apart++) {
    const palette = [];
    const places = new Map();
    for (const colour of colours) {
      const found = palette.findIndex((kept) => near(kept, colour, apart));
      places.set(colour, found < 0 ? palette.push(colour) - 1 : found);
      if (palette.length > 256) {
        break;
      }
    }
    if (palette.length <= 256) {
      let indices = "";
      for (const pixel of pixels) {
        indices += String.fromCharCode(places.get(pixel));
      }
      return { width, height, palette, apart, indices: btoa(indices) };
    }
  }
}

function chunk(type, data) {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length);
  bytes.write(type, 4, "latin1");
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}

/** The same picture with a palette, and how far the channels of a pixel are off at most. */
export async function withPalette(context, png) {
  const page = await context.newPage();
  const { width, height, palette, apart, indices } = await page.evaluate(indexed, png.toString("base64"));
  await page.close();
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // bits per pixel, with a palette
  const pixels = Buffer.from(indices, "base64");
  const rows = Buffer.alloc((width + 1) * height); // each row begins with 0, which stands for no filter
  for (let y = 0; y < height; y++) {
    pixels.copy(rows, y * (width + 1) + 1, y * width, (y + 1) * width);
  }
  const file = Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap((colour) => [0, 8, 16].map((bit) => (colour >> bit) & 255)))),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  return { file, apart };
}
