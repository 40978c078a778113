import type { ClientJournal } from './client-journal.ts';
import type { Stage } from './stage.ts';

/** A command an operator gives, and what it leaves behind. */
interface Command {
  readonly args: readonly string[];
  /** Under which it was written down, if it leaves something behind. */
  readonly about?: string;
  /** What it says when it is given again after it has been done. */
  readonly doneBefore?: RegExp;
}

/** Gives commands; what leaves rows behind is written down before it is given. */
export class Operator {
  readonly #stage: Stage;
  readonly #journal: ClientJournal;
  #deposits = 0;

  constructor(stage: Stage, journal: ClientJournal) {
    this.#stage = stage;
    this.#journal = journal;
  }

  deposit({ organizationId }: { readonly organizationId: string } = this.#stage.organization): Command {
    this.#deposits += 1;
    const about = `bank-${this.#deposits}`;
    this.#journal.write({ kind: 'operator', act: 'deposit', about, organizationId, amountInCents: 123_456 });
    const args = ['ledger', 'deposit', '--org', organizationId, '--amount', '1234.56', '--reference', about];
    return { args, about };
  }

  /** The reversal of a deposit to a new organization, whose money no payout needs. */
  async reverse(): Promise<Command> {
    const organization = await this.#stage.newOrganization();
    const deposit = this.deposit(organization);
    await this.give(deposit);
    const { organizationId } = organization;
    const about = `reversal of ${deposit.about}`;
    this.#journal.write({ kind: 'operator', act: 'reverse', about, organizationId, amountInCents: 123_456 });
    const args = ['ledger', 'reverse', '--org', organizationId, '--deposit', deposit.about ?? ''];
    return { args: [...args, '--reason', 'chaos'], about, doneBefore: /reversed before/ };
  }

  /** @returns null when no anomaly holds money of a payin */
  async resolve(): Promise<Command | null> {
    const [anomaly] = await this.#stage.query<{ id: string }>(
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
    return { args, about, doneBefore: /resolved before|its merchant accepted it/ };
  }

  schedule(name: string): Command {
    return { args: ['schedules', 'run', name] };
  }

  async give({ args, about, doneBefore }: Command): Promise<void> {
    try {
      await this.#stage.command(...args);
    } catch (error) {
      if (!doneBefore?.test(String(error))) throw error;
    }
    if (about !== undefined) this.#journal.write({ kind: 'done', about });
  }

  /** Gives it to a process that dies at this failpoint. @throws when it did not die */
  async dieOf(failpoint: string, { args }: Command): Promise<void> {
    try {
      await this.#stage.commandWith({ CAUDAL_FAILPOINT: failpoint }, ...args);
    } catch (error) {
      if (String(error).includes('ended with null')) return;
      throw error;
    }
    throw new Error('the command ended without passing it');
  }
}
