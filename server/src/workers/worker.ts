import type { SystemDeps } from '../deps.ts';
import { watchLedger } from '../flows/ledger/watch-ledger.system.ts';
import { DUE_PROBES } from '../flows/operations/due-work.ts';
import { scheduleWork } from '../flows/operations/run-schedules.system.ts';
import { watchBackups } from '../flows/operations/watch-backups.system.ts';
import { watchOutcomes } from '../flows/operations/watch-outcomes.system.ts';
import { applyPayinUpdates } from '../flows/payins/apply-payin-updates.system.ts';
import type { PseOpener } from '../flows/payins/open-pse-payins.ts';
import type { RailStatusPoller } from '../flows/payins/poll-rail-status.system.ts';
import { postAcceptances } from '../flows/payins/post-acceptances.system.ts';
import type { KeyRegistrar } from '../flows/payins/register-breb-keys.system.ts';
import { sweepPsePayins } from '../flows/payins/sweep-pse-payins.system.ts';
import { watchKeyBacklog } from '../flows/payins/watch-key-backlog.system.ts';
import { expireDueLinks } from '../flows/payment-links/expire-links.system.ts';
import { applyPayoutUpdates } from '../flows/payouts/apply-payout-updates.system.ts';
import type { PayoutStatusPoller } from '../flows/payouts/poll-payout-status.system.ts';
import type { ResolutionRefresher } from '../flows/payouts/refresh-key-resolutions.system.ts';
import type { PayoutSender } from '../flows/payouts/send-payouts.system.ts';
import type { ReceiptEmailSender } from '../flows/receipts/send-receipt-emails.system.ts';
import { applyNotices } from '../flows/shared/apply-notices.system.ts';
import type { WebhookDeliverer } from '../flows/webhooks/deliver-webhooks.system.ts';
import { EventDispatcher } from '../flows/webhooks/dispatch-events.system.ts';
import { watchWebhooks } from '../flows/webhooks/watch-webhooks.system.ts';
import { DuePoller } from '../jobs/due-poller.ts';
import { dueWorkStatement, readDueWork } from '../jobs/due-work.store.ts';
import { Loop } from '../jobs/loop.ts';
import { SCHEDULES } from '../jobs/schedule-catalogue.ts';
import { Schedules } from '../jobs/schedules.ts';
import { WORK_KINDS, type WorkKind } from '../jobs/work-signals.ts';
import { monotonicMs } from '../kit/clock.ts';
import type { DataKeys } from '../organizations/data-keys.ts';
import type { Rail } from '../rails/contract.ts';

/** Every this many polls the worker also searches for events older than those the due-work query covers. */
const POLLS_TO_LOOK_BACK = 25;

interface WorkerParts {
  readonly registrar: KeyRegistrar;
  readonly pse: PseOpener;
  readonly keys: DataKeys;
  readonly statusPollers: Readonly<Record<Rail, RailStatusPoller>>;
  readonly sender: PayoutSender;
  readonly resolutionRefresher: ResolutionRefresher;
  readonly payoutPoller: PayoutStatusPoller;
  readonly deliverer: WebhookDeliverer;
  readonly receiptEmails: ReceiptEmailSender;
  /** Poll interval while there is work; an idle worker polls less often. */
  readonly workerPollMs: number;
}

export interface Worker {
  readonly start: () => void;
  /** Resolves when the rounds in progress are done. */
  readonly stop: () => Promise<void>;
}

/** Loops to wake after a round that found work: its commit may have created work for them. */
const FOLLOWED_BY: Readonly<Partial<Record<WorkKind, readonly WorkKind[]>>> = {
  payin_notices: ['event_dispatch'],
  payout_notices: ['event_dispatch'],
  key_resolution: ['payout_sending', 'event_dispatch'],
  payout_sending: ['event_dispatch'],
  payout_polling: ['payout_sending', 'event_dispatch'],
  link_expiry: ['event_dispatch'],
  breb_polling: ['event_dispatch'],
  pse_polling: ['event_dispatch'],
};

