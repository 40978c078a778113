import { setTimeout as sleep } from 'node:timers/promises';
import { deadline } from '../../kit/deadline.ts';
import type { Organization, OrganizationSecrets } from '../../organizations/organization.ts';
import { payinFromRow } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import type { CollectOrder, Rail } from '../../rails/contract.ts';
import { collectionDescription } from './collection-description.ts';
import type { PseOpener } from './open-pse-payins.ts';

/** How long a creation waits for the bank page before it answers without one. */
export const BANK_PAGE_WITHIN_MS = 3000;

/** A payin that was just committed, with this process's lease on its due work. */
export interface CommittedPayin {
  readonly payin: Payin;
  readonly organization: Organization;
  readonly secrets: OrganizationSecrets;
  readonly leaseToken: string;
  /** What is paid for; null or missing: the reference says it. */
  readonly description?: string | null;
}

type EnqueueKey = (order: CollectOrder, leaseToken: string, traceContext: Buffer | null) => void;

/** Starts a collection right after the commit of its payin: enqueues the key registration, or requests the bank page. */
export class CollectionStarter {
  readonly #pse: PseOpener;
  readonly #enqueueKey: EnqueueKey;

  constructor(pse: PseOpener, enqueueKey: EnqueueKey) {
    this.#pse = pse;
    this.#enqueueKey = enqueueKey;
  }

  /** Whether the rail fails now, so that payers should not be offered it. A Bre-B key is usable once it is registered. */
  isDown(rail: Rail): boolean {
    return rail === 'PSE' && this.#pse.down;
  }

  /** @returns the payin, with its bank page if PSE answered in time; a worker completes the rest */
  async start({ payin, organization, secrets, leaseToken, description }: CommittedPayin): Promise<Payin> {
    if (payin.source.rail === 'BRE_B') {
      this.#enqueueKey(
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
        payin.traceContext,
      );
      return payin;
    }
    if (payin.customer === null) return payin;
    const opening = this.#pse.open({
      organizationId: payin.organizationId,
      organizationNumber: organization.number,
      payin,
      payer: payin.customer,
      description: collectionDescription(organization.name, description ?? payin.reference),
      leaseToken,
      attempts: 0,
      sentMsAgo: null,
    });
    const row = await within(opening, deadline(BANK_PAGE_WITHIN_MS));
    // After a rejection the creation still answers PENDING: outcomes are reported by events.
    return row?.pse_url ? payinFromRow(row, secrets.dataKey) : payin;
  }
}

export async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  const timeout = new AbortController();
  try {
    return await Promise.race([promise, sleep(ms, null, { signal: timeout.signal })]);
  } finally {
    timeout.abort();
  }
}
