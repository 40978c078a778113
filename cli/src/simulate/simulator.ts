import type { OptionDescription } from '@caudal/command-tree';
import { parseUrl, resolveConnection } from '../connection/connection.ts';
import { findDevStack } from '../connection/dev-stack.ts';
import type { Environment } from '../connection/environment.ts';
import { CliError } from '../framework/errors.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';

export const SIMULATOR_OPTION: OptionDescription = {
  name: 'simulator',
  value: 'URL',
  summary: 'URL of the simulator (default: of the profile or caudal dev)',
};

/** Client of the simulator's control API. */
export class Simulator {
  readonly url: string;
  readonly #signal: AbortSignal;

  constructor(url: string, signal: AbortSignal) {
    this.url = url;
    this.#signal = signal;
  }

  /** @returns null for a 404 */
  async find<T>(path: string): Promise<T | null> {
    const { status, body } = await this.#send('GET', path);
    return status === 404 ? null : (body as T);
  }

  async post<T>(path: string, sent: object): Promise<T> {
    const { status, body } = await this.#send('POST', path, JSON.stringify(sent));
    if (status === 200) return body as T;
    throw new CliError(`the simulator rejected the request: ${readMessage(body, status)}`);
  }

  async remove<T>(path: string): Promise<T> {
    const { status, body } = await this.#send('DELETE', path);
    if (status === 200) return body as T;
    throw new CliError(`the simulator rejected the request: ${readMessage(body, status)}`);
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
      throw new CliError(`no simulator responds at ${this.url}`, ['caudal dev starts one.']);
    }
  }
}

function readMessage(body: unknown, status: number): string {
  const { message } = (body ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : `status ${status}`;
}

/** From --simulator, the environment, the profile or the caudal dev stack, in this order. */
export function resolveSimulator(environment: Environment, args: ParsedArgs, signal: AbortSignal): Simulator {
  const url = args.text('simulator') ?? environment.simulatorUrl;
  const simulatorUrl =
    url === undefined
      ? (simulatorUrlFromConnection(environment, args) ?? findDevStack(environment.folder)?.simulatorUrl)
      : parseUrl(url);
  if (!simulatorUrl) {
    throw new CliError('no simulator URL is configured', [
      'A staging server is connected to a simulator of the rails: set --simulator URL or CAUDAL_SIMULATOR_URL.',
      'caudal dev starts one, and commands detect it.',
    ]);
  }
  return new Simulator(simulatorUrl, signal);
}

function simulatorUrlFromConnection(environment: Environment, args: ParsedArgs): string | null {
  try {
    return resolveConnection(environment, args).simulatorUrl;
  } catch (error) {
    // Commands on rail faults need no credentials.
    if (error instanceof CliError) return null;
    throw error;
  }
}
