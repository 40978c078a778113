import { type RailControl, railControl } from '../rail-control.ts';
import type { Stage } from '../stage.ts';
import { RailJournal } from './rail-journal.ts';
import { Witness } from './witness.ts';

interface Organization {
  readonly organizationId: string;
  readonly apiKey: string;
  /** Short, and part of our references at PSE. */
  readonly number: number;
}

/** More than twice what the rail lets through in one order. */
const ENOUGH_CENTS = 3_000_000_000n;
const DEPOSITED_PESOS = '50000000.00';

const FUNDS = `select account, balance_in_cents::text as cents from caudal.ledger_balances where organization_id = $1`;

/**
 * A stage as histories use it, one after the other. Organizations are used round by round, for making one takes half a
 * second; one whose books were found wrong is never used again.
 */
export class World {
  readonly stage: Stage;
  readonly control: RailControl;
  readonly journal: RailJournal;
  readonly witness: Witness;
  /** How long work may take to come to rest. */
  readonly restsWithinMs: number;
  readonly #organizations: Organization[];
  #turn = 0;
  #names = 0;

  private constructor(
    stage: Stage,
    parts: Pick<World, 'journal' | 'witness' | 'restsWithinMs'> & { organizations: Organization[] },
  ) {
    this.stage = stage;
    this.control = railControl(stage.simulatorUrl);
    this.journal = parts.journal;
    this.witness = parts.witness;
    this.restsWithinMs = parts.restsWithinMs;
    this.#organizations = parts.organizations;
  }

  static async on(
    stage: Stage,
    { organizations = 1, restsWithinMs = 20_000 }: { organizations?: number; restsWithinMs?: number } = {},
  ): Promise<World> {
    const made = [stage.organization];
    while (made.length < organizations) made.push(await stage.newOrganization());
    return new World(stage, {
      journal: await RailJournal.open(stage.simulatorJournal),
      witness: await Witness.at(stage.databaseUrl),
      organizations: await Promise.all(made.map((organization) => numbered(stage, organization))),
      restsWithinMs,
    });
  }

  async nextOrganization(): Promise<Organization> {
    if (this.#organizations.length === 0)
      this.#organizations.push(await numbered(this.stage, await this.stage.newOrganization()));
    this.#turn += 1;
    const next = this.#organizations[this.#turn % this.#organizations.length];
    if (!next) throw new Error('no organization is left');
    return next;
  }

  /** Sees to it that there is enough to pay out of. Starting a command takes half a second, so it is much at a time. */
  async fund(organizationId: string): Promise<void> {
    const { available } = await this.funds(organizationId);
    if (available >= ENOUGH_CENTS) return;
    const args = ['--org', organizationId, '--amount', DEPOSITED_PESOS, '--reference', this.freshName()];
    await this.stage.command('ledger', 'deposit', ...args);
  }

  async funds(organizationId: string): Promise<{ readonly available: bigint; readonly held: bigint }> {
    const rows = await this.witness.ask<{ account: string; cents: string }>('funds', FUNDS, [organizationId]);
    const of = (account: string) => BigInt(rows.find((row) => row.account === account)?.cents ?? '0');
    return { available: of('available'), held: of('held') };
  }

  discard(organizationId: string): void {
    const index = this.#organizations.findIndex((each) => each.organizationId === organizationId);
    if (index >= 0) this.#organizations.splice(index, 1);
  }

  /** A name that nothing on this stage has yet. */
  freshName(): string {
    this.#names += 1;
    return `order-${this.#names}`;
  }

  async now(): Promise<Date> {
    const [row] = await this.witness.ask<{ now: Date }>('now', 'select caudal.now() as now');
    if (!row) throw new Error('the database tells no time');
    return row.now;
  }

  async close(): Promise<void> {
    await this.journal.close();
    await this.witness.close();
  }
}

/** The world is left behind before its stage is ended. */
export async function inWorld<T>(
  stage: Stage,
  options: Parameters<typeof World.on>[1],
  live: (world: World) => Promise<T>,
): Promise<T> {
  const world = await World.on(stage, options);
  try {
    return await live(world);
  } finally {
    await world.close();
  }
}

async function numbered(
  stage: Stage,
  { organizationId, apiKey }: Omit<Organization, 'number'>,
): Promise<Organization> {
  const [row] = await stage.query<{ number: number }>(
    'select number from caudal.organizations where id = $1',
    [organizationId],
  );
  if (!row) throw new Error(`organization ${organizationId} does not exist`);
  return { organizationId, apiKey, number: row.number };
}
