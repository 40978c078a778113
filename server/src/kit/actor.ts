/**
 * Who created a row or moved money, as stored in `created_by` columns: an API key (also for the access tokens that it
 * issued), a payer on a checkout page, an operator by name, or a worker of this service.
 */
export type Actor = `key:${string}` | 'payer' | `operator:${string}` | 'system';

export const PAYER: Actor = 'payer';
export const SYSTEM: Actor = 'system';

export function apiKeyActor(keyId: string): Actor {
  return `key:${keyId}`;
}

/** @param name the author of an operator command (`--by`) */
export function operatorActor(name: string): Actor {
  return `operator:${name}`;
}
