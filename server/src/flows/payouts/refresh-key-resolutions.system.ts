import type { RowId } from '../../db/columns.ts';
import type { SystemDeps } from '../../deps.ts';
import { SYSTEM } from '../../kit/actor.ts';
import { newLeaseToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import type { OrganizationSecrets } from '../../organizations/organization.ts';
import type { Transition } from '../../payouts/payout.outcome.ts';
import { RESOLUTION_MARGIN_MS } from '../../payouts/payout.polling.ts';
import { lockPayouts } from '../../payouts/payout-outcome.store.ts';
import {
  type ExpiredResolutionOrder,
  leaseExpiredResolutions,
  type ResolutionRefresh,
  recordResolutionRefreshes,
} from '../../payouts/payout-send.store.ts';
import { decryptReceiver, holderIndex } from '../../payouts/receiver.encryption.ts';
import type { RailAnswer, RailErrorCode, Resolution } from '../../rails/contract.ts';
import { POSTPONE_MS, processIsolated } from '../shared/isolate-failures.ts';
import { RailCaller } from '../shared/rail-caller.ts';
import { endPayouts, postEnded } from './end-payouts.ts';

const MAX_CONCURRENT = 16;
/** Delay after the directory gave no clear answer. */
const RETRY_AFTER_MS = 5000;

/** The result for a waiting payout: a new resolution, no clear answer yet, or a decline. */
type RefreshResult =
  | ResolutionRefresh
  | (RowId & { readonly resolutionId: null; readonly decline: RailErrorCode });

/**
 * The directory resolution of a payout can expire while the payout waits for an unavailable or paused rail. The refresher
 * looks the Bre-B key up again before the payout is sent: with the same holder the payout continues, with another holder
 * it is declined.
 */
export class ResolutionRefresher {
  readonly #deps: SystemDeps;
  readonly #dataKeys: DataKeys;
  readonly #caller: RailCaller;

  constructor(deps: SystemDeps, dataKeys: DataKeys) {
    this.#deps = deps;
    this.#dataKeys = dataKeys;
    this.#caller = new RailCaller(deps, 'BRE_B', 16);
  }

  /** @returns the number of payouts that were due; call again immediately while it is not zero */
  async refresh(): Promise<number> {
    const { railPauses, payoutRail, system } = this.#deps;
    if (this.#caller.resting || railPauses.allPaused('BRE_B')) return 0;
    const leaseToken = newLeaseToken();
    const expired = await system.transaction('lease resolutions', (tx) =>
      leaseExpiredResolutions(
        tx,
        leaseToken,
        this.#caller.batchLimit(MAX_CONCURRENT),
        railPauses.pausedOrganizations('BRE_B'),
        payoutRail.capabilities.resolutionMs - RESOLUTION_MARGIN_MS,
      ),
    );
    if (expired.length === 0) return 0;
    const secrets = await this.#dataKeys.load(new Set(expired.map((order) => order.organizationId)));
    const results = await Promise.all(expired.map((order) => this.#resolve(order, secrets)));
    await processIsolated(
      results,
      (some) => this.#write(some, leaseToken),
      async ({ organizationId, id }, error) => {
        this.#deps.log.error(
          { ...errorFields(error), code: 'resolution_apply_failed', payoutId: id },
          'failed to apply key resolution; payout postponed',
        );
        await this.#write(
          [{ organizationId, id, resolutionId: null, retryAfterMs: POSTPONE_MS }],
          leaseToken,
        );
      },
    );
    return expired.length;
  }

  async #resolve(
    order: ExpiredResolutionOrder,
    secrets: (organizationId: string) => OrganizationSecrets,
  ): Promise<RefreshResult> {
    const { organizationId, id, encryptedReceiver, holder, resolutionId, sentAttempts } = order;
    try {
      const { dataKey, hashKey } = secrets(organizationId);
      const brebKey = decryptReceiver(dataKey, encryptedReceiver, organizationId, id);
      const answers = await this.#caller.call('resolve', [brebKey], async (brebKeys) =>
        Promise.all(brebKeys.map((each) => this.#deps.payoutRail.resolve(each))),
      );
      const result = fromAnswer(answers[0], (person) => holderIndex(hashKey, person).equals(holder));
      // Once the rail may have the order, only the rail may decline: it is sent with its old resolution, and the rail rejects it.
      if ('decline' in result && sentAttempts > 0) return { organizationId, id, resolutionId };
      return { organizationId, id, ...result };
    } catch (error) {
      this.#deps.log.error(
        { ...errorFields(error), code: 'payout_receiver_decrypt_failed', payoutId: id },
        'failed to decrypt payout receiver; payout postponed',
      );
      return { organizationId, id, resolutionId: null, retryAfterMs: POSTPONE_MS };
    }
  }

  async #write(results: readonly RefreshResult[], leaseToken: string): Promise<void> {
    await this.#deps.system.transaction('refresh resolutions', async (tx) => {
      // Skip payouts that were canceled, or leased by another process, which may have sent them.
      const locked = await lockPayouts(tx, results);
      const waiting = new Set(
        locked
          .filter(
            (row) => row.lease_token === leaseToken && row.rail_task === 'send' && row.sent_attempts === 0,
          )
          .map((row) => row.id),
      );
      const transitions = results.flatMap((result): (RowId & Transition)[] =>
        'decline' in result && waiting.has(result.id)
          ? [
              {
                organizationId: result.organizationId,
                id: result.id,
                to: 'DECLINED',
                errorCode: result.decline,
                executionId: null,
                cause: 'receiver_changed',
              },
            ]
          : [],
      );
      const transfers = await endPayouts(this.#deps, this.#dataKeys, tx, transitions, SYSTEM);
      await recordResolutionRefreshes(
        tx,
        results.flatMap((result) => ('decline' in result ? [] : [result])),
        leaseToken,
      );
      await postEnded(tx, transfers);
    });
  }
}

function fromAnswer(
  answer: RailAnswer<Resolution> | undefined,
  isSamePerson: (person: Resolution) => boolean,
):
  | { resolutionId: string }
  | { resolutionId: null; retryAfterMs: number }
  | { resolutionId: null; decline: RailErrorCode } {
  if (answer?.kind === 'no') return { resolutionId: null, decline: answer.errorCode };
  if (answer?.kind !== 'yes') return { resolutionId: null, retryAfterMs: RETRY_AFTER_MS };
  return isSamePerson(answer.value)
    ? { resolutionId: answer.value.resolutionId }
    : { resolutionId: null, decline: 'RECEIVER_MISMATCH' };
}