/** Creates the loops of a worker process, one per kind of due work. */
export function createWorker(deps: SystemDeps, parts: WorkerParts): Worker {
  const { workerPollMs, deliverer } = parts;
  const { failures, signals } = deps;
  const rounds = createRounds(deps, parts);
  const loops = new Map(
    WORK_KINDS.map((kind) => {
      const onWork = () => {
        poller.worked();
        for (const next of FOLLOWED_BY[kind] ?? []) loops.get(next)?.wake();
      };
      return [kind, new Loop({ name: kind, restMs: workerPollMs, round: rounds[kind], failures, onWork })];
    }),
  );
  const due = dueWorkStatement(DUE_PROBES);
  let lookBackAt = 0;
  const poller = new DuePoller({
    everyMs: workerPollMs,
    failures,
    busy: () => deliverer.active,
    poll: async () => {
      for (const kind of await readDueWork(deps.system, due)) loops.get(kind)?.wake();
      if (monotonicMs() < lookBackAt) return;
      lookBackAt = monotonicMs() + POLLS_TO_LOOK_BACK * workerPollMs;
      loops.get('event_dispatch')?.wake();
    },
  });
  watchKeyBacklog(deps);
  watchOutcomes(deps);
  watchWebhooks(deps);
  watchLedger(deps);
  watchBackups(deps);
  return {
    start: () => {
      signals.subscribe((kind) => loops.get(kind)?.wake());
      poller.start();
    },
    stop: async () => {
      await poller.stop();
      await Promise.all([...loops.values()].map((loop) => loop.stop()));
    },
  };
}

function createRounds(
  deps: SystemDeps,
  parts: WorkerParts,
): Readonly<Record<WorkKind, () => Promise<number>>> {
  const { keys } = parts;
  const dispatcher = new EventDispatcher(deps);
  // A restored database tells merchants and payers nothing until it has been compared with the rails.
  const unlessHeld = (round: () => Promise<number>) => async () => (deps.sendingGuard.held ? 0 : round());
  return {
    key_registration: () => parts.registrar.sweep(),
    pse_opening: () => sweepPsePayins(deps, parts.pse, keys),
    payin_notices: () =>
      applyNotices(deps, 'payin', (tx, updates, options) =>
        applyPayinUpdates(deps, keys, tx, updates, options),
      ),
    payout_notices: () =>
      applyNotices(deps, 'payout', (tx, updates, options) =>
        applyPayoutUpdates(deps, keys, tx, updates, options),
      ),
    key_resolution: () => parts.resolutionRefresher.refresh(),
    payout_sending: () => parts.sender.send(),
    payout_polling: pollPayouts(parts.payoutPoller),
    acceptance_posting: () => postAcceptances(deps),
    link_expiry: () => expireDueLinks(deps, keys),
    receipt_emails: unlessHeld(() => parts.receiptEmails.send()),
    event_dispatch: unlessHeld(async () => {
      const events = await dispatcher.dispatch();
      // Not through the loop: the deliverer limits its own concurrency and needs no rest between leases.
      if (events > 0) parts.deliverer.wake();
      return events;
    }),
    webhook_delivery: unlessHeld(() => parts.deliverer.work()),
    breb_polling: pollPayins(parts.statusPollers.BRE_B),
    pse_polling: pollPayins(parts.statusPollers.PSE),
  };
}

/** Verifies notices first: a merchant may be waiting for their outcome. */
function pollPayins(poller: RailStatusPoller): () => Promise<number> {
  return async () => (await poller.verifyNotices()) + (await poller.pollDue()) + (await poller.closeDue());
}

function pollPayouts(poller: PayoutStatusPoller): () => Promise<number> {
  return async () => (await poller.verifyNotices()) + (await poller.pollDue());
}

/** Creates the cron schedules of a worker process. */
export function workerSchedules(deps: SystemDeps, systemUrl: string, connections: number): Schedules {
  const { system, metrics, log, failures } = deps;
  return new Schedules({
    systemUrl,
    connections,
    db: system,
    schedules: SCHEDULES,
    work: scheduleWork(deps),
    metrics,
    log,
    failures,
  });
}
