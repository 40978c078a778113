import { inflateSync } from 'node:zlib';

const DATA_URI = 'data:image/png;base64,';

export function decodePngDataUri(dataUri: string): Buffer {
  return Buffer.from(dataUri.startsWith(DATA_URI) ? dataUri.slice(DATA_URI.length) : '', 'base64');
}

/** Quiet zone in modules, widest first: the standard asks for 4, most scanners accept 2, 80 columns fit 1. */
const QUIET = [4, 2, 1];

/**
 * Draws the QR code of a PNG as lines of text.
 * @param mark which modules are drawn: `dark` on a white background, `light` on a dark terminal
 * @returns the number of columns it needs when `columns` is too small; null for a PNG not in the format of the API
 */
export function qrLines(
  png: Buffer,
  columns: number,
  mark: 'dark' | 'light',
): readonly string[] | number | null {
  const picture = readPicture(png);
  const modules = picture && readModules(picture);
  if (!modules) return null;
  const quiet = QUIET.find((margin) => modules.length + 2 * margin <= columns);
  return quiet === undefined ? modules.length + 2 : draw(modules, quiet, mark);
}

type Grid = readonly (readonly boolean[])[];

/** Pixels of a one-bit grayscale PNG, true for black. */
function readPicture(png: Buffer): Grid | null {
  if (png.length < 33 || png.toString('latin1', 12, 16) !== 'IHDR') return null;
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const oneBitGray = png[24] === 1 && png[25] === 0 && png[28] === 0;
  if (!oneBitGray || width > 4096 || height > 4096) return null;
  const data: Buffer[] = [];
  for (let at = 8; at + 8 <= png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  return unfiltered(inflateSync(Buffer.concat(data)), width, height);
}

const NONE = 0;
const UP = 2;

function unfiltered(raster: Buffer, width: number, height: number): Grid | null {
  const bytes = Math.ceil(width / 8);
  let above = Buffer.alloc(bytes);
  const rows: boolean[][] = [];
  for (let y = 0; y < height; y += 1) {
    const filter = raster[y * (bytes + 1)];
    if (filter !== NONE && filter !== UP) return null;
    const row = Buffer.from(raster.subarray(y * (bytes + 1) + 1, (y + 1) * (bytes + 1)));
    if (filter === UP) for (let x = 0; x < bytes; x += 1) row[x] = ((row[x] ?? 0) + (above[x] ?? 0)) & 0xff;
    rows.push(Array.from({ length: width }, (_, x) => (((row[x >> 3] ?? 0) >> (7 - (x & 7))) & 1) === 0));
    above = row;
  }
  return rows;
}

/** The finder pattern's top edge is seven modules wide, which gives the module size. */
function readModules(picture: Grid): Grid | null {
  const top = picture.findIndex((row) => row.includes(true));
  const first = picture[top];
  if (!first) return null;
  const left = first.indexOf(true);
  const run = first.indexOf(false, left) - left;
  const scale = Math.floor(run / 7);
  const count = scale > 0 ? Math.round((picture.length - 2 * top) / scale) : 0;
  if (count < 21) return null;
  return Array.from({ length: count }, (_, y) =>
    Array.from({ length: count }, (_unused, x) => picture[top + y * scale]?.[left + x * scale] ?? false),
  );
}

/** Draws two modules per character; modules other than `mark` are background. */
function draw(modules: Grid, quiet: number, mark: 'dark' | 'light'): string[] {
  const end = modules.length + quiet;
  const marked = (x: number, y: number) => y < end && (modules[y]?.[x] ?? false) === (mark === 'dark');
  const lines: string[] = [];
  for (let y = -quiet; y < end; y += 2) {
    let line = '';
    for (let x = -quiet; x < end; x += 1) {
      const below = marked(x, y + 1);
      line += marked(x, y) ? (below ? '█' : '▀') : below ? '▄' : ' ';
    }
    lines.push(line);
  }
  return lines;
}
