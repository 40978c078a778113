import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Idempotency } from '../flows/shared/creation-request.ts';
import type { AdmissionSlot } from '../kit/admission.ts';
import type { Language } from '../kit/error-catalogue.ts';
import { ApiError } from '../kit/errors.ts';
import { errorFields } from '../kit/log.ts';
import type { Principal } from '../organizations/organization.ts';
import { issueAccessToken } from './api/issue-token.route.ts';
import { OPERATIONS } from './api/operations.ts';
import type { ApiDeps } from './api-deps.ts';
import { attemptedCredential } from './attempted-credential.ts';
import { authenticate, requireAllowedAddress, requireScope } from './auth.ts';
import { registerBodyParsers, rejectTooManyParameters } from './body-parsers.ts';
import { registerCheckout } from './checkout/checkout.routes.ts';
import { noteCreated } from './created-resource.ts';
import { registerDocs } from './docs-routes.ts';
import { toApiError } from './framework-error.ts';
import { negotiateLanguage } from './language.ts';
import { withoutNullFields } from './null-fields.ts';
import { isMerchantOperation, type Operation, type Reply, type StreamReply } from './operation.ts';
import { registerPackages } from './packages-routes.ts';
import { sendProblem } from './problem.ts';
import { railNoticeRoutes } from './rail-notices/rail-notices.route.ts';
import { rejectConnection } from './reject-connection.ts';
import { toRequestId } from './request-id.ts';
import { traceFields, traceRequests } from './request-spans.ts';
import { isNormalTarget } from './request-target.ts';
import { securityHeaders } from './security-headers.ts';
import { UntrustedProxyDetector } from './untrusted-proxy.ts';
import { readUrls } from './url-field.ts';
import { fieldError, invalidRequest, readPart } from './validation.ts';
import { registerVerify } from './verify/verify.routes.ts';

const BODY_LIMIT_BYTES = 64 * 1024;
/** The server disconnects a client that has not sent its whole request by then. */
const RECEIVE_TIMEOUT_MS = 15_000;
/** How often Node looks for such clients; its default of 30 seconds would triple the timeout. */
const RECEIVE_CHECK_MS = 5000;

/**
 * The credential is checked before the body is read. A client can send the body much later: then the credential is checked
 * again, so that a revoked API key cannot act with requests that it opened before.
 */
const RECHECK_AFTER_MS = 500;

/** Time for a client to read the rest of a stream after its end. */
const DRAIN_TIMEOUT_MS = 2000;

const EMPTY = z.strictObject({});

/** Answers that a client can cause at any rate. */
const FLOOD_CODES: ReadonlySet<string> = new Set([
  'unauthorized',
  'invalid_client',
  'address_not_allowed',
  'rate_limited',
  'overloaded',
]);

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    slot: AdmissionSlot | null;
    problemCode: string | null;
    /** A flood of rejected requests is logged in one line. */
    unlogged: boolean;
  }
}

/** Builds the public server: API operations, rail notices, checkout pages, docs and packages. */
export function buildApp(deps: ApiDeps): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: RECEIVE_TIMEOUT_MS,
    http: { connectionsCheckingInterval: RECEIVE_CHECK_MS },
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    trustProxy: deps.trustedProxies.length > 0 ? [...deps.trustedProxies] : false,
    return503OnClosing: false,
    genReqId: toRequestId,
    routerOptions: { maxParamLength: 200 },
    clientErrorHandler: (error, socket) => rejectConnection(deps.baseUrl, error, socket),
    frameworkErrors: (error, request, reply) =>
      void fail(deps, error, request as FastifyRequest, reply as unknown as FastifyReply),
  });
  app.decorateRequest('principal', null);
  app.decorateRequest('slot', null);
  app.decorateRequest('problemCode', null);
  app.decorateRequest('unlogged', false);
  app.decorateRequest('created', null);
  registerBodyParsers(app);
  traceRequests(app, deps.tracer);
  prepare(app, deps);
  observe(app, deps);
  app.setErrorHandler((error, request, reply) => fail(deps, error, request, reply));
  app.setNotFoundHandler((request, reply) => fail(deps, unknownRouteError(app, request), request, reply));
  for (const operation of OPERATIONS) route(app, deps, operation);
  railNoticeRoutes(app, deps.noticeEndpoints, (rail, received) => deps.notices.store(rail, received));
  registerCheckout(app, { ...deps.checkout, deps, banks: deps.banks, operator: deps.operator });
  registerVerify(app, { deps, finder: deps.receiptFinder, operator: deps.operator.name });
  registerDocs(app, deps.baseUrl);
  registerPackages(app, deps.baseUrl);
  deps.gate.guard(app.server);
  return app;
}

