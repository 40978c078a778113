import { constants, crc32, deflateSync } from 'node:zlib';
import { type Bitmap2D, correction, generate, type Mode, mode } from 'lean-qr';

// Microseconds per image, the minimum of 80 rounds on a shared two-core VM (busy neighbors double all of them),
// Node 24, a Bre-B payload of 528 characters: 77 modules, 340 pixels, 1.5 KB. Total: 200 to 250.
//   symbol   150   all masks tried 1,800; lean-qr's own search for modes 730; bytes only 170 and 89 modules
//   raster    30   a condition on every module 84 (half are mispredicted); rows copied instead of "up" 35
//   deflate   50   level 1 62, level 6 159, level 9 337 (a tenth smaller); fixed codes 62; 512-byte window 95;
//                  without the "up" filter: run lengths 114, level 1 66, level 6 257

const QUIET_MODULES = 4;
const WIDTH_PIXELS_MAX = 400;

/**
 * The standard asks encoders to try all eight masks; decoders accept any of them. For 132 of 200 Bre-B payloads the
 * search selected mask 4.
 */
const SYMBOL = { minCorrectionLevel: correction.M, mask: 4 } as const;

/** Every row but the first of a module repeats the row above: filter "up" gives zeros, which run-length encoding shrinks. */
const DEFLATE = { level: 1, strategy: constants.Z_RLE } as const;

/** Renders a black-on-white PNG of 300 to 400 pixels for payment payloads, quiet zone included. ASCII only. */
export function qrPngDataUri(text: string): string {
  return qrPng(text).dataUri;
}

/** The same image and its width in modules, quiet zone included. */
export function qrPng(text: string): { readonly dataUri: string; readonly modules: number } {
  const symbol = qrSymbol(text);
  const canvas = canvasFor(symbol.size);
  paint(canvas, symbol);
  const pixels = deflateSync(canvas.raster, DEFLATE);
  const png = Buffer.concat([canvas.head, chunk('IDAT', pixels), TAIL]);
  return {
    dataUri: `data:image/png;base64,${png.toString('base64')}`,
    modules: symbol.size + 2 * QUIET_MODULES,
  };
}

/** The modules of the code, without quiet zone. ASCII only. */
export function qrSymbol(text: string): Bitmap2D {
  return generate(compactMode(text), SYMBOL);
}

const QR_ALPHANUMERIC = new Set(Buffer.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:'));

/** Shorter runs cost more in two mode switches (35 bits) than they save (2.5 bits per character). */
const ALPHANUMERIC_RUN_MIN = 14;

/** Alphanumeric mode for long runs, byte mode for the rest: as small as the full search on our payloads. */
function compactMode(text: string): Mode {
  const parts: Mode[] = [];
  let bytesFrom = 0;
  let at = 0;
  while (at < text.length) {
    const runFrom = at;
    while (at < text.length && QR_ALPHANUMERIC.has(text.charCodeAt(at))) at += 1;
    if (at - runFrom >= ALPHANUMERIC_RUN_MIN) {
      if (runFrom > bytesFrom) parts.push(mode.ascii(text.slice(bytesFrom, runFrom)));
      parts.push(mode.alphaNumeric(text.slice(runFrom, at)));
      bytesFrom = at;
    }
    for (; at < text.length && !QR_ALPHANUMERIC.has(text.charCodeAt(at)); at += 1) {
      if (text.charCodeAt(at) > 0x7f) throw new RangeError('QR payload must be ASCII');
    }
  }
  if (bytesFrom < text.length) parts.push(mode.ascii(text.slice(bytesFrom)));
  return mode.multi(...parts);
}

/** Data that depends only on the symbol size. Each call, which is synchronous, overwrites the raster. */
interface Canvas {
  readonly scale: number;
  readonly rowBytes: number;
  readonly head: Buffer;
  readonly raster: Buffer;
  /** Eight modules (a byte, 1 = black) to their `scale` bytes of pixels (1 = white). */
  readonly spread: Uint8Array;
}

/** At most forty entries: one per version of the QR standard. */
const canvases = new Map<number, Canvas>();

function canvasFor(size: number): Canvas {
  const known = canvases.get(size);
  if (known) return known;
  const modules = size + 2 * QUIET_MODULES;
  const scale = Math.max(1, Math.floor(WIDTH_PIXELS_MAX / modules));
  const width = modules * scale;
  const rowBytes = 1 + Math.ceil(width / 8);
  const raster = Buffer.alloc(rowBytes * width);
  for (let row = 0; row < width; row += 1) {
    const first = row % scale === 0;
    raster[row * rowBytes] = first ? FILTER_NONE : FILTER_UP;
    if (first) raster.fill(0xff, row * rowBytes + 1, (row + 1) * rowBytes);
  }
  const canvas = { scale, rowBytes, head: createHead(width), raster, spread: createSpread(scale) };
  canvases.set(size, canvas);
  return canvas;
}

const FILTER_NONE = 0;
const FILTER_UP = 2;

function paint({ scale, rowBytes, raster, spread }: Canvas, symbol: Bitmap2D): void {
  for (let y = 0; y < symbol.size; y += 1) {
    let at = (y + QUIET_MODULES) * scale * rowBytes + 1;
    const rowEnd = at + rowBytes - 1;
    for (let x = -QUIET_MODULES; at < rowEnd; x += 8) {
      let eight = 0;
      // `Number` avoids a branch. Outside of the symbol `get` returns white.
      for (let i = 0; i < 8; i += 1) eight = (eight << 1) | Number(symbol.get(x + i, y));
      for (let i = 0; i < scale && at < rowEnd; i += 1, at += 1) raster[at] = spread[eight * scale + i] ?? 0;
    }
  }
}

function createSpread(scale: number): Uint8Array {
  const spread = new Uint8Array(256 * scale);
  for (let eight = 0; eight < 256; eight += 1) {
    for (let pixel = 0; pixel < 8 * scale; pixel += 1) {
      const white = 1 ^ ((eight >> (7 - Math.floor(pixel / scale))) & 1);
      const at = eight * scale + (pixel >> 3);
      spread[at] = (spread[at] ?? 0) | (white << (7 - (pixel & 7)));
    }
  }
  return spread;
}

function createHead(width: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(width, 4);
  header[8] = 1; // One bit per pixel; the rest stays zero: grayscale, deflate, adaptive filters, not interlaced.
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header)]);
}

function chunk(type: string, data: Buffer): Buffer {
  const out = Buffer.allocUnsafe(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
}

const TAIL = chunk('IEND', Buffer.alloc(0));
