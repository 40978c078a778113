import { setTimeout as sleep } from 'node:timers/promises';
import type { Organization, OrganizationSecrets } from '../../organizations/organization.ts';
import { payinOf } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import type { CollectOrder } from '../../rails/contract.ts';
import type { PseOpener } from './open-pse-payins.ts';

/** How long whoever created a payin waits for the bank's page before going on without one. */
export const BANK_PAGE_WITHIN_MS = 3000;

/** A payin that was just committed, and the claim on its due work that this process holds. */
export interface CommittedPayin {
  readonly payin: Payin;
  readonly organization: Organization;
  readonly secrets: OrganizationSecrets;
  readonly leaseToken: string;
}

/** What follows a payin's commit at once: its key is registered, or its bank page asked for. */
export class CollectionStarter {
  readonly #pse: PseOpener;
  readonly #keyMinted: (order: CollectOrder, leaseToken: string) => void;

  constructor(pse: PseOpener, keyMinted: (order: CollectOrder, leaseToken: string) => void) {
    this.#pse = pse;
    this.#keyMinted = keyMinted;
  }

  /** @returns the payin, with its bank page if that came in time; a worker goes on with what is left */
  async begin({ payin, organization, secrets, leaseToken }: CommittedPayin): Promise<Payin> {
    if (payin.source.rail === 'BRE_B') {
      this.#keyMinted(
        {
          reference: payin.source.key,
          payinId: payin.id,
          amount: payin.amount,
          expiresAt: payin.expiresAt,
          description: payin.reference,
          payer: payin.customer,
          bank: null,
        },
        leaseToken,
      );
      return payin;
    }
    if (payin.customer === null) return payin;
    const opening = this.#pse.open({
      organizationId: payin.organizationId,
      organizationNumber: organization.number,
      payin,
      payer: payin.customer,
      leaseToken,
      attempts: 0,
      sentMsAgo: null,
    });
    const row = await within(opening, BANK_PAGE_WITHIN_MS);
    // A refusal is an outcome, and outcomes are told by events: the creation still answers PENDING.
    return row?.pse_url ? payinOf(row, secrets.dataKey) : payin;
  }
}

export async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  const giveUp = new AbortController();
  try {
    return await Promise.race([promise, sleep(ms, null, { signal: giveUp.signal })]);
  } finally {
    giveUp.abort();
  }
}
