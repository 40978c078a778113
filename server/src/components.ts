import type { Composed } from './compose.ts';
import type { Config } from './config.ts';
import type { Deps } from './deps.ts';
import { PseOpener } from './flows/payins/open-pse-payins.ts';
import { PayinCreator } from './flows/payins/payin-creator.ts';
import { RailStatusPoller } from './flows/payins/poll-rail-status.system.ts';
import { KeyRegistrar } from './flows/payins/register-breb-keys.system.ts';
import { CollectionStarter } from './flows/payins/start-collection.ts';
import { linkCreator } from './flows/payment-links/create-links.ts';
import { CheckoutWatch } from './flows/payment-links/watch-checkouts.system.ts';
import { payoutCreator } from './flows/payouts/create-payouts.ts';
import { KeyLookups } from './flows/payouts/look-up-key.ts';
import { PayoutStatusPoller } from './flows/payouts/poll-payout-status.system.ts';
import { PayoutSender } from './flows/payouts/send-payouts.system.ts';
import { NoticeIntake } from './flows/shared/store-notices.system.ts';
import { WebhookDeliverer } from './flows/webhooks/deliver-webhooks.system.ts';
import { EventStreams } from './flows/webhooks/follow-events.ts';
import { isLoopbackAddress, isPublicAddress } from './webhooks/sending/public-address.ts';
import { WebhookSender } from './webhooks/sending/webhook-sender.ts';

export type Components = ReturnType<typeof createComponents>;

/** The stateful flows of a process: they hold queues, circuits, streams and connections, and are closed in order. */
export function createComponents({ deps, merchantDeps, keys }: Composed, config: Config) {
  const registrar = new KeyRegistrar(deps, keys);
  const pse = new PseOpener(merchantDeps);
  const collectionStarter = new CollectionStarter(pse, (...key) => registrar.enqueue(...key));
  const components = {
    registrar,
    pse,
    collectionStarter,
    statusPollers: {
      BRE_B: new RailStatusPoller(deps, keys, 'BRE_B'),
      PSE: new RailStatusPoller(deps, keys, 'PSE'),
    },
    sender: new PayoutSender(deps, keys),
    payoutPoller: new PayoutStatusPoller(deps, keys),
    lookups: new KeyLookups(merchantDeps),
    deliverer: new WebhookDeliverer(deps, keys, createWebhookSender(config)),
    payins: new PayinCreator(merchantDeps, pse, collectionStarter),
    payouts: payoutCreator(merchantDeps),
    links: linkCreator(merchantDeps),
    notices: new NoticeIntake(deps, keys),
    streams: new EventStreams(merchantDeps),
    watch: new CheckoutWatch(deps),
  };
  registerCircuits(deps, components);
  return components;
}

function registerCircuits(
  { metrics }: Deps,
  { registrar, pse, statusPollers, sender, payoutPoller, lookups }: Components,
): void {
  metrics.gauge('caudal_rail_circuit_open', '1 while the circuit breaker blocks calls to the rail.', () =>
    (
      [
        ['BRE_B', 'open', registrar],
        ['PSE', 'open', pse],
        ['BRE_B', 'poll', statusPollers.BRE_B],
        ['PSE', 'poll', statusPollers.PSE],
        ['BRE_B', 'pay', sender],
        ['BRE_B', 'poll payouts', payoutPoller],
        ['BRE_B', 'resolve', lookups],
      ] as const
    ).map(([rail, operation, { circuitOpen }]) => ({
      labels: { rail, operation },
      value: Number(circuitOpen),
    })),
  );
}

/** Finishes accepted work. Called after requests and worker loops have stopped, so that nothing new arrives. */
export async function closeComponents(components: Components): Promise<void> {
  const { payins, payouts, links, deliverer, notices, pse, registrar } = components;
  await Promise.all([payins.close(), payouts.close(), links.close(), deliverer.close()]);
  await notices.close();
  await pse.close();
  await registrar.close();
}

/** Sends only to public addresses, unless the deployment allows loopback. */
function createWebhookSender({ webhooksAllowLoopback }: Config): WebhookSender {
  return webhooksAllowLoopback
    ? new WebhookSender({ isAllowed: (address) => isPublicAddress(address) || isLoopbackAddress(address) })
    : new WebhookSender();
}
