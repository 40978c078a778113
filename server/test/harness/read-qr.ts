import { inflateSync } from 'node:zlib';
import jsqr from 'jsqr';

const PREFIX = 'data:image/png;base64,';

/**
 * Decodes a QR code as a payer's phone does, independent of the code that drew it (server/test/kit checks the
 * PNG).
 */
export function readQr(dataUri: string): string {
  if (!dataUri.startsWith(PREFIX)) throw new Error(`not a PNG data URI: ${dataUri.slice(0, 40)}`);
  const png = Buffer.from(dataUri.slice(PREFIX.length), 'base64');
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const rgba = Uint32Array.from(readPixels(png, width, height), (white) => (white ? 0xffffffff : 0xff000000));
  const found = jsqr.default(new Uint8ClampedArray(rgba.buffer), width, height);
  if (!found) throw new Error('no QR code in the image');
  return found.data;
}

/** One bit per pixel, filters "none" and "up": the subset our PNG writer uses. */
function readPixels(png: Buffer, width: number, height: number): boolean[] {
  const raw = inflateSync(readChunk(png, 'IDAT'));
  const rowBytes = Math.ceil(width / 8);
  const pixels: boolean[] = [];
  let above = Buffer.alloc(rowBytes);
  for (let y = 0; y < height; y += 1) {
    const start = y * (rowBytes + 1);
    const row = Buffer.from(raw.subarray(start + 1, start + 1 + rowBytes));
    if (raw[start] === 2)
      for (let i = 0; i < rowBytes; i += 1) row[i] = ((row[i] ?? 0) + (above[i] ?? 0)) & 0xff;
    for (let x = 0; x < width; x += 1) pixels.push((((row[x >> 3] ?? 0) >> (7 - (x & 7))) & 1) === 1);
    above = row;
  }
  return pixels;
}

function readChunk(png: Buffer, wanted: string): Buffer {
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === wanted)
      return png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
  }
  throw new Error(`the PNG has no ${wanted} chunk`);
}
