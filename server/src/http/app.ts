import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import Fastify, {
  type ConnectionError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { z } from 'zod';
import type { AdmissionSlot } from '../kit/admission.ts';
import type { Language } from '../kit/error-catalogue.ts';
import { ApiError } from '../kit/errors.ts';
import { randomBase32 } from '../kit/ids.ts';
import { errorFields } from '../kit/log.ts';
import type { Principal } from '../organizations/organization.ts';
import { addressErrors } from './address-field.ts';
import { OPERATIONS } from './api/operations.ts';
import type { ApiDeps } from './api-deps.ts';
import { authenticate, requireScope } from './auth.ts';
import { registerCheckout } from './checkout/checkout.routes.ts';
import { registerDocs } from './docs-routes.ts';
import { faultOf } from './framework-error.ts';
import { languageOf } from './language.ts';
import { withoutNullFields } from './null-fields.ts';
import { isMerchantOperation, type Operation, type Reply, type StreamReply } from './operation.ts';
import { problemBody, sendProblem } from './problem.ts';
import { railNoticeRoutes } from './rail-notices/rail-notices.route.ts';
import { fieldError, invalidRequest, readPart } from './validation.ts';

const BODY_LIMIT_BYTES = 64 * 1024;
/** A client that has not sent its whole request by then is cut off. */
const RECEIVE_WITHIN_MS = 15_000;

/** After the end of a stream. */
const READ_WITHIN_MS = 2000;

const NOTHING = z.strictObject({});

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    slot: AdmissionSlot | null;
    problemCode: string | null;
  }
}

/** The merchants' API: every operation of the list, and the docs about them. */
export function buildApp(deps: ApiDeps): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: RECEIVE_WITHIN_MS,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    trustProxy: deps.trustedProxies.length > 0 ? [...deps.trustedProxies] : false,
    return503OnClosing: false,
    genReqId: () => `req_${randomBase32(20)}`,
    routerOptions: { maxParamLength: 200 },
    clientErrorHandler: (error, socket) => refuseBytes(deps, error, socket),
    frameworkErrors: (error, request, reply) =>
      void fail(deps, error, request as FastifyRequest, reply as unknown as FastifyReply),
  });
  app.decorateRequest('principal', null);
  app.decorateRequest('place', null);
  app.decorateRequest('problemCode', null);
  readBodies(app);
  observe(app, deps);
  app.setErrorHandler((error, request, reply) => fail(deps, error, request, reply));
  app.setNotFoundHandler((request, reply) => fail(deps, nothingHere(app, request), request, reply));
  for (const operation of OPERATIONS) route(app, deps, operation);
  railNoticeRoutes(app, deps.noticeDoors, (rail, received) => deps.notices.store(rail, received));
  registerCheckout(app, { ...deps.checkout, deps, banks: deps.banks, operator: deps.operatorName });
  registerDocs(app, deps.baseUrl);
  deps.gate.guard(app.server);
  return app;
}

/** JSON and forms, both strictly UTF-8: bytes we would have to guess at do not become a payer's name. */
function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    // Some clients name the type of a body that they do not send; whether there had to be one is judged with the operation.
    if (body.length === 0) return done(null, undefined);
    try {
      if (!isUtf8(body as Buffer)) throw new SyntaxError('not UTF-8');
      done(null, JSON.parse(body.toString('utf8')));
    } catch (error) {
      done(new ApiError('malformed_json', { cause: error }));
    }
  });
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    (_request, body, done) => {
      if (!isUtf8(body as Buffer)) return done(new ApiError('malformed_request'));
      done(null, Object.fromEntries(new URLSearchParams(body.toString('utf8'))));
    },
  );
}

function observe(app: FastifyInstance, deps: ApiDeps): void {
  const seconds = deps.metrics.histogram(
    'caudal_http_request_seconds',
    'Time to answer, by route and status.',
  );
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    seconds.observe(reply.elapsedTime / 1000, { method: request.method, route, status: reply.statusCode });
    deps.log.info(
      {
        requestId: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        ...(request.problemCode ? { code: request.problemCode } : {}),
        ...(request.principal
          ? { organizationId: request.principal.organization.id, keyId: request.principal.keyId }
          : {}),
      },
      'request',
    );
    done();
  });
}

function route(app: FastifyInstance, deps: ApiDeps, operation: Operation): void {
  const url = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
  app.route({
    method: operation.method,
    url,
    // Before the body is read: a stranger's megabytes are not parsed.
    onRequest: async (request, reply) => {
      if (!isMerchantOperation(operation)) return;
      const { principal, headers, slot, fault } =
        deps.gate.judgementOf(request.raw) ??
        deps.gate.judge(request.raw, reply.raw, await authenticate(deps.authenticator, request.headers));
      request.principal = principal;
      request.slot = slot;
      reply.headers(headers);
      if (fault) throw fault;
      requireScope(principal, operation.scope);
    },
    handler: async (request, reply) => send(reply, await work(deps, operation, request)),
  });
}

/** Its place is left when the answer is known: a stream, or a client that reads slowly, holds none. */
async function work(
  deps: ApiDeps,
  operation: Operation,
  request: FastifyRequest,
): Promise<Reply | StreamReply> {
  request.slot?.begin();
  try {
    return await answerTo(deps, operation, request);
  } finally {
    request.slot?.leave();
  }
}

