import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ReceivedNotice } from '../../flows/shared/store-notices.system.ts';
import type { SecretKey } from '../../kit/crypto.ts';
import { ApiError } from '../../kit/errors.ts';
import { isSignatureValid } from '../../kit/signed-body.ts';
import type { Rail, RailNotice } from '../../rails/contract.ts';
import { isTooDeep } from '../json-scan.ts';
import { negotiateLanguage } from '../language.ts';
import { fieldError, invalidRequest } from '../validation.ts';

/** A path where a rail posts its notices. */
export interface NoticeEndpoint {
  readonly path: string;
  readonly rail: Rail;
  readonly secrets: readonly SecretKey[];
  readonly read: (message: unknown) => RailNotice | null;
}

type Store = (rail: Rail, received: readonly ReceivedNotice[]) => Promise<void>;

const MAX_NOTICES = 100;
const BODY_LIMIT_BYTES = 256 * 1024;

/**
 * Receives notices from rails. 200 means that the notices are durably stored; on any other status the rail sends them
 * again. The body is read raw because the signature covers the exact bytes.
 */
export function railNoticeRoutes(
  app: FastifyInstance,
  endpoints: readonly NoticeEndpoint[],
  store: Store,
): void {
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES },
      (_request, body, parsed) => parsed(null, body),
    );
    for (const endpoint of endpoints) {
      scope.post(endpoint.path, { bodyLimit: BODY_LIMIT_BYTES }, (request, reply) =>
        receive(endpoint, store, request, reply),
      );
    }
    done();
  });
}

async function receive(
  endpoint: NoticeEndpoint,
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
  if (!isSignatureValid(endpoint.secrets, signed))
    throw new ApiError('unauthorized', { reason: 'invalid notice signature' });
  const messages = parseNotices(body);
  const accepted = messages.filter((raw) => !isTooDeep(raw));
  if (accepted.length > 0)
    await store(
      endpoint.rail,
      accepted.map((raw) => ({ raw, notice: endpoint.read(raw) })),
    );
  // The others are stored: when the rail resends the request, they are duplicates.
  if (accepted.length < messages.length) throw tooDeepError(messages, request);
  return reply.code(200).send({ accepted: messages.length });
}

function tooDeepError(messages: readonly unknown[], request: FastifyRequest): ApiError {
  const language = negotiateLanguage(request.headers['accept-language']);
  return invalidRequest(
    messages.flatMap((raw, index) =>
      isTooDeep(raw) ? [fieldError(`notices.${index}`, 'too_deep', language, 'too_deep')] : [],
    ),
  );
}

/** Rejects a signed but malformed body, so that the rail's operators see it among their failed deliveries. */
function parseNotices(body: Buffer): unknown[] {
  let document: unknown;
  try {
    document = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new ApiError('malformed_json', { cause: error });
  }
  const notices: unknown = (document as { notices?: unknown } | null)?.notices;
  if (!Array.isArray(notices) || notices.length === 0 || notices.length > MAX_NOTICES)
    throw new ApiError('malformed_request');
  return notices;
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}
