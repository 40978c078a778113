import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import type { ReceiptFinder } from '../../flows/receipts/find-receipt.system.ts';
import { parseReceiptCode } from '../../receipts/receipt-code.ts';
import { FixedWindowLimit } from '../checkout/fixed-window-limit.ts';
import type { CheckResult } from './check-result.ts';
import { clientNetwork } from './client-network.ts';
import { VERIFY_MESSAGES } from './verify-messages.ts';
import { renderVerifyPage, VERIFY_HEADERS } from './verify-page.ts';
import { SERVICE_WORKER } from './verify-script.ts';

export interface VerifyParts {
  readonly deps: Pick<Deps, 'receiptKeys' | 'environment'>;
  readonly finder: ReceiptFinder;
  readonly operator: string;
}

/** Codes that one network may look up: enough for the till of a busy shop, too few to guess one. */
const LOOKUPS_PER_NETWORK = { limit: 120, windowMs: 60_000 };

/** A text longer than this is the address or the content of a QR code. */
const MAX_CODE_LENGTH = 60;

/** Registers `/verificar`, on which anybody can check a receipt, and the published keys. */
export function registerVerify(app: FastifyInstance, { deps, finder, operator }: VerifyParts): void {
  const limit = new FixedWindowLimit(LOOKUPS_PER_NETWORK.limit, LOOKUPS_PER_NETWORK.windowMs);
  const lookUp = async (request: FastifyRequest, typed: string): Promise<Lookup> => {
    const code = parseReceiptCode(typed);
    if (code === null) return { status: 400, verdict: 'invalid_code', state: 'unknown', receipt: null };
    if (limit.take(clientNetwork(request.ip)) !== null)
      return { status: 429, verdict: 'busy', state: 'unknown', receipt: null };
    const found = await finder.find(code);
    if (!found) return { status: 404, verdict: 'unknown_code', state: 'unknown', receipt: null };
    return { status: 200, verdict: null, state: found.state, receipt: found.signed };
  };
  const page = (language: 'es' | 'en') => async (request: FastifyRequest, reply: FastifyReply) => {
    const { c } = request.query as Record<string, string | undefined>;
    const result = c ? await checkTyped(deps, c.trim(), (code) => lookUp(request, code)) : null;
    return reply
      .type('text/html; charset=utf-8')
      .headers(VERIFY_HEADERS)
      .send(
        renderVerifyPage({
          messages: VERIFY_MESSAGES[language],
          keys: deps.receiptKeys.published,
          staging: deps.environment !== 'production',
          operator,
          checked: result && { text: c ?? '', result },
        }),
      );
  };
  app.get('/verificar', page('es'));
  app.get('/verify', page('en'));
  app.get('/verify/worker.js', (_request, reply) => sendServiceWorker(reply));
  app.get('/verify/receipts/:code', async (request, reply) => {
    const { code } = request.params as { code: string };
    const { status, ...body } = await lookUp(request, code);
    return reply
      .code(status)
      .headers({ 'cache-control': 'no-store', ...(status === 429 ? { 'retry-after': '60' } : {}) })
      .send(body);
  });
  app.get('/.well-known/caudal-receipt-keys.json', (_request, reply) =>
    reply
      .type('application/jwk-set+json')
      .headers({ 'cache-control': 'no-cache', 'access-control-allow-origin': '*' })
      .send(JSON.stringify(deps.receiptKeys.published)),
  );
}

/** The answer to a receipt code: no data of the payer. */
interface Lookup {
  readonly status: 200 | 400 | 404 | 429;
  /** Null if the receipt exists. */
  readonly verdict: 'invalid_code' | 'unknown_code' | 'busy' | null;
  readonly state: 'confirmed' | 'returned' | 'reversed' | 'unknown';
  /** The signed facts; null if the money was returned. */
  readonly receipt: string | null;
}

/** Checks a typed code or a pasted address on the server, for browsers that cannot do it themselves. */
async function checkTyped(
  { receiptKeys }: Pick<Deps, 'receiptKeys'>,
  typed: string,
  lookUp: (code: string) => Promise<Lookup>,
): Promise<CheckResult> {
  const text = typed.slice(typed.indexOf('#') + 1).toUpperCase();
  if (typed.includes('#') || typed.length >= MAX_CODE_LENGTH) {
    const checked = receiptKeys.verify(text);
    if (checked.verdict !== 'authentic') return { ...checked, state: 'unknown' };
    const { state } = await lookUp(checked.facts.code);
    return { ...checked, state };
  }
  const { verdict, state, receipt } = await lookUp(typed);
  if (verdict !== null) return { verdict, facts: null, state };
  return { verdict: 'authentic', facts: receipt === null ? null : receiptKeys.verify(receipt).facts, state };
}

/** Its path is not above the pages, so the header permits their scopes. */
function sendServiceWorker(reply: FastifyReply): FastifyReply {
  return reply
    .type('text/javascript; charset=utf-8')
    .headers({
      'cache-control': 'no-cache',
      'service-worker-allowed': '/',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; connect-src 'self'",
    })
    .send(SERVICE_WORKER);
}
