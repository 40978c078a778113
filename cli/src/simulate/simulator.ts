import type { Option } from './command.ts';
import { connectionOf, readAddress } from './connection.ts';
import { findDevStack } from './dev-stack.ts';
import type { Environment } from './environment.ts';
import { Fault } from './errors.ts';
import type { ParsedArgs } from './parsed-args.ts';

export const SIMULATOR_OPTION: Option = {
  name: 'simulator',
  value: 'URL',
  summary: 'where it is; known of caudal dev and of a profile that names it',
};

/** The door of the simulated rails through which payers, banks and networks are played. */
export class Simulator {
  readonly url: string;
  readonly #signal: AbortSignal;

  constructor(url: string, signal: AbortSignal) {
    this.url = url;
    this.#signal = signal;
  }

  /** Null when it answers that there is no such thing. */
  async find<T>(path: string): Promise<T | null> {
    const { status, body } = await this.#send('GET', path);
    return status === 404 ? null : (body as T);
  }

  async post<T>(path: string, sent: object): Promise<T> {
    const { status, body } = await this.#send('POST', path, JSON.stringify(sent));
    if (status === 200) return body as T;
    throw new Fault(`the simulator refuses: ${messageOf(body, status)}`);
  }

  async remove<T>(path: string): Promise<T> {
    const { status, body } = await this.#send('DELETE', path);
    if (status === 200) return body as T;
    throw new Fault(`the simulator refuses: ${messageOf(body, status)}`);
  }

  async #send(method: string, path: string, body?: string): Promise<{ status: number; body: unknown }> {
    try {
      const response = await fetch(`${this.url}/control${path}`, {
        method,
        ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
        signal: this.#signal,
      });
      return { status: response.status, body: await response.json().catch(() => null) };
    } catch (error) {
      if (this.#signal.aborted) throw error;
      throw new Fault(`no simulator answers at ${this.url}`, ['Is it up? caudal dev starts one.']);
    }
  }
}

function messageOf(body: unknown, status: number): string {
  const { message } = (body ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : `it answered ${status}`;
}

/** Said, in the environment, of the profile, or of the stack of this clone. */
export function simulatorOf(environment: Environment, args: ParsedArgs, signal: AbortSignal): Simulator {
  const said = args.text('simulator') ?? environment.simulatorUrl;
  const known =
    said === undefined
      ? (knownOf(environment, args) ?? findDevStack(environment.folder)?.simulatorUrl)
      : readAddress(said);
  if (!known) {
    throw new Fault('no simulator is known', [
      'A simulator plays the rails of a staging server: --simulator URL says where, or CAUDAL_SIMULATOR_URL.',
      'caudal dev starts one, and then it is known.',
    ]);
  }
  return new Simulator(known, signal);
}

function knownOf(environment: Environment, args: ParsedArgs): string | null {
  try {
    return connectionOf(environment, args).simulatorUrl;
  } catch (error) {
    // Faults of rails need no credentials.
    if (error instanceof Fault) return null;
    throw error;
  }
}