/** Runs before the hooks of the routes: sets the headers of every response and rejects unusual request targets. */
function prepare(app: FastifyInstance, deps: ApiDeps): void {
  const headers = securityHeaders(deps.baseUrl);
  const proxies = new UntrustedProxyDetector(deps);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, ...headers });
    proxies.inspect(request);
    const target = request.raw.url ?? '';
    if (!isNormalTarget(target)) throw new ApiError('not_found');
    rejectTooManyParameters(request, target, 'query');
  });
}

function observe(app: FastifyInstance, deps: ApiDeps): void {
  const seconds = deps.metrics.histogram(
    'caudal_http_request_seconds',
    'HTTP request duration by method, route and status.',
  );
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    seconds.observe(reply.elapsedTime / 1000, { method: request.method, route, status: reply.statusCode });
    if (request.unlogged) return done();
    deps.log.info(
      {
        requestId: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        code: request.problemCode ?? 'request_completed',
        clientAddress: deps.formatAddress(request.ip),
        ...traceFields(request),
        ...callerFields(request, reply.statusCode),
        ...request.created,
      },
      'request',
    );
    done();
  });
}

function callerFields(request: FastifyRequest, status: number) {
  const { principal } = request;
  if (principal) return { organizationId: principal.organization.id, keyId: principal.keyId };
  // The token operation has no principal: its client authenticates with the API key itself.
  const isClient = request.routeOptions.url === issueAccessToken.path;
  return isClient || status === 401 || status === 403 ? attemptedCredential(request) : {};
}

function route(app: FastifyInstance, deps: ApiDeps, operation: Operation): void {
  const url = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
  app.route({
    method: operation.method,
    url,
    // Runs before the body is read, so that unauthenticated bodies are not parsed.
    onRequest: async (request, reply) => {
      if (!isMerchantOperation(operation)) return;
      const { principal, headers, slot, rejection } = await admit(deps, request, reply);
      request.principal = principal;
      request.slot = slot;
      reply.headers(headers);
      if (rejection) throw rejection;
      requireScope(principal, operation.scope);
    },
    handler: async (request, reply) => {
      const result = await run(deps, operation, request, reply.elapsedTime);
      noteCreated(request, operation, result);
      return send(reply, result);
    },
  });
}

/** Admits a request, unless the gate has done so before. */
async function admit(
  { authenticator, gate, invalidCredentials, keyNetworks }: ApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const admitted = gate.findAdmission(request.raw);
  if (admitted) {
    keyNetworks.note(admitted.principal.keyId, request.ip, true);
    return admitted;
  }
  const suspect = invalidCredentials.isSuspect(request.ip);
  const principal = await authenticate(authenticator, request.headers, suspect);
  // Set before the check, so that the log names the API key of a rejected request.
  request.principal = principal;
  // Before the rate limits: a stolen key must not use up the requests of its owner.
  requireAllowedAddress(keyNetworks, principal, request.ip);
  return gate.admit(request.raw, reply.raw, principal);
}

/** Releases the slot as soon as the reply is known, so that streams and slow readers hold no slot. */
async function run(
  deps: ApiDeps,
  operation: Operation,
  request: FastifyRequest,
  elapsedMs: number,
): Promise<Reply | StreamReply> {
  request.slot?.start();
  try {
    if (elapsedMs > RECHECK_AFTER_MS) await requireAuthorization(deps, operation, request);
    return await callOperation(deps, operation, request);
  } finally {
    request.slot?.release();
  }
}

async function callOperation(
  deps: ApiDeps,
  operation: Operation,
  request: FastifyRequest,
): Promise<Reply | StreamReply> {
  const language = negotiateLanguage(request.headers['accept-language']);
  const bodyType = operation.bodyType ?? 'application/json';
  if (operation.body && !request.headers['content-type']?.toLowerCase().startsWith(bodyType))
    throw new ApiError('unsupported_media_type');
  const sent = operation.body ? withoutNullFields(operation.body, request.body) : request.body;
  const call = {
    params: readPart(operation.params ?? EMPTY, request.params, '', language),
    query: readPart(operation.query ?? EMPTY, request.query, 'query.', language),
    body: readBody(deps, operation, sent, language),
    idempotency: readIdempotency(operation, request, sent),
    lastEventId: operation.resumable ? (request.headers['last-event-id']?.toString() ?? null) : null,
    language,
    stillAuthorized: () => isStillAuthorized(deps, operation, request),
    releaseSlot: () => request.slot?.release(),
  };
  return isMerchantOperation(operation)
    ? operation.handle(deps, requirePrincipal(request), call)
    : operation.handle(deps, { body: call.body, headers: request.headers, clientAddress: request.ip });
}

