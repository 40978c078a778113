import type { SystemDeps } from '../deps.ts';
import { DUE_PROBES } from '../flows/operations/due-work.ts';
import { scheduleWork } from '../flows/operations/run-schedules.ts';
import { watchOutcomes } from '../flows/operations/watch-outcomes.ts';
import { applyPayinUpdates } from '../flows/payins/apply-payin-updates.ts';
import type { PseOpener } from '../flows/payins/open-pse-payins.ts';
import type { RailStatusPoller } from '../flows/payins/poll-rail-status.ts';
import { postAcceptances } from '../flows/payins/post-acceptances.ts';
import type { KeyRegistrar } from '../flows/payins/register-breb-keys.ts';
import { sweepPsePayins } from '../flows/payins/sweep-pse-payins.ts';
import { watchWaitingKeys } from '../flows/payins/watch-waiting-keys.ts';
import { expireDueLinks } from '../flows/payment-links/expire-links.ts';
import { applyPayoutUpdates } from '../flows/payouts/apply-payout-updates.ts';
import type { PayoutStatusPoller } from '../flows/payouts/poll-payout-status.ts';
import type { ResolutionRefresher } from '../flows/payouts/refresh-key-resolutions.ts';
import type { PayoutSender } from '../flows/payouts/send-payouts.ts';
import { applyNotices } from '../flows/shared/apply-notices.ts';
import type { WebhookDeliverer } from '../flows/webhooks/deliver-webhooks.ts';
import { EventDispatcher } from '../flows/webhooks/dispatch-events.ts';
import { watchWebhooks } from '../flows/webhooks/watch-webhooks.ts';
import { DuePoller } from '../jobs/due-poller.ts';
import { dueWorkStatement, readDueWork } from '../jobs/due-work.store.ts';
import { Loop } from '../jobs/loop.ts';
import { SCHEDULES } from '../jobs/schedule-catalogue.ts';
import { Schedules } from '../jobs/schedules.ts';
import { WORK_KINDS, type WorkKind } from '../jobs/work-signals.ts';
import { monotonicMs } from '../kit/clock.ts';
import type { DataKeys } from '../organizations/data-keys.ts';
import type { Rail } from '../rails/contract.ts';

/** Polls between two looks for events that are older than those the poll asks about. */
const POLLS_TO_LOOK_BACK = 25;

interface WorkerParts {
  readonly registrar: KeyRegistrar;
  readonly pse: PseOpener;
  readonly keys: DataKeys;
  readonly questions: Readonly<Record<Rail, RailStatusPoller>>;
  readonly sender: PayoutSender;
  readonly renewer: ResolutionRefresher;
  readonly payoutPolls: PayoutStatusPoller;
  readonly deliverer: WebhookDeliverer;
  /** Between two polls while there is work; an idle worker polls more rarely. */
  readonly dueEveryMs: number;
}

export interface Worker {
  readonly start: () => void;
  /** Resolves when the rounds under way are done. */
  readonly stop: () => Promise<void>;
}

/** Loops that a round with work leads to: what it committed may be theirs. */
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

/** Everything a worker process does, as loops over work that is due in the database. */
export function dueWorker(deps: SystemDeps, parts: WorkerParts): Worker {
  const { dueEveryMs, deliverer } = parts;
  const { failures, signals } = deps;
  const rounds = roundsOf(deps, parts);
  const loops = new Map(
    WORK_KINDS.map((kind) => {
      const onWork = () => {
        poller.worked();
        for (const next of FOLLOWED_BY[kind] ?? []) loops.get(next)?.wake();
      };
      return [kind, new Loop({ name: kind, restMs: dueEveryMs, round: rounds[kind], failures, onWork })];
    }),
  );
  const due = dueWorkStatement(DUE_PROBES);
  let lookBackAt = 0;
  const poller = new DuePoller({
    everyMs: dueEveryMs,
    failures,
    busy: () => deliverer.active,
    poll: async () => {
      for (const kind of await readDueWork(deps.system, due)) loops.get(kind)?.wake();
      if (monotonicMs() < lookBackAt) return;
      lookBackAt = monotonicMs() + POLLS_TO_LOOK_BACK * dueEveryMs;
      loops.get('event_dispatch')?.wake();
    },
  });
  for (const watch of [watchWaitingKeys(deps), watchOutcomes(deps), watchWebhooks(deps)])
    deps.metrics.beforeScrape(() =>
      watch().then(
        () => failures.succeeded('refresh_metrics'),
        (error: unknown) => failures.failed('refresh_metrics', error),
      ),
    );
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

function roundsOf(deps: SystemDeps, parts: WorkerParts): Readonly<Record<WorkKind, () => Promise<number>>> {
  const { keys } = parts;
  const dispatcher = new EventDispatcher(deps);
  return {
    key_registration: () => parts.registrar.sweep(),
    pse_opening: () => sweepPsePayins(deps, parts.pse, keys),
    payin_notices: () =>
      applyNotices(deps, 'payin', (tx, words, options) => applyPayinUpdates(deps, keys, tx, words, options)),
    payout_notices: () =>
      applyNotices(deps, 'payout', (tx, words, options) =>
        applyPayoutUpdates(deps, keys, tx, words, options),
      ),
    key_resolution: () => parts.renewer.renew(),
    payout_sending: () => parts.sender.send(),
    payout_polling: payoutPolls(parts.payoutPolls),
    acceptance_posting: () => postAcceptances(deps),
    link_expiry: () => expireDueLinks(deps, keys),
    event_dispatch: async () => {
      const events = await dispatcher.dispatch();
      // Directly, because deliveries are limited by their own concurrency and need no rest between claims.
      if (events > 0) parts.deliverer.wake();
      return events;
    },
    webhook_delivery: () => parts.deliverer.work(),
    breb_polling: questions(parts.questions.BRE_B),
    pse_polling: questions(parts.questions.PSE),
  };
}

/** Doubtful messages first: a merchant may be waiting for what they turn out to be. */
function questions(rail: RailStatusPoller): () => Promise<number> {
  return async () => (await rail.verifyNotices()) + (await rail.pollDue()) + (await rail.closeDue());
}

function payoutPolls(payouts: PayoutStatusPoller): () => Promise<number> {
  return async () => (await payouts.verifyNotices()) + (await payouts.pollDue());
}

/** What a worker does by the clock instead of by what is due. */
export function workerSchedules(deps: SystemDeps, systemUrl: string, connections: number): Schedules {
  const { system, metrics, log, failures } = deps;
  // No line until the books were checked: a zero would say that they are whole.
  const faults = new Map<string, number>();
  metrics.gauge(
    'caudal_ledger_inconsistent_rows',
    'Rows that did not add up when this process last checked.',
    () => faults,
  );
  const work = scheduleWork(deps, (count) => faults.set('', count));
  return new Schedules({
    systemUrl,
    connections,
    db: system,
    schedules: SCHEDULES,
    work,
    metrics,
    log,
    failures,
  });
}
