import { SimulatorControl } from '../../server/test/harness/simulator-control.ts';
import type { Stack } from '../../server/test/harness/stack.ts';
import { until } from '../../server/test/harness/until.ts';
import { findByRailReference } from '../src/simulate/rail-reference.ts';
import type { CommandLine } from './command-line.ts';

/** Waits until the network has the order of a payout: before that, it can be neither settled nor rejected. */
export async function waitUntilSent(stack: Stack, shop: CommandLine, reference: string): Promise<void> {
  const { id } = await shop.json<{ id: string }>('payouts', 'get', reference);
  const simulator = new SimulatorControl(stack.simulatorUrl);
  await until(`the payout ${reference} is sent`, () =>
    findByRailReference(id, (each) => simulator.order(each)),
  );
}
