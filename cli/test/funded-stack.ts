import { type Stack, startStack } from '../../server/test/harness/stack.ts';

/** A stack whose organization has an available balance of one million pesos. */
export async function fundedStack(): Promise<Stack> {
  const stack = await startStack({ workers: 1 });
  const { organizationId } = stack.organization;
  await stack.command(
    'ledger',
    'deposit',
    '--org',
    organizationId,
    '--amount',
    '1000000',
    '--reference',
    'x',
  );
  return stack;
}