async function answerTo(
  deps: ApiDeps,
  operation: Operation,
  request: FastifyRequest,
): Promise<Reply | StreamReply> {
  const language = languageOf(request.headers['accept-language']);
  const bodyType = operation.bodyType ?? 'application/json';
  if (operation.body && !request.headers['content-type']?.toLowerCase().startsWith(bodyType))
    throw new ApiError('unsupported_media_type');
  const sent = operation.body ? withoutNullFields(operation.body, request.body) : request.body;
  const call = {
    params: readPart(operation.params ?? NOTHING, request.params, '', language),
    query: readPart(operation.query ?? NOTHING, request.query, 'query.', language),
    body: readBody(deps, operation, sent, language),
    rawBody: sent,
    idempotencyKey: idempotencyKey(operation, request),
    lastEventId: operation.resumes ? (request.headers['last-event-id']?.toString() ?? null) : null,
    language,
    stillAuthorized: () => stillAuthorized(deps, operation, request),
    releaseSlot: () => request.slot?.leave(),
  };
  return isMerchantOperation(operation)
    ? operation.handle(deps, principalOf(request), call)
    : operation.handle(deps, { body: call.body, headers: request.headers });
}

function readBody(deps: ApiDeps, operation: Operation, body: unknown, language: Language): unknown {
  if (!operation.body) {
    readPart(NOTHING, body ?? {}, '', language);
    return null;
  }
  if (body === undefined) throw new ApiError('malformed_json');
  const addresses = addressErrors(deps, operation.addresses ?? {}, body, language);
  return readPart(operation.body, body, '', language, addresses);
}

/** False too when nobody can say: what goes on is resumed where somebody can. */
async function stillAuthorized(
  { authenticator }: ApiDeps,
  operation: Operation,
  request: FastifyRequest,
): Promise<boolean> {
  if (!isMerchantOperation(operation)) return true;
  try {
    requireScope(await authenticate(authenticator, request.headers), operation.scope);
    return true;
  } catch {
    return false;
  }
}

function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new ApiError('unauthorized');
  return request.principal;
}

/** Printable characters only. Operations that do not remember it accept and ignore it. */
function idempotencyKey(operation: Operation, request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  if (!operation.idempotent || key === undefined) return null;
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw invalidRequest([
      fieldError(
        'header.Idempotency-Key',
        'invalid_format',
        languageOf(request.headers['accept-language']),
        'format.idempotency_key',
      ),
    ]);
  }
  return key;
}

function send(reply: FastifyReply, answer: Reply | StreamReply): FastifyReply {
  if ('stream' in answer) return sendStream(reply, answer);
  reply.code(answer.status).header('content-type', 'application/json; charset=utf-8');
  if (answer.headers) reply.headers(answer.headers);
  return reply.send(JSON.stringify(answer.body));
}

function sendStream(reply: FastifyReply, { stream, ended, close }: StreamReply): FastifyReply {
  const readable = Readable.from(stream, { objectMode: false }).once('close', close);
  // The stream itself hears of a client that is gone only when it has something to say.
  reply.raw.once('close', close);
  ended.addEventListener('abort', () => setTimeout(() => readable.destroy(), READ_WITHIN_MS).unref());
  return reply
    .code(200)
    .headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
    .send(readable);
}

function nothingHere(app: FastifyInstance, request: FastifyRequest): ApiError {
  const [path = ''] = request.url.split('?');
  const methods = (['GET', 'POST', 'PATCH', 'DELETE'] as const).filter(
    (method) => method !== request.method && app.findRoute({ method, url: path }) !== null,
  );
  return methods.length > 0
    ? new ApiError('method_not_allowed', { members: { allow: methods.join(', ') } })
    : new ApiError('not_found');
}

function fail(deps: ApiDeps, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const fault = faultOf(error);
  request.problemCode = fault.code;
  // Also on errors of the framework, which come before the hooks.
  reply.header('x-request-id', request.id);
  if (fault.entry.status >= 500) {
    const cause = fault.cause ?? (error instanceof ApiError ? null : error);
    const fields = {
      requestId: request.id,
      code: fault.code,
      reason: fault.message,
      ...(cause ? errorFields(cause) : {}),
    };
    if (fault.code === 'internal_error') deps.log.error(fields, 'a request failed');
    else deps.log.warn(fields, 'a request was turned away');
  }
  const allow = fault.members['allow'];
  if (fault.code === 'method_not_allowed' && allow !== undefined) reply.header('allow', allow);
  const [instance = '/'] = request.url.split('?');
  return sendProblem(reply, fault, {
    baseUrl: deps.baseUrl,
    requestId: request.id,
    instance,
    language: languageOf(request.headers['accept-language']),
  });
}

/** What is not HTTP, or too much of it, never becomes a request: the answer is written by hand. */
function refuseBytes(deps: ApiDeps, error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const requestId = `req_${randomBase32(20)}`;
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const fault = new ApiError('malformed_request');
  const body = JSON.stringify(
    problemBody(fault, { baseUrl: deps.baseUrl, requestId, instance: '/', language: 'en' }),
  );
  const head = [
    `HTTP/1.1 ${tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request'}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
