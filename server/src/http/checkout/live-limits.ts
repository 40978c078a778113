import { clientNetwork } from '../verify/client-network.ts';
import { FixedWindowLimit } from './fixed-window-limit.ts';

/** Open streams: a payment has a few viewers, and an address may belong to many payers of one mobile network. */
const STREAMS_PER_PAGE = 50;
const STREAMS_PER_ADDRESS = 500;
/** Pages without a stream ask every three seconds: 60 and 300 of them. */
const POLLS_PER_PAGE = { limit: 1200, windowMs: 60_000 };
const POLLS_PER_ADDRESS = { limit: 6000, windowMs: 60_000 };

interface Viewer {
  /** Token in the URL of the page. */
  readonly token: string;
  readonly address: string;
}

/** Keeps one payer from taking the live connections of all others: limits per page and per address, counted per process. */
export class LiveLimits {
  readonly #streams = new Map<string, number>();
  readonly #pollsPerPage = new FixedWindowLimit(POLLS_PER_PAGE.limit, POLLS_PER_PAGE.windowMs);
  readonly #pollsPerAddress = new FixedWindowLimit(POLLS_PER_ADDRESS.limit, POLLS_PER_ADDRESS.windowMs);

  /** Counts a stream. @returns a function that ends it, or null when the page or the address has too many */
  openStream({ token, address }: Viewer): (() => void) | null {
    const page = `page ${token}`;
    const network = `address ${clientNetwork(address)}`;
    if (this.#count(page) >= STREAMS_PER_PAGE || this.#count(network) >= STREAMS_PER_ADDRESS) return null;
    for (const key of [page, network]) this.#streams.set(key, this.#count(key) + 1);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      for (const key of [page, network]) this.#release(key);
    };
  }

  /** Counts a poll. @returns null if it is within the limits, otherwise the seconds to wait */
  takePoll({ token, address }: Viewer): number | null {
    return this.#pollsPerAddress.take(clientNetwork(address)) ?? this.#pollsPerPage.take(token);
  }

  #count(key: string): number {
    return this.#streams.get(key) ?? 0;
  }

  #release(key: string): void {
    const count = this.#count(key) - 1;
    if (count > 0) this.#streams.set(key, count);
    else this.#streams.delete(key);
  }
}
