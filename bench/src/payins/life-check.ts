import type { Organization } from '../stage/new-organizations.ts';
import type { Stage } from '../stage/stage.ts';

/**
 * Verifies that every payin is confirmed, posted to the ledger and has its event. Only payment transfers are counted: the
 * settlement schedule posts its own transfers while the bench runs.
 * @throws when a count differs from the number of payins created
 */
export async function checkLives(
  stage: Pick<Stage, 'query'>,
  organizations: readonly Pick<Organization, 'organizationId'>[],
  created: number,
): Promise<void> {
  const of = organizations.map(({ organizationId }) => `'${organizationId}'`).join(', ');
  const [row] = await stage.query<Record<string, string>>(
    `select (select count(*) from caudal.payins where status = 'CONFIRMED' and organization_id in (${of})) as confirmed,
       (select count(*) from caudal.final_events where organization_id in (${of})) as events,
       (select count(*) from caudal.ledger_transfers where cause_kind = 'payment' and organization_id in (${of})) as transfers,
       (select sum(balance_in_cents) / 4980000 from caudal.ledger_balances where organization_id in (${of})) as booked`,
  );
  for (const [what, count] of Object.entries(row ?? {}))
    if (Number(count) !== created) throw new Error(`${created} lives, but ${what}: ${count}`);
}
