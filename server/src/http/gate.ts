import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { Admission, type AdmissionSlot } from '../kit/admission.ts';
import { ApiError } from '../kit/errors.ts';
import { EventLoopDelay } from '../kit/event-loop-delay.ts';
import { randomFraction } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import { type Allowance, RateLimit } from '../kit/rate-limit.ts';
import type { Authenticator } from '../organizations/authenticator.ts';
import type { Limits, Principal } from '../organizations/organization.ts';
import { readCredential } from './auth.ts';
import { RejectionWriter } from './rejection-writer.ts';

type Kind = 'write' | 'read';

interface GateOptions {
  /** Paths of the merchant operations. The gate never rejects payers or notices from rails. */
  readonly merchantPaths: readonly string[];
  /** POST paths that change nothing and count as reads; none has a parameter. */
  readonly readOnlyPaths: ReadonlySet<string>;
  readonly authenticator: Authenticator;
  readonly baseUrl: string;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Default rate limits, for organizations without their own; 0 means unlimited. */
  readonly perSecond: Readonly<Record<Kind, number>>;
  readonly maxConcurrentRequests: number;
  /** Whether the database accepts no writes now: the gate then rejects write requests before any work is done. */
  readonly writesSuspended: () => boolean;
}

/** An admitted request has a `slot`; a rejected one has a `rejection`. */
interface AdmissionResult {
  readonly principal: Principal;
  /** Rate limit headers, sent with both outcomes. */
  readonly headers: Readonly<Record<string, string>>;
  readonly slot: AdmissionSlot | null;
  readonly rejection: ApiError | null;
}

// Created once: capturing the stack trace costs as much as the rest of a rejection.
const RATE_LIMITED = new ApiError('rate_limited', { retryAfterSeconds: 1 });
/** Different retry delays spread the retries of requests that were rejected together. */
const OVERLOADED = [1, 2, 3].map(
  (retryAfterSeconds) =>
    new ApiError('overloaded', { reason: 'concurrent request limit reached', retryAfterSeconds }),
);

const WRITES_SUSPENDED = new ApiError('service_unavailable', {
  reason: 'too many commits with unknown outcome',
  retryAfterSeconds: 2,
});

