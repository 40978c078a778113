import { crc32, inflateSync } from 'node:zlib';
import jsqr from 'jsqr';
import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { qrPngDataUri } from '../../src/kit/qr-png.ts';
import { brebQrPayload } from '../../src/rails/breb/emvco.ts';

const PREFIX = 'data:image/png;base64,';

interface Picture {
  readonly width: number;
  readonly height: number;
  /** One byte per pixel: 0 black, 1 white. */
  readonly pixels: Uint8Array;
}

/** Parses a one-bit grayscale PNG by the specification, with every checksum, independent of the writer. */
function readPng(uri: string): Picture {
  expect(uri.startsWith(PREFIX)).toBe(true);
  const png = Buffer.from(uri.slice(PREFIX.length), 'base64');
  expect(png.toString('base64')).toBe(uri.slice(PREFIX.length));
  expect(png.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
  const chunks = new Map<string, Buffer>();
  let at = 8;
  while (at < png.length) {
    const length = png.readUInt32BE(at);
    const typeAndData = png.subarray(at + 4, at + 8 + length);
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(typeAndData));
    chunks.set(typeAndData.toString('latin1', 0, 4), typeAndData.subarray(4));
    at += 12 + length;
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'IDAT', 'IEND']);
  const header = chunks.get('IHDR') ?? Buffer.alloc(0);
  expect(header.subarray(8).toString('hex')).toBe('0100000000');
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  return { width, height, pixels: unfilter(inflateSync(chunks.get('IDAT') ?? ''), width, height) };
}

function unfilter(raw: Buffer, width: number, height: number): Uint8Array {
  const rowBytes = Math.ceil(width / 8);
  expect(raw).toHaveLength(height * (1 + rowBytes));
  const pixels = new Uint8Array(width * height);
  let above = new Uint8Array(rowBytes);
  for (let y = 0; y < height; y += 1) {
    const start = y * (1 + rowBytes);
    const filter = raw[start] ?? -1;
    if (filter !== 0 && filter !== 2) throw new Error(`the test reader does not support filter ${filter}`);
    const row = new Uint8Array(raw.subarray(start + 1, start + 1 + rowBytes));
    if (filter === 2) row.forEach((byte, i) => (row[i] = (byte + (above[i] ?? 0)) & 0xff));
    for (let x = 0; x < width; x += 1) pixels[y * width + x] = ((row[x >> 3] ?? 0) >> (7 - (x & 7))) & 1;
    above = row;
  }
  return pixels;
}

function decode({ width, height, pixels }: Picture): string | undefined {
  const rgba = Uint32Array.from(pixels, (white) => (white === 1 ? 0xffffffff : 0xff000000));
  return jsqr.default(new Uint8ClampedArray(rgba.buffer), width, height, { inversionAttempts: 'dontInvert' })
    ?.data;
}

const text = (alphabet: string, length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...Array.from(alphabet)), minLength: length, maxLength: length });

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

const payload = fc
  .record({
    key: fc.integer({ min: 6, max: 19 }).chain((length) => text(UPPER, length).map((rest) => `@${rest}`)),
    amountInCents: fc.bigInt({ min: 1n, max: 999_999_999_999n }),
    network: fc.constantFrom('RBM', 'CRB', 'ACH', 'VISI'),
    networkId: fc.constantFrom('RBM', 'CRB', 'ACH', 'VISI'),
    merchantName: fc.string({ unit: 'grapheme', maxLength: 40 }),
    merchantCity: fc.constantFrom('Bogotá D.C.', 'Medellín', 'Cali', 'San Andrés de Tumaco'),
    postalCode: text('0123456789', 6),
    merchantCategory: text('0123456789', 4),
    reference: fc.string({ maxLength: 40 }),
    transactionId: text(`${UPPER}abcdef_-`, 19),
  })
  .map((input) => brebQrPayload(input));

describe('qrPngDataUri', () => {
  it('is decoded by an independent decoder for 200 random Bre-B payloads, 300 to 400 pixels wide', () => {
    fc.assert(
      fc.property(payload, (content) => {
        const picture = readPng(qrPngDataUri(content));
        expect(picture.height).toBe(picture.width);
        expect(picture.width).toBeGreaterThanOrEqual(300);
        expect(picture.width).toBeLessThanOrEqual(400);
        expect(decode(picture)).toBe(content);
      }),
      { numRuns: 200 },
    );
  });

  it('is decoded for any mixture of runs and lengths, so in many symbol sizes', () => {
    const run = fc.oneof(text('A', 13), text('A', 14), fc.string({ unit: 'binary-ascii', minLength: 1 }));
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 25 }), (runs) => {
        expect(decode(readPng(qrPngDataUri(runs.join(''))))).toBe(runs.join(''));
      }),
      { numRuns: 60 },
    );
  });

  it('has a quiet zone of four modules', () => {
    const { width, pixels } = readPng(qrPngDataUri('https://caudal.test/pago'));
    const black = [...pixels.keys()].filter((i) => pixels[i] === 0);
    const columns = black.map((i) => i % width);
    const rows = black.map((i) => Math.floor(i / width));
    // Version 2 has 25 modules; 33 with the quiet zone, twelve pixels each.
    expect(width).toBe(33 * 12);
    for (const along of [columns, rows]) {
      expect(Math.min(...along)).toBe(4 * 12);
      expect(Math.max(...along)).toBe(width - 4 * 12 - 1);
    }
  });

  it('draws the same text equally after another text of the same size: the canvas is cleared', () => {
    const first = qrPngDataUri('PAGO 1');
    expect(qrPngDataUri('PAGO 2')).not.toBe(first);
    expect(qrPngDataUri('PAGO 1')).toBe(first);
  });

  it('rejects non-ASCII text', () => {
    expect(() => qrPngDataUri('Bogotá')).toThrow(RangeError);
  });

  it('stays near two kilobytes, because every QR payin response contains it', () => {
    fc.assert(
      fc.property(payload, (content) => {
        expect(qrPngDataUri(content).length).toBeLessThan(2_500);
      }),
    );
  });
});
