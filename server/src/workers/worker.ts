import type { SystemDeps } from '../deps.ts';
import { applyNotices } from '../flows/apply-notices.ts';
import { applyPayoutWords } from '../flows/apply-payout-words.ts';
import { applyWords } from '../flows/apply-words.ts';
import type { PayoutQuestions } from '../flows/ask-payouts.ts';
import type { RailQuestions } from '../flows/ask-rails.ts';
import type { WebhookDeliverer } from '../flows/deliver-webhooks.ts';
import { EventDispatcher } from '../flows/dispatch-events.ts';
import { expireDueLinks } from '../flows/expire-links.ts';
import type { PseOpener } from '../flows/open-pse-payins.ts';
import type { KeyRegistrar } from '../flows/register-breb-keys.ts';
import type { PromiseRenewer } from '../flows/renew-promises.ts';
import { scheduleWork } from '../flows/run-schedules.ts';
import type { PayoutSender } from '../flows/send-payouts.ts';
import { sweepPsePayins } from '../flows/sweep-pse-payins.ts';
import { watchOutcomes } from '../flows/watch-outcomes.ts';
import { watchWaitingKeys } from '../flows/watch-waiting-keys.ts';
import { watchWebhooks } from '../flows/watch-webhooks.ts';
import { Loop } from '../jobs/loop.ts';
import { SCHEDULES } from '../jobs/schedule-catalogue.ts';
import { Schedules } from '../jobs/schedules.ts';
import type { DataKeys } from '../organizations/data-keys.ts';
import { RAILS, type Rail } from '../rails/contract.ts';

const WATCH_EVERY_MS = 2000;

interface WorkerParts {
  readonly registrar: KeyRegistrar;
  readonly pse: PseOpener;
  readonly keys: DataKeys;
  readonly questions: Readonly<Record<Rail, RailQuestions>>;
  readonly sender: PayoutSender;
  readonly renewer: PromiseRenewer;
  readonly payoutQuestions: PayoutQuestions;
  readonly deliverer: WebhookDeliverer;
  /** How often each loop looks for work when it found none. */
  readonly dueEveryMs: number;
}

/** Everything a worker process does, as loops over work that is due in the database. */
export function workerLoops(deps: SystemDeps, parts: WorkerParts): Loop[] {
  const { keys, dueEveryMs } = parts;
  const dispatcher = new EventDispatcher(deps);
  const loop = (name: string, round: () => Promise<number>, everyMs = dueEveryMs) =>
    new Loop({ name, everyMs, log: deps.log, round });
  const watch = (name: string, work: () => Promise<void>) =>
    loop(name, () => work().then(() => 0), WATCH_EVERY_MS);
  return [
    loop('register keys', () => parts.registrar.sweep()),
    loop('open PSE payins', () => sweepPsePayins(deps, parts.pse, keys)),
    loop('apply notices', () =>
      applyNotices(deps, 'payin', (tx, words, options) => applyWords(deps, keys, tx, words, options)),
    ),
    loop('apply payout notices', () =>
      applyNotices(deps, 'payout', (tx, words, options) => applyPayoutWords(deps, keys, tx, words, options)),
    ),
    loop('renew promises', () => parts.renewer.renew()),
    loop('send payouts', () => parts.sender.send()),
    loop('ask payouts', payoutQuestions(parts.payoutQuestions)),
    loop('expire links', () => expireDueLinks(deps, keys)),
    loop('dispatch events', async () => {
      const events = await dispatcher.dispatch();
      // Whoever dispatched knows that there is something to deliver.
      if (events > 0) parts.deliverer.wake();
      return events;
    }),
    loop('deliver webhooks', () => parts.deliverer.work()),
    ...RAILS.map((rail) => loop(`ask ${rail}`, questions(parts.questions[rail]))),
    watch('watch waiting keys', watchWaitingKeys(deps)),
    watch('watch outcomes', watchOutcomes(deps)),
    watch('watch webhooks', watchWebhooks(deps)),
  ];
}

/** Doubtful messages first: a merchant may be waiting for what they turn out to be. */
function questions(rail: RailQuestions): () => Promise<number> {
  return async () => (await rail.checkDoubtful()) + (await rail.askDue()) + (await rail.closeDue());
}

function payoutQuestions(payouts: PayoutQuestions): () => Promise<number> {
  return async () => (await payouts.checkDoubtful()) + (await payouts.askDue());
}

/** What a worker does by the clock instead of by what is due. */
export function workerSchedules(deps: SystemDeps, systemUrl: string): Schedules {
  const { system, metrics, log } = deps;
  // No line until the books were checked: a zero would say that they are whole.
  const faults = new Map<string, number>();
  metrics.gauge(
    'caudal_ledger_faults',
    'Rows that did not add up when this process last checked.',
    () => faults,
  );
  const work = scheduleWork(deps, (count) => faults.set('', count));
  return new Schedules({ systemUrl, db: system, schedules: SCHEDULES, work, metrics, log });
}