/**
 * Admission control of the API: enforces the rate limits of organizations and API keys and the concurrency limit of this process.
 * It decides as soon as the headers arrive, before the body is read and without the framework, so that a rejection is
 * cheap and a rejected request has had no effect.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #merchantSegments: ReadonlySet<string>;
  readonly #rejections: RejectionWriter;
  readonly #limits: Readonly<Record<Kind, RateLimit>>;
  /** Buckets of API keys that have limits of their own. */
  readonly #keyLimits: Readonly<Record<Kind, RateLimit>>;
  readonly #admissions: Readonly<Record<Kind, Admission>>;
  readonly #admitted = new WeakMap<IncomingMessage, AdmissionResult>();

  constructor(options: GateOptions) {
    this.#options = options;
    this.#merchantSegments = new Set(options.merchantPaths.map(firstSegment));
    this.#rejections = new RejectionWriter(options);
    this.#limits = { write: new RateLimit('writes'), read: new RateLimit('reads') };
    this.#keyLimits = { write: new RateLimit('key-writes'), read: new RateLimit('key-reads') };
    // Reads and writes wait for different resources: separate limits keep a flood of one from blocking the other.
    const { maxConcurrentRequests, metrics } = options;
    const admission = () => {
      const delay = new EventLoopDelay();
      return new Admission(maxConcurrentRequests, () => delay.takeMs());
    };
    const admissions = { write: admission(), read: admission() };
    this.#admissions = admissions;
    const byKind = (read: (admission: Admission) => number) => () =>
      (['write', 'read'] as const).map((kind) => ({ labels: { kind }, value: read(admissions[kind]) }));
    metrics.gauge(
      'caudal_http_requests_in_flight',
      'Merchant requests in progress.',
      byKind(({ inFlight }) => inFlight),
    );
    metrics.gauge(
      'caudal_http_requests_in_flight_limit',
      'Current concurrency limit of merchant requests; it falls when requests are slow.',
      byKind(({ limit }) => limit),
    );
  }

  /** Wraps the current request handlers of the server. */
  guard(server: Server): void {
    const handlers = server.listeners('request') as ((
      request: IncomingMessage,
      response: ServerResponse,
    ) => void)[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      if (!this.#rejects(request, response)) for (const handle of handlers) handle(request, response);
    });
  }

  /** The result for a request whose credential was cached; null if `admit` must be called. */
  findAdmission(request: IncomingMessage): AdmissionResult | null {
    return this.#admitted.get(request) ?? null;
  }

  /** Admits or rejects an authenticated request. */
  admit(request: IncomingMessage, response: ServerResponse, principal: Principal): AdmissionResult {
    const kind = this.#toKind(request);
    if (kind === 'write' && this.#options.writesSuspended())
      return this.#reject(principal, kind, NO_LIMIT, WRITES_SUSPENDED);
    const { allowed, headers } = this.#take(principal, kind);
    if (!allowed) return this.#reject(principal, kind, headers, RATE_LIMITED);
    const slot = this.#admissions[kind].admit(principal.organization.id);
    if (slot === null) {
      this.#refund(principal, kind);
      return this.#reject(principal, kind, headers, pickRandom(OVERLOADED));
    }
    // During the credential lookup the client may have disconnected: `close` is then never emitted again.
    if (response.closed || response.destroyed) slot.onDisconnect();
    else response.once('close', () => slot.onDisconnect());
    return { principal, headers, slot, rejection: null };
  }

  /** Counts against the write limits of the organization and its API key. @throws ApiError `rate_limited` */
  charge(principal: Principal): void {
    if (!this.#take(principal, 'write').allowed)
      throw this.#reject(principal, 'write', {}, RATE_LIMITED).rejection;
  }

  #rejects(request: IncomingMessage, response: ServerResponse): boolean {
    if (!this.#merchantSegments.has(firstSegment(request.url ?? ''))) return false;
    const principal = this.#recall(request.headers);
    // An address allow-list needs the client address, which the framework finds out behind proxies.
    if (principal === null || principal.allowedAddresses !== null) return false;
    const result = this.admit(request, response, principal);
    if (result.rejection !== null) {
      this.#rejections.send(request, response, result.rejection, result.headers);
      return true;
    }
    this.#admitted.set(request, result);
    return false;
  }

  /** Null if the credential is not cached or is invalid: the route then authenticates the request and reports errors. */
  #recall(headers: IncomingHttpHeaders): Principal | null {
    try {
      const { text, kinds } = readCredential(headers);
      return this.#options.authenticator.authenticateFromCache(text, kinds);
    } catch {
      return null;
    }
  }

  /** Takes from the limits of the API key and of the organization, or from neither. */
  #take(
    principal: Principal,
    kind: Kind,
  ): { readonly allowed: boolean; readonly headers: AdmissionResult['headers'] } {
    const { keyId, keyLimits, organization } = principal;
    const ofKey = this.#keyLimits[kind].take(keyId, toPerSecond(keyLimits, kind) ?? 0);
    if (ofKey?.allowed === false) return { allowed: false, headers: toHeaders([ofKey]) };
    const allowance = this.#limits[kind].take(organization.id, this.#perSecond(principal, kind));
    const headers = toHeaders([allowance, ofKey]);
    if (allowance?.allowed !== false) return { allowed: true, headers };
    this.#keyLimits[kind].refund(keyId);
    return { allowed: false, headers };
  }

  #refund({ keyId, organization }: Principal, kind: Kind): void {
    this.#keyLimits[kind].refund(keyId);
    this.#limits[kind].refund(organization.id);
  }

  #toKind({ method, url = '' }: IncomingMessage): Kind {
    if (method === 'GET' || method === 'HEAD') return 'read';
    const [path = ''] = url.split('?', 1);
    return method === 'POST' && this.#options.readOnlyPaths.has(path) ? 'read' : 'write';
  }

  #perSecond({ limits }: Principal, kind: Kind): number {
    return toPerSecond(limits, kind) ?? this.#options.perSecond[kind];
  }

  #reject(
    principal: Principal,
    kind: Kind,
    headers: AdmissionResult['headers'],
    rejection: ApiError,
  ): AdmissionResult & { readonly rejection: ApiError } {
    this.#rejections.count(rejection, kind, principal.organization.id);
    return { principal, headers, slot: null, rejection };
  }
}

const NO_LIMIT: AdmissionResult['headers'] = {};

function toHeaders(allowances: readonly (Allowance | null)[]): AdmissionResult['headers'] {
  const given = allowances.filter((allowance) => allowance !== null);
  return given.length === 0
    ? NO_LIMIT
    : {
        'ratelimit-policy': given.map(({ policy }) => policy).join(', '),
        ratelimit: given.map(({ limit }) => limit).join(', '),
      };
}

function toPerSecond(limits: Limits, kind: Kind): number | null {
  return kind === 'write' ? limits.writesPerSecond : limits.readsPerSecond;
}

/** `/payins/…?…` → `payins`. */
function firstSegment(url: string): string {
  const end = url.slice(1).search(/[/?]/);
  return end < 0 ? url.slice(1) : url.slice(1, end + 1);
}

function pickRandom(errors: readonly ApiError[]): ApiError {
  return errors[Math.floor(randomFraction() * errors.length)] ?? RATE_LIMITED;
}
