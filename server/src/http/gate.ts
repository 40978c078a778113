import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { Admission, type AdmissionSlot } from '../kit/admission.ts';
import { ApiError } from '../kit/errors.ts';
import { EventLoopDelay } from '../kit/event-loop-delay.ts';
import { randomFraction } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import { type Allowance, RateLimit } from '../kit/rate-limit.ts';
import type { Authenticator } from '../organizations/authenticator.ts';
import type { Principal } from '../organizations/organization.ts';
import { OPERATIONS } from './api/operations.ts';
import { credentialIn } from './auth.ts';
import { isMerchantOperation } from './operation.ts';
import { RejectionWriter } from './rejection-writer.ts';

type Kind = 'write' | 'read';

interface GateOptions {
  readonly authenticator: Authenticator;
  readonly baseUrl: string;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Of an organization without limits of its own; 0 is none. */
  readonly perSecond: Readonly<Record<Kind, number>>;
  readonly maxConcurrentRequests: number;
  /** Whether the database would take no write now: a request that writes is refused before anything is done. */
  readonly writesSuspended: () => boolean;
}

/** A merchant's request as the gate judged it: let in with a place, or not, with the fault it is answered with. */
interface Judgement {
  readonly principal: Principal;
  /** What it is told about its limit, whichever way it went. */
  readonly headers: Readonly<Record<string, string>>;
  readonly slot: AdmissionSlot | null;
  readonly fault: ApiError | null;
}

// Made once: an error looks at the stack when it is made, which costs as much as the rest of a refusal.
const RATE_LIMITED = new ApiError('rate_limited', { retryAfterSeconds: 1 });
/** Turned away together, they come back apart. */
const OVERLOADED = [1, 2, 3].map(
  (retryAfterSeconds) =>
    new ApiError('overloaded', { reason: 'more at once than can be done in time', retryAfterSeconds }),
);

const WRITES_SUSPENDED = new ApiError('service_unavailable', {
  reason: 'too many commits are pending without an answer',
  retryAfterSeconds: 2,
});

/** Merchants' operations alone pass the gate: payers, and rails with news of money, are never turned away here. */
const OF_MERCHANTS: ReadonlySet<string> = new Set(
  OPERATIONS.filter(isMerchantOperation).map(({ path }) => firstSegment(path)),
);

