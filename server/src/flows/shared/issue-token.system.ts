import { toWriteError } from '../../db/failures.ts';
import type { SystemDeps } from '../../deps.ts';
import { insertToken } from '../../organizations/credential.store.ts';
import { credentialMac, makeCredential } from '../../organizations/credential.ts';
import type { Principal } from '../../organizations/organization.ts';

const LIFETIME_SECONDS = 3600;

export interface IssuedToken {
  readonly text: string;
  readonly lifetimeSeconds: number;
  readonly scopes: readonly string[];
}

/** Issues an opaque bearer token. It expires after one hour, or earlier with its API key. */
export async function issueToken(
  deps: SystemDeps,
  principal: Principal,
  scopes: readonly string[],
): Promise<IssuedToken> {
  const [pepper] = deps.peppers;
  if (!pepper) throw new Error('no pepper is configured');
  const credential = makeCredential('token', deps.environment, deps.cell, pepper);
  const stored = deps.system.transaction('issue token', (tx) =>
    insertToken(tx, {
      id: credential.id,
      organizationId: principal.organization.id,
      keyId: principal.keyId,
      mac: credentialMac(credential, pepper),
      scopes,
      lifetimeSeconds: LIFETIME_SECONDS,
    }),
  );
  await stored.catch((error: unknown) => Promise.reject(toWriteError(error)));
  return { text: credential.text, lifetimeSeconds: LIFETIME_SECONDS, scopes };
}
