import type { SystemDeps } from '../../deps.ts';
import { keepBanks, newestBanks } from '../../payins/pse-bank.store.ts';

/**
 * Asks PSE which banks it offers and keeps its list.
 * @throws when PSE gives no list that can be read: the last good one stays as it is
 */
export async function refreshBanks(deps: SystemDeps): Promise<void> {
  const answer = await deps.rails.PSE.banks?.();
  if (answer?.kind !== 'yes')
    throw new Error(`PSE gave no bank list: ${answer?.kind === 'unknown' ? answer.cause : 'it has none'}`);
  const banks = answer.value.toSorted((a, b) => (a.networkCode < b.networkCode ? -1 : 1));
  await deps.system.transaction('refresh banks', (tx) => keepBanks(tx, banks));
  deps.log.info({ rail: 'PSE', count: banks.length }, 'the bank list was read');
}

export async function banksAreKnown(deps: SystemDeps): Promise<boolean> {
  return (await newestBanks(deps.system)).size > 0;
}
