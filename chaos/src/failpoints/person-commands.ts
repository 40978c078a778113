import { createHash, randomInt, randomUUID } from 'node:crypto';
import { CUSTOMER } from '../clients/customer.ts';
import type { Trial } from '../run/trial.ts';

const TIMEOUT_MS = 30_000;

/** A document number that no other payment of the run has. */
function newDocument(): string {
  return String(randomInt(2_000_000_000, 2_999_999_999));
}

/** Places a legal hold; repeated, it finds the hold of the process that died. */
export function holdCommand(): { readonly args: readonly string[]; readonly doneBefore: RegExp } {
  const args = [
    'people',
    'hold',
    '--document',
    `CO_CC:${newDocument()}`,
    '--reason',
    'chaos',
    '--by',
    'chaos',
  ];
  return { args, doneBefore: /already under a legal hold/ };
}

/** The attempts of these requests in the journal; those of the load count from 1. */
const FIRST_ATTEMPT = 90_000_000;
let attempts = FIRST_ATTEMPT;

/** Erases the receiver of a payout that was declined on creation, because its new organization has no money. */
export async function eraseCommand({
  stack,
  journal,
}: Pick<Trial, 'stack' | 'journal'>): Promise<{ readonly args: readonly string[] }> {
  const { organizationId, apiKey } = await stack.newOrganization();
  const idNumber = newDocument();
  const reference = randomUUID();
  const key = '@TESTOK';
  const about = { reference, amountInCents: 12_500, key, lookupId: null };
  const body = JSON.stringify({
    amountInCents: about.amountInCents,
    currency: 'COP',
    rail: 'BRE_B',
    reference,
    inlineCustomer: { ...CUSTOMER, idNumber },
    breb: { keyString: key },
  });
  const bodyHash = createHash('sha256').update(body).digest('hex').slice(0, 16);
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const attempt = ++attempts;
    const sent = { kind: 'payout_sent', attempt, organizationId, idempotencyKey: reference } as const;
    journal.write({ ...sent, ...about, bodyHash });
    const answer = await fetch(`${stack.apis[0]?.url ?? ''}/payouts`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': reference },
      body,
    }).catch(() => null);
    const payout = answer?.status === 201 ? ((await answer.json()) as Record<string, string>) : null;
    if (payout) {
      const created = { id: payout['id'] ?? '', reference, amountInCents: about.amountInCents, key };
      const status = payout['status'] ?? '';
      journal.write({
        kind: 'payout_answered',
        attempt,
        status: 201,
        code: null,
        payout: { ...created, status },
      });
      const person = ['--document', `CO_CC:${idNumber}`, '--org', organizationId];
      return { args: ['people', 'erase', ...person, '--by', 'chaos'] };
    }
    // A process may be restarting.
    journal.write({ kind: 'unanswered', attempt, cause: `status ${answer?.status ?? 'none'}` });
    if (performance.now() > deadline)
      throw new Error(`no payout was created: ${answer?.status ?? 'no answer'}`);
  }
}
