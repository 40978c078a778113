import type { SystemDeps } from '../../deps.ts';
import { freshToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import { post } from '../../ledger/ledger.store.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import type { OrganizationSecrets } from '../../organizations/organization.ts';
import type { Transition } from '../../payouts/payout.outcome.ts';
import { RESOLUTION_MARGIN_MS } from '../../payouts/payout.polling.ts';
import type { PayoutKey } from '../../payouts/payout.store.ts';
import { lockPayouts } from '../../payouts/payout-outcome.store.ts';
import {
  type ExpiredResolutionOrder,
  leaseExpiredResolutions,
  type Renewal,
  recordRenewals,
} from '../../payouts/payout-send.store.ts';
import { holderMark, openReceiver } from '../../payouts/receiver.seal.ts';
import type { RailAnswer, RailErrorCode, Resolution } from '../../rails/contract.ts';
import { isolateFailures, POSTPONE_MS } from '../shared/isolate-failures.ts';
import { RailCaller } from '../shared/rail-caller.ts';
import { endPayouts } from './end-payouts.ts';

const AT_ONCE = 16;
/** The directory gave no clear answer. */
const AGAIN_AFTER_MS = 5000;

/** What is found of a payout that waits: a promise made anew, nothing yet, or that its money must stay. */
type Finding = Renewal | (PayoutKey & { readonly resolutionId: null; readonly decline: RailErrorCode });

/**
 * A payout that waited (for a rail that was away, or behind a pause) may hold a promise of the directory that is no longer
 * honoured. The key is looked up again before it is sent: the same holder, and it goes on; another one, and the money
 * stays.
 */
export class ResolutionRefresher {
  readonly #deps: SystemDeps;
  readonly #keys: DataKeys;
  readonly #caller: RailCaller;

  constructor(deps: SystemDeps, keys: DataKeys) {
    this.#deps = deps;
    this.#keys = keys;
    this.#caller = new RailCaller(deps, 'BRE_B', 16);
  }

  /** @returns how many were due; call again at once while there are any */
  async renew(): Promise<number> {
    const { railPauses, payoutRail, system } = this.#deps;
    if (this.#caller.resting || railPauses.allPaused('BRE_B')) return 0;
    const leaseToken = freshToken();
    const stale = await system.transaction('lease resolutions', (tx) =>
      leaseExpiredResolutions(
        tx,
        leaseToken,
        this.#caller.atMost(AT_ONCE),
        railPauses.pausedOrganizations('BRE_B'),
        payoutRail.capabilities.resolutionMs - RESOLUTION_MARGIN_MS,
      ),
    );
    if (stale.length === 0) return 0;
    const secrets = await this.#keys.of(new Set(stale.map((order) => order.organizationId)));
    const findings = await Promise.all(stale.map((order) => this.#find(order, secrets)));
    await this.#write(findings, leaseToken).catch((error: unknown) =>
      isolateFailures(
        error,
        findings,
        (each) => this.#write([each], leaseToken),
        async ({ organizationId, id }, alone) => {
          this.#deps.log.error(
            { ...errorFields(alone), payoutId: id },
            'what the directory answered cannot be applied',
          );
          await this.#write(
            [{ organizationId, id, resolutionId: null, againAfterMs: POSTPONE_MS }],
            leaseToken,
          );
        },
      ),
    );
    return stale.length;
  }

  async #find(
    order: ExpiredResolutionOrder,
    secrets: (organizationId: string) => OrganizationSecrets,
  ): Promise<Finding> {
    const { organizationId, id, sealedReceiver, holder, resolutionId, attempts } = order;
    try {
      const { dataKey, hashKey } = secrets(organizationId);
      const key = openReceiver(dataKey, sealedReceiver, organizationId, id);
      const answers = await this.#caller.call('resolve', [key], async (keys) =>
        Promise.all(keys.map((each) => this.#deps.payoutRail.resolve(each))),
      );
      const finding = found(answers[0], (person) => holderMark(hashKey, person).equals(holder));
      // Once it has left, only the rail says no: it goes out under the promise it was made with, and the rail refuses it.
      if ('decline' in finding && attempts > 0) return { organizationId, id, resolutionId };
      return { organizationId, id, ...finding };
    } catch (error) {
      this.#deps.log.error({ ...errorFields(error), payoutId: id }, 'the receiver of a payout does not open');
      return { organizationId, id, resolutionId: null, againAfterMs: POSTPONE_MS };
    }
  }

  async #write(findings: readonly Finding[], leaseToken: string): Promise<void> {
    await this.#deps.system.transaction('refresh resolutions', async (tx) => {
      // Canceled meanwhile, or taken over by somebody who may have sent it: then there is nothing to decide here.
      const locked = await lockPayouts(tx, findings);
      const waiting = new Set(
        locked
          .filter((row) => row.lease_token === leaseToken && row.rail_task === 'send' && row.attempts === 0)
          .map((row) => row.id),
      );
      const moves = findings.flatMap((finding): (PayoutKey & Transition)[] =>
        'decline' in finding && waiting.has(finding.id)
          ? [
              {
                organizationId: finding.organizationId,
                id: finding.id,
                to: 'DECLINED',
                errorCode: finding.decline,
                executionId: null,
                cause: 'receiver_changed',
              },
            ]
          : [],
      );
      const transfers = await endPayouts(this.#deps, this.#keys, tx, moves);
      await recordRenewals(
        tx,
        findings.flatMap((finding) => ('decline' in finding ? [] : [finding])),
        leaseToken,
      );
      await post(tx, transfers);
    });
  }
}

function found(
  answer: RailAnswer<Resolution> | undefined,
  isSamePerson: (person: Resolution) => boolean,
):
  | { resolutionId: string }
  | { resolutionId: null; againAfterMs: number }
  | { resolutionId: null; decline: RailErrorCode } {
  if (answer?.kind === 'no') return { resolutionId: null, decline: answer.errorCode };
  if (answer?.kind !== 'yes') return { resolutionId: null, againAfterMs: AGAIN_AFTER_MS };
  return isSamePerson(answer.value)
    ? { resolutionId: answer.value.resolutionId }
    : { resolutionId: null, decline: 'RECEIVER_MISMATCH' };
}
