import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Caudal } from '@caudal/sdk';
import { CUSTOMER_EXAMPLE } from '../../../server/src/http/api/payin.schema.ts';
import { readMetric } from '../../../server/test/harness/read-metric.ts';
import { until } from '../../../server/test/harness/until.ts';
import type { DevStack } from './dev-stack.ts';
import { pageEnvironment } from './page-run.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Resources that the examples of the API reference assume, in the state they need. */
export class ExampleResources {
  readonly #stack: DevStack;
  readonly #caudal: Caudal;
  #count = 0;

  constructor(stack: DevStack, caudal: Caudal) {
    this.#stack = stack;
    this.#caudal = caudal;
  }

  /** A payin that was paid with more than its amount: its id and the id of the anomaly. */
  async createAnomaly(): Promise<readonly string[]> {
    const reference = this.#newReference();
    const { id } = await this.#caudal.payins.create({
      amountInCents: 5_000_000,
      currency: 'COP',
      reference,
      rail: 'BRE_B',
      breb: { keyType: 'SINGLE_USE' },
      inlineCustomer: CUSTOMER_EXAMPLE,
    });
    this.#run('cli/src/main.ts', 'simulate', 'pay', reference, '--amount', '60000');
    const { anomalies } = await this.#caudal.payins.waitFor(id);
    const [anomaly] = anomalies;
    if (!anomaly) throw new Error('the overpaid payin has no anomaly');
    return [id, anomaly.id];
  }

  /** An event: a payment link that expired. */
  async createEvent(): Promise<void> {
    const { paymentLinkId } = await this.#caudal.paymentLinks.create({
      amountType: 'FIXED',
      amountInCents: 5_000_000,
      reference: this.#newReference(),
      callbackUrl: 'https://shop.example.com/thanks',
    });
    await this.#caudal.paymentLinks.expire(paymentLinkId);
  }

  async newestEventId(): Promise<string> {
    await this.createEvent();
    const [event] = (await this.#caudal.events.list({ pageSize: 1 })).data;
    if (!event) throw new Error('there is no event');
    return event.id;
  }

  /** A payout can be canceled until it is sent. The server learns of the pause with its next heartbeat. */
  async pausePayouts(): Promise<void> {
    this.#run('server/src/main.ts', 'rails', 'pause', '--rail', 'BRE_B', '--reason', 'test', '--by', 'test');
    const opsUrl = `http://127.0.0.1:${this.#stack.settings['CAUDAL_OPS_PORT']}`;
    await until(
      'the server knows the pause',
      async () => (await readMetric({ opsUrl }, 'caudal_rail_pauses')) > 0,
    );
  }

  resumePayouts(): void {
    this.#run('server/src/main.ts', 'rails', 'resume', '--rail', 'BRE_B', '--by', 'test');
  }

  #newReference(): string {
    this.#count += 1;
    return `resource-${this.#count}`;
  }

  /** Runs a program of the project with the settings of the stack. */
  #run(program: string, ...args: readonly string[]): void {
    const { status, stderr } = spawnSync(process.execPath, [`${ROOT}${program}`, ...args], {
      cwd: this.#stack.folder,
      env: { ...pageEnvironment(this.#stack, 'operating/examples.md') },
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  }
}
