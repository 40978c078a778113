import type { Trial } from '../run/trial.ts';

const REQUEST_TIMEOUT_MS = 8000;

/** Uses the API key of the load from networks that it was not used from before: each has an event. */
export class NetworkTrigger {
  readonly #trial: Trial;
  #networks = 0;

  constructor(trial: Trial) {
    this.#trial = trial;
  }

  /** Sends a request to this API, which may die before it responds. The API trusts the forwarded address of the test. */
  async useFromNewNetwork(api: string): Promise<void> {
    this.#networks += 1;
    try {
      await fetch(`${api}/payins?limit=1`, {
        headers: {
          'x-api-key': this.#trial.stack.organization.apiKey,
          'x-forwarded-for': `198.18.${this.#networks % 256}.1`,
        },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
    } catch {
      // The API died before it responded.
    }
  }
}
