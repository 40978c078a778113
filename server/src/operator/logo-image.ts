import { open } from 'node:fs/promises';
import { sha256 } from '../kit/crypto.ts';
import { LOGO_EDGES, type Logo, type LogoFile } from '../organizations/logo.ts';
import { UsageError } from './options.ts';

const MAX_FILE_BYTES = 512 * 1024;
/** Checked before decoding: a small file can declare an image that does not fit into memory. */
const MAX_PIXELS = 2_000_000;
const DECODE_WITHIN_SECONDS = 10;

const SIGNATURES: readonly Buffer[] = [
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.from([0xff, 0xd8, 0xff]),
];

/** @throws UsageError when the file is missing, too large or not a readable PNG or JPEG */
export async function readLogo(path: string): Promise<Logo> {
  const bytes = await readStart(path);
  if (bytes.length > MAX_FILE_BYTES)
    throw new UsageError(`--logo: the file has more than ${MAX_FILE_BYTES / 1024} KB`);
  if (!SIGNATURES.some((signature) => bytes.subarray(0, signature.length).equals(signature)))
    throw new UsageError('--logo must be a PNG or JPEG file');
  const files = await encode(bytes).catch((error: unknown) => {
    throw new UsageError(
      `--logo cannot be read as an image of at most ${MAX_PIXELS} pixels: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const id = sha256(Buffer.concat([files.preview, files.header, files.icon]))
    .toString('base64url')
    .slice(0, 22);
  return { id, ...files };
}

/** Reads one byte more than allowed at most, whatever the size of the file. */
async function readStart(path: string): Promise<Buffer> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FILE_BYTES + 1));
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw new UsageError(`--logo: cannot read ${path} (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}

/** Decodes the image and encodes its pixels again, so that nothing else of the file reaches a browser. */
async function encode(bytes: Buffer): Promise<Record<LogoFile, Buffer>> {
  // Loaded here, because only this command needs the native library.
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg'] });
  const background = '#ffffff';
  const file = (edge: number) =>
    sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
      .timeout({ seconds: DECODE_WITHIN_SECONDS })
      .autoOrient()
      .flatten({ background })
      .resize(edge, edge, { fit: 'contain', background })
      .png({ palette: true, effort: 10 })
      .toBuffer();
  return {
    preview: await file(LOGO_EDGES.preview),
    header: await file(LOGO_EDGES.header),
    icon: await file(LOGO_EDGES.icon),
  };
}
