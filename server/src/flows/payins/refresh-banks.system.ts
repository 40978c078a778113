import type { SystemDeps } from '../../deps.ts';
import { newestBanks, saveBanks } from '../../payins/pse-bank.store.ts';
import { failureCause } from '../../rails/contract.ts';

/**
 * Fetches the list of banks from PSE and saves it.
 * @throws when PSE returns no readable list; the saved list stays unchanged
 */
export async function refreshBanks(deps: SystemDeps): Promise<void> {
  const answer = await deps.rails.PSE.banks?.();
  if (answer?.kind !== 'yes')
    throw new Error(`PSE gave no bank list: ${answer ? failureCause(answer) : 'the connector has none'}`);
  const banks = answer.value.toSorted((a, b) => (a.networkCode < b.networkCode ? -1 : 1));
  await deps.system.transaction('refresh banks', (tx) => saveBanks(tx, banks));
  deps.log.info({ code: 'bank_list_refreshed', rail: 'PSE', count: banks.length }, 'refreshed bank list');
}

export async function banksAreKnown(deps: SystemDeps): Promise<boolean> {
  return (await newestBanks(deps.system)).size > 0;
}
