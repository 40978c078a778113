import { type RailControl, railControl } from '../stack/rail-control.ts';
import type { Stack } from '../stack/stack.ts';
import { DatabaseReader } from './database-reader.ts';
import { RailJournal } from './rail-journal.ts';

interface Organization {
  readonly organizationId: string;
  readonly apiKey: string;
  /** Part of rail references. */
  readonly number: number;
}

/** More than twice the rail's limit per order. */
const ENOUGH_CENTS = 3_000_000_000n;
const DEPOSITED_PESOS = '50000000.00';

/**
 * Several leases of the server: after a transient failure, such as a late heartbeat on a busy machine, work is done when its
 * lease has expired. Only a history that violates `work_completes` waits this long.
 */
const IDLE_TIMEOUT_MS = 120_000;

const FUNDS = `select account, balance_in_cents::text as cents from caudal.ledger_balances where organization_id = $1`;

/**
 * A stack that runs histories one after another. It reuses organizations in rotation, since creating one takes half a
 * second. An organization with a violation is not reused.
 */
export class World {
  readonly stack: Stack;
  readonly control: RailControl;
  readonly journal: RailJournal;
  readonly database: DatabaseReader;
  /** Time limit for pending work to complete. */
  readonly idleTimeoutMs: number;
  readonly #organizations: Organization[];
  #nextIndex = 0;
  #names = 0;

  private constructor(
    stack: Stack,
    parts: Pick<World, 'journal' | 'database' | 'idleTimeoutMs'> & { organizations: Organization[] },
  ) {
    this.stack = stack;
    this.control = railControl(stack.simulatorUrl);
    this.journal = parts.journal;
    this.database = parts.database;
    this.idleTimeoutMs = parts.idleTimeoutMs;
    this.#organizations = parts.organizations;
  }

  static async on(
    stack: Stack,
    {
      organizations = 1,
      idleTimeoutMs = IDLE_TIMEOUT_MS,
    }: { organizations?: number; idleTimeoutMs?: number } = {},
  ): Promise<World> {
    const made = [stack.organization];
    while (made.length < organizations) made.push(await stack.newOrganization());
    return new World(stack, {
      journal: await RailJournal.open(stack.simulatorJournal),
      database: await DatabaseReader.at(stack.databaseUrl),
      organizations: await Promise.all(made.map((organization) => numbered(stack, organization))),
      idleTimeoutMs,
    });
  }

  async nextOrganization(): Promise<Organization> {
    if (this.#organizations.length === 0)
      this.#organizations.push(await numbered(this.stack, await this.stack.newOrganization()));
    this.#nextIndex += 1;
    const next = this.#organizations[this.#nextIndex % this.#organizations.length];
    if (!next) throw new Error('no organization is left');
    return next;
  }

  /** Ensures sufficient funds for payouts. Deposits a large amount, since a command takes half a second. */
  async fund(organizationId: string): Promise<void> {
    const { available } = await this.funds(organizationId);
    if (available >= ENOUGH_CENTS) return;
    const args = ['--org', organizationId, '--amount', DEPOSITED_PESOS, '--reference', this.freshName()];
    await this.stack.command('ledger', 'deposit', ...args);
  }

  async funds(organizationId: string): Promise<{ readonly available: bigint; readonly held: bigint }> {
    const rows = await this.database.query<{ account: string; cents: string }>('funds', FUNDS, [
      organizationId,
    ]);
    const of = (account: string) => BigInt(rows.find((row) => row.account === account)?.cents ?? '0');
    return { available: of('available'), held: of('held') };
  }

  discard(organizationId: string): void {
    const index = this.#organizations.findIndex((each) => each.organizationId === organizationId);
    if (index >= 0) this.#organizations.splice(index, 1);
  }

  /** A name that is unique on this stack. */
  freshName(): string {
    this.#names += 1;
    return `order-${this.#names}`;
  }

  async now(): Promise<Date> {
    const [row] = await this.database.query<{ now: Date }>('now', 'select caudal.now() as now');
    if (!row) throw new Error('the database returned no time');
    return row.now;
  }

  async close(): Promise<void> {
    await this.journal.close();
    await this.database.close();
  }
}

/** Closes the world before its stack is stopped. */
export async function inWorld<T>(
  stack: Stack,
  options: Parameters<typeof World.on>[1],
  run: (world: World) => Promise<T>,
): Promise<T> {
  const world = await World.on(stack, options);
  try {
    return await run(world);
  } finally {
    await world.close();
  }
}

async function numbered(
  stack: Stack,
  { organizationId, apiKey }: Omit<Organization, 'number'>,
): Promise<Organization> {
  const [row] = await stack.query<{ number: number }>(
    'select number from caudal.organizations where id = $1',
    [organizationId],
  );
  if (!row) throw new Error(`organization ${organizationId} does not exist`);
  return { organizationId, apiKey, number: row.number };
}
