import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../stack/stack.ts';
import type { ClientJournal } from './client-journal.ts';

/** A new data key is active after 30 seconds. */
const ACTIVATION_TIMEOUT_MS = 60_000;

/** An operator command and its expected effect. */
interface Command {
  readonly args: readonly string[];
  /** Its name in the journal, if it writes rows. */
  readonly about?: string;
  /** Matches its error when it is repeated after it took effect. */
  readonly doneBefore?: RegExp;
}

/** Runs operator commands. A command that writes rows is journaled before it runs. */
export class Operator {
  readonly #stack: Stack;
  readonly #journal: ClientJournal;
  #deposits = 0;

  constructor(stack: Stack, journal: ClientJournal) {
    this.#stack = stack;
    this.#journal = journal;
  }

  deposit({ organizationId }: { readonly organizationId: string } = this.#stack.organization): Command {
    this.#deposits += 1;
    const about = `bank-${this.#deposits}`;
    this.#journal.write({ kind: 'operator', act: 'deposit', about, organizationId, amountInCents: 123_456 });
    const args = ['ledger', 'deposit', '--org', organizationId, '--amount', '1234.56', '--reference', about];
    return { args, about };
  }

  /** Reverses a deposit of a new organization, whose funds no payout needs. */
  async reverse(): Promise<Command> {
    const organization = await this.#stack.newOrganization();
    const deposit = this.deposit(organization);
    await this.run(deposit);
    const { organizationId } = organization;
    const about = `reversal of ${deposit.about}`;
    this.#journal.write({ kind: 'operator', act: 'reverse', about, organizationId, amountInCents: 123_456 });
    const args = ['ledger', 'reverse', '--org', organizationId, '--deposit', deposit.about ?? ''];
    return { args: [...args, '--reason', 'chaos'], about, doneBefore: /reversed before/ };
  }

  /** @returns null when no anomaly holds money of a payin */
  async resolve(): Promise<Command | null> {
    const [anomaly] = await this.#stack.query<{ id: string }>(
      `select id from caudal.anomalies
       where resolved_at is null and accepted_at is null and amount_in_cents is not null and payin_id is not null order by noticed_at limit 1`,
    );
    if (!anomaly) return null;
    const { id: about } = anomaly;
    this.#journal.write({
      kind: 'operator',
      act: 'resolve',
      about,
      organizationId: null,
      amountInCents: null,
    });
    const args = ['anomalies', 'resolve', about, '--credit', '--by', 'chaos'];
    return { args, about, doneBefore: /resolved before|merchant accepted it/ };
  }

  schedule(name: string): Command {
    return { args: ['schedules', 'run', name] };
  }

  /** Rotates the data key of a new organization: it is active, so that the rotation is not refused. */
  async rotateNew(): Promise<Command> {
    return rotation(await this.#stack.newOrganization());
  }

  /** Encrypts the values of an organization again: rotates its data key and waits until the new one is active. */
  async reencrypt({ organizationId }: { readonly organizationId: string }): Promise<Command> {
    await this.run(rotation({ organizationId }));
    const deadline = performance.now() + ACTIVATION_TIMEOUT_MS;
    while (!(await this.#isNewestKeyActive(organizationId))) {
      if (performance.now() > deadline) throw new Error('the new data key did not become active');
      await sleep(200);
    }
    return this.schedule('data-keys');
  }

  async #isNewestKeyActive(organizationId: string): Promise<boolean> {
    const [row] = await this.#stack.query<{ active: boolean }>(
      `select max(activates_at) <= clock_timestamp() as active from caudal.organization_keys where organization_id = $1`,
      [organizationId],
    );
    return row?.active ?? false;
  }

  async run({ args, about, doneBefore }: Command): Promise<void> {
    try {
      await this.#stack.command(...args);
    } catch (error) {
      if (!doneBefore?.test(String(error))) throw error;
    }
    if (about !== undefined) this.#journal.write({ kind: 'done', about });
  }

  /** Runs the command in a process that dies at this failpoint. @throws when it does not die */
  async runAndDie(failpoint: string, { args }: Command): Promise<void> {
    try {
      await this.#stack.commandWith({ CAUDAL_FAILPOINT: failpoint }, ...args);
    } catch (error) {
      if (String(error).includes('exited with code null')) return;
      throw error;
    }
    throw new Error('the command ended without reaching the failpoint');
  }
}

/** Refused while the newest key is not active: then it was rotated before. */
function rotation({ organizationId }: { readonly organizationId: string }): Command {
  const args = ['secrets', 'rotate-data-keys', '--org', organizationId, '--by', 'chaos'];
  return { args, doneBefore: /no data key was rotated/ };
}
