import { setTimeout as sleep } from 'node:timers/promises';
import { DETAILS, METHODS } from '../clients/link-client.ts';
import type { KnownLink } from './known-link.ts';
import type { Rail } from './rail.ts';

const REQUEST_TIMEOUT_MS = 60_000;
const COOKIE = /attempt_\w+=([\w-]+)\.[^;]*/;

interface Started {
  /** Null when the page did not start an attempt. */
  readonly payinId: string | null;
  /** An earlier send was answered 503, so it may already have taken effect. */
  readonly repeated: boolean;
}

/** A payer's browser without scripts, at one API; it retries while the response is 503. */
export class Payer {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async start(link: KnownLink, rail: Rail): Promise<Started> {
    const fields = { ...METHODS[rail], ...(link.hasCustomer ? {} : DETAILS) };
    const { headers, repeated } = await this.#submit(`${link.path}/begin`, fields, link.cookie);
    const [cookie = null, payinId = null] = COOKIE.exec(headers.get('set-cookie') ?? '') ?? [];
    if (cookie !== null) link.cookie = cookie;
    return { payinId, repeated };
  }

  async changeMethod(link: KnownLink): Promise<void> {
    await this.#submit(`${link.path}/change`, {}, link.cookie);
  }

  async #submit(
    path: string,
    fields: Readonly<Record<string, string>>,
    cookie: string | null,
  ): Promise<{ readonly headers: Headers; readonly repeated: boolean }> {
    const deadline = performance.now() + REQUEST_TIMEOUT_MS;
    for (let repeated = false; ; repeated = true) {
      const { status, headers } = await fetch(this.#url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...(cookie === null ? {} : { cookie }),
        },
        body: new URLSearchParams(fields).toString(),
      });
      if (status === 303) return { headers, repeated };
      if (status !== 503 || performance.now() > deadline) throw new Error(`POST ${path}: ${status}`);
      await sleep(50);
    }
  }
}
