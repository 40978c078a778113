import { type Random, randomFrom } from '../../../chaos/src/run/random.ts';
import type { OpenApi, Operation } from '../document/openapi.ts';
import type { Ownership } from '../tenants/ownership.ts';
import { choose } from '../tenants/ring.ts';
import type { Tenant } from '../tenants/tenant.ts';
import type { Context } from './context.ts';
import { hostileText } from './hostile.ts';
import { type NoticeSecrets, noticeRequest } from './notice-request.ts';
import { operationRequest } from './operation-request.ts';
import { pageRequest } from './page-request.ts';
import { rawRequest } from './raw-request.ts';
import type { FuzzRequest } from './request.ts';
import { encode } from './spelling.ts';

export interface World {
  readonly seed: number;
  readonly a: Tenant;
  readonly b: Tenant;
  readonly document: OpenApi;
  readonly operations: readonly Operation[];
  readonly ownership: Ownership;
  readonly sinkUrl: string;
  readonly secrets: NoticeSecrets;
}

const SHARES = { operation: 76, page: 13, notice: 5, changed: 4.5, raw: 1.5 } as const;

/** The request number `index` of a seed. The same except for the ids, which each run receives anew. */
export function generate(world: World, index: number): FuzzRequest {
  const random = randomFrom(mix(world.seed, index));
  const isA = random.chance(0.5);
  const context: Context = {
    ...world,
    index,
    random,
    tenant: isA ? world.a : world.b,
    other: isA ? world.b : world.a,
  };
  switch (random.weighted(SHARES)) {
    case 'operation':
      return operationRequest(context, pickOperation(random, world.operations));
    case 'page':
      return pageRequest(context);
    case 'notice':
      return noticeRequest(context, world.secrets);
    case 'changed':
      return changedRequest(context);
    case 'raw':
      return rawRequest(context);
  }
}

function mix(seed: number, index: number): number {
  return (Math.imul(seed, 0x9e37_79b1) ^ Math.imul(index + 1, 0x85eb_ca6b)) >>> 0;
}

/** Streams keep a connection for a moment, so there are fewer of them. */
function pickOperation(random: Random, operations: readonly Operation[]): Operation {
  const operation = choose(random, operations);
  if (operation === null) throw new Error('the document has no operations');
  const isStream = operation.responses.get(200)?.has('text/event-stream') === true;
  return isStream && random.chance(0.9) ? pickOperation(random, operations) : operation;
}

/** Another method, or a path that is almost one of the API. */
function changedRequest(context: Context): FuzzRequest {
  const { random, operations } = context;
  const request = operationRequest(context, pickOperation(random, operations));
  if (random.chance(0.5)) {
    const method = random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND']);
    return { ...request, subject: 'changed methods and paths', method };
  }
  const [path = '', query = ''] = request.target.split('?');
  const changed = random.pick([
    `${path}/`,
    `/${path}`,
    path.toUpperCase(),
    `${path}/${encode(hostileText(random)).slice(0, 300)}`,
    path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    path.replaceAll('/', '%2f'),
    `/v1${path}`,
    `${path}%00`,
    `${path};a=b`,
    `${path}/..;/balance`,
    `/%2e%2e${path}`,
    `${path}%`,
  ]);
  return {
    ...request,
    subject: 'changed methods and paths',
    target: query ? `${changed}?${query}` : changed,
  };
}
