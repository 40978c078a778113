import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { nowIso } from '../clock.ts';
import { type Deps, record } from '../deps.ts';
import { BadRequest, readBody } from '../request-body.ts';
import { baseUrl } from '../wire.ts';

const targetBody = z.strictObject({ urls: z.array(z.string().max(200)).max(16) });

/** An empty list keeps notices queued. The setting survives a restart and overrides `--notices`. */
export function noticeRoutes(app: FastifyInstance, deps: Deps): void {
  app.post('/control/notices/target', (request) => target(deps, request));
}

async function target(deps: Deps, request: FastifyRequest): Promise<{ urls: readonly string[] }> {
  const { notices, clock } = deps.state;
  const urls = readBody(targetBody, request).urls.map((text) => {
    const url = baseUrl(text);
    if (url === null) throw new BadRequest(`urls: "${text}" is not an http or https URL`);
    return url;
  });
  notices.urls = urls;
  await record(deps, { at: nowIso(clock), kind: 'notice.target', urls });
  return { urls };
}
