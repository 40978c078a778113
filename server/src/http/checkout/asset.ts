import { createHash } from 'node:crypto';
import { constants, gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { CHECKOUT_CSS } from './checkout-css.ts';
import { CHECKOUT_SCRIPT } from './checkout-script.ts';

export interface Assets {
  readonly styleUrl: string;
  readonly scriptUrl: string;
}

/** The sheet and the script, under names that change with them, so that browsers may keep them for ever. */
export function registerAssets(app: FastifyInstance, prefix: string): Assets {
  return {
    styleUrl: register(app, prefix, CHECKOUT_CSS, 'css', 'text/css; charset=utf-8'),
    scriptUrl: register(app, prefix, CHECKOUT_SCRIPT, 'js', 'text/javascript; charset=utf-8'),
  };
}

function register(app: FastifyInstance, prefix: string, text: string, suffix: string, type: string): string {
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  const url = `${prefix}/a/${name}.${suffix}`;
  const small = gzipSync(text, { level: constants.Z_BEST_COMPRESSION });
  app.get(url, (request, reply) => {
    const zipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    return reply
      .type(type)
      .headers({
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        vary: 'accept-encoding',
        ...(zipped ? { 'content-encoding': 'gzip' } : {}),
      })
      .send(zipped ? small : text);
  });
  return url;
}
