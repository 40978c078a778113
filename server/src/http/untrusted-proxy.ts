import type { FastifyRequest } from 'fastify';
import { monotonicMs } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Counter, Metrics } from '../kit/metrics.ts';

const LOG_INTERVAL_MS = 600_000;

/**
 * Detects a proxy that is not configured: all clients behind it then share its address and its limits. A client can send
 * the header too, so this only warns.
 */
export class UntrustedProxyDetector {
  readonly #log: Log;
  readonly #hasTrustedProxies: boolean;
  readonly #counter: Counter;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: {
    readonly log: Log;
    readonly metrics: Metrics;
    readonly trustedProxies: readonly string[];
  }) {
    this.#log = options.log;
    this.#hasTrustedProxies = options.trustedProxies.length > 0;
    this.#counter = options.metrics.counter(
      'caudal_http_untrusted_forwarded_total',
      'Requests with X-Forwarded-For or Forwarded from an address that is not in CAUDAL_TRUSTED_PROXIES.',
      {},
    );
  }

  inspect(request: FastifyRequest): void {
    if (!this.#isForwarded(request)) return;
    this.#counter.add();
    const now = monotonicMs();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    this.#log.warn(
      { code: 'forwarded_header_untrusted' },
      'a request with X-Forwarded-For or Forwarded came from an untrusted address; if it is your proxy, set CAUDAL_TRUSTED_PROXIES: all clients behind it share one address and its limits',
    );
  }

  #isForwarded({ headers, ip, raw }: FastifyRequest): boolean {
    // From a trusted proxy, `ip` is the forwarded address and not that of the connection.
    if (headers['x-forwarded-for'] !== undefined) return ip === raw.socket.remoteAddress;
    return headers.forwarded !== undefined && !this.#hasTrustedProxies;
  }
}
