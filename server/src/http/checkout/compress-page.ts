import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

// A bank page of 18 KB: level 4 5,340 bytes in 0.4 ms, level 6 5,240 in 0.8 ms; Brotli 4 5,250 in 1.2 ms.
const LEVEL = 4;
const compress = promisify(gzip);

/** Compresses a page if the browser accepts it, in a thread of its own. Decision 0042 says why that reveals no secret. */
export async function compressPage(
  acceptEncoding: string | undefined,
  text: string,
): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly body: string | Buffer }> {
  const vary = { vary: 'accept-encoding' };
  if (!/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(acceptEncoding ?? ''))
    return { headers: vary, body: text };
  return {
    headers: { ...vary, 'content-encoding': 'gzip' },
    body: await compress(text, { level: LEVEL }),
  };
}