function readBody(deps: ApiDeps, operation: Operation, body: unknown, language: Language): unknown {
  if (!operation.body) {
    readPart(EMPTY, body ?? {}, '', language);
    return null;
  }
  if (body === undefined) throw new ApiError('malformed_json');
  const { normalized, errors } = readUrls(deps, operation.urlFields ?? {}, body, language);
  return readPart(operation.body, normalized, '', language, errors);
}

/** Also false when authentication fails for another reason, such as a database outage: the client resumes elsewhere. */
async function isStillAuthorized(
  deps: ApiDeps,
  operation: Operation,
  request: FastifyRequest,
): Promise<boolean> {
  try {
    await requireAuthorization(deps, operation, request);
    return true;
  } catch {
    return false;
  }
}

/** @throws ApiError when the credential was revoked, or its restrictions changed, since the request was admitted */
async function requireAuthorization(
  { authenticator, keyNetworks }: ApiDeps,
  operation: Operation,
  request: FastifyRequest,
): Promise<void> {
  if (!isMerchantOperation(operation)) return;
  const principal = await authenticate(authenticator, request.headers);
  requireAllowedAddress(keyNetworks, principal, request.ip);
  requireScope(principal, operation.scope);
}

function requirePrincipal(request: FastifyRequest): Principal {
  if (!request.principal) throw new ApiError('unauthorized');
  return request.principal;
}

/** Printable ASCII only. Operations without idempotency accept and ignore the header. */
function readIdempotency(operation: Operation, request: FastifyRequest, body: unknown): Idempotency | null {
  const key = request.headers['idempotency-key'];
  if (!operation.idempotent || key === undefined) return null;
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw invalidRequest([
      fieldError(
        'header.Idempotency-Key',
        'invalid_format',
        negotiateLanguage(request.headers['accept-language']),
        'format.idempotency_key',
      ),
    ]);
  }
  return { key, body };
}

function send(reply: FastifyReply, result: Reply | StreamReply): FastifyReply {
  if ('stream' in result) return sendStream(reply, result);
  reply.code(result.status).header('content-type', 'application/json; charset=utf-8');
  if (result.headers) reply.headers(result.headers);
  return reply.send(JSON.stringify(result.body));
}

function sendStream(reply: FastifyReply, { stream, ended, close }: StreamReply): FastifyReply {
  const readable = Readable.from(stream, { objectMode: false }).once('close', close);
  // The readable detects a disconnected client only on its next write; the response detects it at once.
  reply.raw.once('close', close);
  ended.addEventListener('abort', () => setTimeout(() => readable.destroy(), DRAIN_TIMEOUT_MS).unref());
  return reply
    .code(200)
    .headers({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    .send(readable);
}

function unknownRouteError(app: FastifyInstance, request: FastifyRequest): ApiError {
  const [path = ''] = request.url.split('?');
  // `/payins/` is no route, although the router would match it with `/payins/:payinId`.
  if (path.length > 1 && path.endsWith('/')) return new ApiError('not_found');
  const methods = (['GET', 'POST', 'PATCH', 'DELETE'] as const).filter(
    (method) => method !== request.method && app.findRoute({ method, url: path }) !== null,
  );
  return methods.length > 0
    ? new ApiError('method_not_allowed', { members: { allow: methods.join(', ') } })
    : new ApiError('not_found');
}

function fail(deps: ApiDeps, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const apiError = toApiError(error);
  request.problemCode = apiError.code;
  if (apiError.entry.status === 401) deps.invalidCredentials.count(request.ip);
  if (FLOOD_CODES.has(apiError.code)) request.unlogged = !deps.invalidCredentials.takeLogLine();
  // Framework errors occur before the onRequest hook, so the headers are set here too.
  reply.headers({ 'x-request-id': request.id, ...securityHeaders(deps.baseUrl) });
  if (apiError.entry.status >= 500 && !request.unlogged) {
    const cause = apiError.cause ?? (error instanceof ApiError ? null : error);
    const fields = {
      requestId: request.id,
      ...traceFields(request),
      code: apiError.code,
      reason: apiError.message,
      ...(cause ? errorFields(cause) : {}),
    };
    if (apiError.code === 'internal_error') deps.log.error(fields, 'request failed');
    else deps.log.warn(fields, 'request rejected');
  }
  const allow = apiError.members['allow'];
  if (apiError.code === 'method_not_allowed' && allow !== undefined) reply.header('allow', allow);
  const [instance = '/'] = request.url.split('?');
  return sendProblem(reply, apiError, {
    baseUrl: deps.baseUrl,
    requestId: request.id,
    instance,
    language: negotiateLanguage(request.headers['accept-language']),
  });
}
