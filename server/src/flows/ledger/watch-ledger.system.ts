import type { SystemDeps } from '../../deps.ts';
import { readLedgerStatus } from '../../ledger/ledger-status.store.ts';
import { readBeforeScrape } from '../operations/database-gauge.ts';

/** Metrics of the last ledger verification and of suspense, the same in every worker: the database keeps them. */
export function watchLedger(deps: SystemDeps): void {
  const { metrics, system } = deps;
  const status = readBeforeScrape(deps, () => readLedgerStatus(system));
  // No sample before the first verification: a zero would claim that the ledger is consistent.
  const inconsistencies = () => status()?.verification?.inconsistencies ?? null;
  metrics.gauge(
    'caudal_ledger_verification_inconsistencies',
    'Inconsistent rows that the last ledger verification found; at most 100, because it then stops.',
    inconsistencies,
  );
  metrics.gauge(
    'caudal_ledger_inconsistent_rows',
    'The same as caudal_ledger_verification_inconsistencies, under its earlier name.',
    inconsistencies,
  );
  metrics.gauge(
    'caudal_ledger_verification_timestamp_seconds',
    'Unix time of the last ledger verification, by the nightly schedule or by command; 0 before the first.',
    () => {
      const current = status();
      return current && (current.verification?.at.getTime() ?? 0) / 1000;
    },
  );
  metrics.gauge(
    'caudal_suspense_balance_pesos',
    'Balance of the account suspense, at most some minutes old; negative when it is owed money.',
    () => {
      const suspense = status()?.suspense ?? null;
      return suspense === null ? null : Number(suspense) / 100;
    },
  );
}
