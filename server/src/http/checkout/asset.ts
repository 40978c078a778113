import { createHash } from 'node:crypto';
import { constants, gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { CHECKOUT_CSS } from './checkout-css.ts';
import { CHECKOUT_SCRIPT } from './checkout-script.ts';

export interface Assets {
  readonly styleUrl: string;
  readonly scriptUrl: string;
}

/** Serves the style sheet and the script under content-hashed names, so that browsers cache them indefinitely. */
export function registerAssets(app: FastifyInstance, prefix: string): Assets {
  return {
    styleUrl: register(app, prefix, CHECKOUT_CSS, 'css', 'text/css; charset=utf-8'),
    scriptUrl: register(app, prefix, CHECKOUT_SCRIPT, 'js', 'text/javascript; charset=utf-8'),
  };
}

function register(app: FastifyInstance, prefix: string, text: string, suffix: string, type: string): string {
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  const url = `${prefix}/a/${name}.${suffix}`;
  const compressed = gzipSync(text, { level: constants.Z_BEST_COMPRESSION });
  app.get(url, (request, reply) => {
    const acceptsGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    return reply
      .type(type)
      .headers({
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        vary: 'accept-encoding',
        ...(acceptsGzip ? { 'content-encoding': 'gzip' } : {}),
      })
      .send(acceptsGzip ? compressed : text);
  });
  return url;
}
