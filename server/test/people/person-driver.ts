import { runOperatorCommand } from '../harness/operator-command.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import type { Shop } from '../harness/payout-requests.ts';
import type { Stack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

export interface Person {
  readonly customer: Readonly<Record<'name' | 'idType' | 'idNumber' | 'phone' | 'email', string>>;
  readonly document: readonly ['--document', string];
  readonly email: readonly ['--email', string];
}

let persons = 0;

/** A person that no other test uses. */
export function newPerson(): Person {
  persons += 1;
  const idNumber = String(2_718_281_000 + persons);
  const customer = {
    name: 'Rosalba Quintero',
    idType: 'CO_CC',
    idNumber,
    phone: '+573105550199',
    email: `rosalba.${idNumber}@correo.example`,
  };
  return {
    customer,
    document: ['--document', `CO_CC:${idNumber}`],
    email: ['--email', customer.email.toUpperCase()],
  };
}

export interface ListedResource {
  readonly kind: string;
  readonly id: string;
  readonly organizationId: string;
  readonly personIs: string;
  readonly status: string;
  readonly retainedUntil: string | null;
}

/** Runs the commands about people, and ends payins in the ways that an erasure distinguishes. */
export class PersonDriver {
  readonly #stack: Stack;
  readonly payins: PayinDriver;

  constructor(stack: Stack) {
    this.#stack = stack;
    this.payins = new PayinDriver(stack);
  }

  /** Runs `people NAME`. @returns the JSON output */
  async people<T = { person: string; resources: ListedResource[] }>(
    name: string,
    ...args: readonly string[]
  ): Promise<T> {
    const { code, stdout, stderr } = await this.run(name, ...args, '--by', 'ana', '--json');
    if (code !== 0) throw new Error(`people ${name}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  run(name: string, ...args: readonly string[]) {
    return runOperatorCommand(this.#stack.settings, 'people', name, ...args);
  }

  /** Kind, organization and status of what an erasure or a search lists. */
  async list(name: 'find' | 'erase', ...args: readonly string[]): Promise<string[]> {
    const { resources } = await this.people(name, ...args);
    return resources.map(({ kind, id, status }) => `${kind} ${id} ${status}`).toSorted();
  }

  async canceledPayin(changes: Record<string, unknown>): Promise<string> {
    const { payin, key } = await this.payins.breb(changes);
    await this.payins.simulator.endKey({ key, outcome: 'CANCELED' });
    await this.payins.waitForStatus(payin.id, 'CANCELED');
    await this.passLastPoll(payin.id);
    return payin.id;
  }

  async confirmedPayin(changes: Record<string, unknown>): Promise<string> {
    const { payin, key } = await this.payins.breb(changes);
    await this.payins.simulator.pay({ key });
    await this.payins.waitForStatus(payin.id, 'CONFIRMED');
    await this.payins.waitUntilIdle();
    return payin.id;
  }

  /** An ended payin counts as in progress until the rail was polled once more. */
  async passLastPoll(id: string): Promise<void> {
    await this.#stack.shiftTime(15 * 60_000);
    await until('the rail was polled for the last time', async () => {
      const rows = await this.#stack.database.query(
        'select from caudal.payins where id = $1 and rail_task is not null',
        [id],
      );
      return rows.length === 0;
    });
    await this.payins.waitUntilIdle();
  }

  /** A payin of another organization that stays open. */
  async openPayin({ api }: Shop, changes: Record<string, unknown>): Promise<string> {
    const { status, body, text } = await api.post<{ id: string }>('/payins', brebPayin(changes));
    if (status !== 201) throw new Error(`POST /payins: ${status} ${text}`);
    return body.id;
  }

  /** Waits for the final event, which is recorded with the state but dispatched later. */
  async finalEvent(resourceId: string): Promise<{ id: string; payload: Buffer }> {
    return until('the final event is dispatched', async () => {
      const [event] = await this.#stack.database.query<{ id: string; payload: Buffer }>(
        'select id, payload from caudal.events where resource_id = $1 and not undispatched',
        [resourceId],
      );
      return event;
    });
  }
}