/**
 * Stands before the API: each organization within its limits, and all of them together within what this process can do
 * in time. It judges as soon as the headers are there, before the body is read and past the framework, so that turning
 * away stays cheap and what is turned away has done nothing.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #refusals: RejectionWriter;
  readonly #limits: Readonly<Record<Kind, RateLimit>>;
  readonly #admissions: Readonly<Record<Kind, Admission>>;
  readonly #judged = new WeakMap<IncomingMessage, Judgement>();

  constructor(options: GateOptions) {
    this.#options = options;
    this.#refusals = new RejectionWriter(options);
    this.#limits = { write: new RateLimit('writes'), read: new RateLimit('reads') };
    // Apart, for they wait in different places: a flood of one does not shut out the other.
    const { maxConcurrentRequests, metrics } = options;
    const admission = () => {
      const delay = new EventLoopDelay();
      return new Admission(maxConcurrentRequests, () => delay.takeMs());
    };
    const admissions = { write: admission(), read: admission() };
    this.#admissions = admissions;
    const byKind = (read: (admission: Admission) => number) => () =>
      new Map([
        ['{kind="write"}', read(admissions.write)],
        ['{kind="read"}', read(admissions.read)],
      ]);
    metrics.gauge(
      'caudal_http_requests_in_flight',
      'Requests of merchants that are being worked on.',
      byKind(({ inside }) => inside),
    );
    metrics.gauge(
      'caudal_http_requests_in_flight_limit',
      'How many may be worked on at once before others are turned away; it falls when they take long.',
      byKind(({ limit }) => limit),
    );
  }

  /** Puts itself in front of whatever answers this server's requests now. */
  guard(server: Server): void {
    const handlers = server.listeners('request') as ((
      request: IncomingMessage,
      response: ServerResponse,
    ) => void)[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      if (!this.#turnsAway(request, response)) for (const handle of handlers) handle(request, response);
    });
  }

  /** What the gate made of a request whose caller it knew. */
  judgementOf(request: IncomingMessage): Judgement | null {
    return this.#judged.get(request) ?? null;
  }

  /** For a request whose credential had to be looked up first. */
  judge(request: IncomingMessage, response: ServerResponse, principal: Principal): Judgement {
    const kind = kindOf(request.method);
    if (kind === 'write' && this.#options.writesSuspended())
      return this.#refused(principal, kind, NO_LIMIT, WRITES_SUSPENDED);
    const allowance = this.#limits[kind].take(principal.organization.id, this.#perSecond(principal, kind));
    const headers = headersOf(allowance);
    if (allowance && !allowance.allowed) return this.#refused(principal, kind, headers, RATE_LIMITED);
    const slot = this.#admissions[kind].enter(principal.organization.id);
    if (slot === null) {
      this.#limits[kind].giveBack(principal.organization.id);
      return this.#refused(principal, kind, headers, anyOf(OVERLOADED));
    }
    // Who had to be looked up may have hung up meanwhile, and is not heard of again.
    if (response.closed || response.destroyed) slot.hungUp();
    else response.once('close', () => slot.hungUp());
    return { principal, headers, slot, fault: null };
  }

  /** Counts as a write of the organization. @throws Fault `rate_limited` */
  charge(principal: Principal): void {
    const { id } = principal.organization;
    if (this.#limits.write.take(id, this.#perSecond(principal, 'write'))?.allowed === false)
      throw this.#refused(principal, 'write', {}, RATE_LIMITED).fault;
  }

  #turnsAway(request: IncomingMessage, response: ServerResponse): boolean {
    if (!OF_MERCHANTS.has(firstSegment(request.url ?? ''))) return false;
    const principal = this.#recall(request.headers);
    if (principal === null) return false;
    const judgement = this.judge(request, response, principal);
    if (judgement.fault !== null) {
      this.#refusals.send(request, response, judgement.fault, judgement.headers);
      return true;
    }
    this.#judged.set(request, judgement);
    return false;
  }

  /** Null when it must be looked up, or is no good: others find the words for that. */
  #recall(headers: IncomingHttpHeaders): Principal | null {
    try {
      const { text, kinds } = credentialIn(headers);
      return this.#options.authenticator.recall(text, kinds);
    } catch {
      return null;
    }
  }

  #perSecond({ limits }: Principal, kind: Kind): number {
    const own = kind === 'write' ? limits.writesPerSecond : limits.readsPerSecond;
    return own ?? this.#options.perSecond[kind];
  }

  #refused(
    principal: Principal,
    kind: Kind,
    headers: Judgement['headers'],
    fault: ApiError,
  ): Judgement & { readonly fault: ApiError } {
    this.#refusals.count(fault, kind, principal.organization.id);
    return { principal, headers, slot: null, fault };
  }
}

const NO_LIMIT: Judgement['headers'] = {};

function headersOf(allowance: Allowance | null): Judgement['headers'] {
  return allowance ? { 'ratelimit-policy': allowance.policy, ratelimit: allowance.limit } : NO_LIMIT;
}

function kindOf(method: string | undefined): Kind {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'write';
}

/** `payins` of `/payins/…?…`. */
function firstSegment(url: string): string {
  const end = url.slice(1).search(/[/?]/);
  return end < 0 ? url.slice(1) : url.slice(1, end + 1);
}

function anyOf(faults: readonly ApiError[]): ApiError {
  return faults[Math.floor(randomFraction() * faults.length)] ?? RATE_LIMITED;
}
