import { keyFromBytes, type SecretKey } from '../../kit/crypto.ts';
import type { KeyRing } from '../../kit/key-ring.ts';
import type { OrganizationSecrets } from '../../organizations/organization.ts';
import { decryptPart, decryptStaticHeader, encryptPart } from '../../webhooks/endpoint.encryption.ts';
import type { StaticHeader } from '../../webhooks/endpoint.ts';
import type { EndpointQueue } from '../../webhooks/queue.store.ts';

/** The decrypted settings of an endpoint. */
export interface Target {
  readonly url: string;
  readonly staticHeader: StaticHeader | null;
  readonly secrets: readonly SecretKey[];
  readonly encryptResponse: (text: string) => Buffer;
}

/**
 * Endpoints usually send the same response every time, so each text is encrypted once per batch. The ciphertext is bound
 * to the endpoint, not to the delivery.
 */
function encryptOnce(
  dataKey: KeyRing,
  organizationId: string,
  endpointId: string,
): Target['encryptResponse'] {
  const encrypted = new Map<string, Buffer>();
  return (text) => {
    const known = encrypted.get(text);
    if (known) return known;
    const fresh = encryptPart(dataKey, 'answer', text, organizationId, endpointId);
    encrypted.set(text, fresh);
    return fresh;
  };
}

export function decryptTarget(queue: EndpointQueue, { dataKey }: OrganizationSecrets): Target {
  const { organizationId, endpointId } = queue;
  return {
    url: decryptPart(dataKey, 'address', queue.encryptedUrl, organizationId, endpointId).toString('utf8'),
    staticHeader: decryptStaticHeader(dataKey, queue.encryptedStaticHeader, organizationId, endpointId),
    secrets: [queue.encryptedSecret, ...queue.encryptedPreviousSecrets].map((encrypted) =>
      keyFromBytes(decryptPart(dataKey, 'secret', encrypted, organizationId, endpointId)),
    ),
    encryptResponse: encryptOnce(dataKey, organizationId, endpointId),
  };
}
