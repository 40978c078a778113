import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ReceivedNotice } from '../../flows/shared/store-notices.ts';
import type { SecretKey } from '../../kit/crypto.ts';
import { ApiError } from '../../kit/errors.ts';
import { signatureHolds } from '../../kit/signed-body.ts';
import type { Rail, RailNotice } from '../../rails/contract.ts';

export interface NoticeDoor {
  readonly path: string;
  readonly rail: Rail;
  readonly secrets: readonly SecretKey[];
  readonly read: (message: unknown) => RailNotice | null;
}

type Store = (rail: Rail, received: readonly ReceivedNotice[]) => Promise<void>;

const MOST_AT_ONCE = 100;
const BODY_LIMIT_BYTES = 256 * 1024;

/**
 * Where rails tell us what happened. 200 means on disk; anything else, and the rail sends it again. The signature is over
 * the bytes as they came, so they are read raw.
 */
export function railNoticeRoutes(app: FastifyInstance, doors: readonly NoticeDoor[], store: Store): void {
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES },
      (_request, body, parsed) => parsed(null, body),
    );
    for (const door of doors) {
      scope.post(door.path, { bodyLimit: BODY_LIMIT_BYTES }, (request, reply) =>
        take(door, store, request, reply),
      );
    }
    done();
  });
}

async function take(
  door: NoticeDoor,
  store: Store,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const signed = {
    timestamp: header(request, 'x-notice-timestamp'),
    signature: header(request, 'x-notice-signature'),
    body,
  };
  if (!signatureHolds(door.secrets, signed))
    throw new ApiError('unauthorized', { reason: 'a bad signature' });
  const messages = messagesIn(body);
  await store(
    door.rail,
    messages.map((raw) => ({ raw, notice: door.read(raw) })),
  );
  return reply.code(200).send({ accepted: messages.length });
}

/** Signed but not as agreed: refused, and the rail's operators see it among their failures. */
function messagesIn(body: Buffer): unknown[] {
  let document: unknown;
  try {
    document = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new ApiError('malformed_json', { cause: error });
  }
  const notices: unknown = (document as { notices?: unknown } | null)?.notices;
  if (!Array.isArray(notices) || notices.length === 0 || notices.length > MOST_AT_ONCE)
    throw new ApiError('malformed_request');
  return notices;
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}
