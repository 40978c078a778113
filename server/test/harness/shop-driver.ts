import { ApiClient } from './api-client.ts';
import { type LinkBody, linkRequest } from './checkout-driver.ts';
import { runOperatorCommand } from './operator-command.ts';
import { PayerBrowser, type PayerPage } from './payer-browser.ts';
import type { Stack } from './stack.ts';

/** A shop that an operator created for one test: checkout pages cache changes of a shop for ten seconds. */
export class ShopDriver {
  readonly id: string;
  readonly api: ApiClient;
  readonly #stack: Stack;

  private constructor(stack: Stack, id: string, api: ApiClient) {
    this.#stack = stack;
    this.id = id;
    this.api = api;
  }

  /** @param args options of `org create` beside the author */
  static async create(stack: Stack, ...args: readonly string[]): Promise<ShopDriver> {
    const names = args.includes('--name') ? [] : ['--name', 'Tienda Aurora'];
    const support = args.includes('--support') ? [] : ['--support', 'ayuda@aurora.example'];
    const { stdout, stderr } = await command(stack, 'org', 'create', ...names, ...support, ...args, '--json');
    if (stdout === '') throw new Error(stderr);
    const { organizationId, apiKey } = JSON.parse(stdout) as { organizationId: string; apiKey: string };
    const url = stack.apis[0]?.url ?? '';
    return new ShopDriver(stack, organizationId, new ApiClient(url, { 'x-api-key': apiKey }));
  }

  /** Runs `org update`. @throws when it fails */
  async update(...args: readonly string[]): Promise<void> {
    const { code, stderr } = await command(this.#stack, 'org', 'update', this.id, ...args);
    if (code !== 0) throw new Error(stderr);
  }

  async show(): Promise<Readonly<Record<string, unknown>>> {
    return JSON.parse((await command(this.#stack, 'org', 'show', this.id, '--json')).stdout);
  }

  async suspend(): Promise<void> {
    const { code, stderr } = await command(this.#stack, 'org', 'suspend', this.id, '--reason', 'test');
    if (code !== 0) throw new Error(stderr);
  }

  async link(changes: Record<string, unknown> = {}): Promise<LinkBody> {
    const { status, body, text } = await this.api.post<LinkBody>('/payment-links', linkRequest(changes));
    if (status !== 201) throw new Error(`POST /payment-links: ${status} ${text}`);
    return body;
  }

  /** Opens a new link of the shop, as a payer. */
  async page(changes: Record<string, unknown> = {}): Promise<PayerPage> {
    return new PayerBrowser().open((await this.link(changes)).paymentLinkUrl);
  }
}

function command(stack: Stack, ...args: readonly string[]) {
  return runOperatorCommand({ ...stack.settings, DATABASE_URL: stack.database.ownerUrl }, ...args);
}
