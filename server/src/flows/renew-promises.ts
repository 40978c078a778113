import type { SystemDeps } from '../deps.ts';
import { freshToken } from '../kit/ids.ts';
import { errorFields } from '../kit/log.ts';
import { post } from '../ledger/ledger.store.ts';
import type { DataKeys } from '../organizations/data-keys.ts';
import type { OrganizationSecrets } from '../organizations/organization.ts';
import type { Move } from '../payouts/payout.outcome.ts';
import { PROMISE_MARGIN_MS } from '../payouts/payout.questions.ts';
import type { PayoutKey } from '../payouts/payout.store.ts';
import { lockPayouts } from '../payouts/payout-outcome.store.ts';
import { claimStale, type Renewal, recordRenewals, type StaleOrder } from '../payouts/payout-send.store.ts';
import { holderMark, openReceiver } from '../payouts/receiver.seal.ts';
import type { RailAnswer, RailErrorCode, Resolution } from '../rails/contract.ts';
import { endPayouts } from './end-payouts.ts';
import { oneByOne, PUT_OFF_MS } from './one-by-one.ts';
import { RailCaller } from './rail-caller.ts';

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
export class PromiseRenewer {
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
    const { brakes, payoutRail, system } = this.#deps;
    if (this.#caller.resting || brakes.allPaused('BRE_B')) return 0;
    const claimToken = freshToken();
    const stale = await system.transaction('claim promises', (tx) =>
      claimStale(
        tx,
        claimToken,
        this.#caller.atMost(AT_ONCE),
        brakes.pausedOrganizations('BRE_B'),
        payoutRail.abilities.resolutionMs - PROMISE_MARGIN_MS,
      ),
    );
    if (stale.length === 0) return 0;
    const secrets = await this.#keys.of(new Set(stale.map((order) => order.organizationId)));
    const findings = await Promise.all(stale.map((order) => this.#find(order, secrets)));
    await this.#write(findings, claimToken).catch((error: unknown) =>
      oneByOne(
        error,
        findings,
        (each) => this.#write([each], claimToken),
        async ({ organizationId, id }, alone) => {
          this.#deps.log.error(
            { ...errorFields(alone), payoutId: id },
            'what the directory answered cannot be applied',
          );
          await this.#write(
            [{ organizationId, id, resolutionId: null, againAfterMs: PUT_OFF_MS }],
            claimToken,
          );
        },
      ),
    );
    return stale.length;
  }

  async #find(order: StaleOrder, secrets: (organizationId: string) => OrganizationSecrets): Promise<Finding> {
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
      return { organizationId, id, resolutionId: null, againAfterMs: PUT_OFF_MS };
    }
  }

  async #write(findings: readonly Finding[], claimToken: string): Promise<void> {
    await this.#deps.system.transaction('renew promises', async (tx) => {
      // Canceled meanwhile, or taken over by somebody who may have sent it: then there is nothing to decide here.
      const locked = await lockPayouts(tx, findings);
      const waiting = new Set(
        locked
          .filter((row) => row.claim_token === claimToken && row.rail_task === 'send' && row.attempts === 0)
          .map((row) => row.id),
      );
      const moves = findings.flatMap((finding): (PayoutKey & Move)[] =>
        'decline' in finding && waiting.has(finding.id)
          ? [
              {
                organizationId: finding.organizationId,
                id: finding.id,
                to: 'DECLINED',
                errorCode: finding.decline,
                executionId: null,
                cause: 'the receiver has changed',
              },
            ]
          : [],
      );
      const transfers = await endPayouts(this.#deps, this.#keys, tx, moves);
      await recordRenewals(
        tx,
        findings.flatMap((finding) => ('decline' in finding ? [] : [finding])),
        claimToken,
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
