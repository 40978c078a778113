import { keyFromBytes, type SecretKey } from '../../kit/crypto.ts';
import type { OrganizationSecrets } from '../../organizations/organization.ts';
import { openPart, openStaticHeader, sealPart } from '../../webhooks/endpoint.seal.ts';
import type { StaticHeader } from '../../webhooks/endpoint.ts';
import type { EndpointQueue } from '../../webhooks/queue.store.ts';

/** Where and how to send to an endpoint, opened. */
export interface Target {
  readonly url: string;
  readonly staticHeader: StaticHeader | null;
  readonly secrets: readonly SecretKey[];
  readonly sealAnswer: (text: string) => Buffer;
}

/** Endpoints answer the same again and again: it is sealed once a turn. Bound to the endpoint, not to the delivery. */
function onceSealed(dataKey: SecretKey, organizationId: string, endpointId: string): Target['sealAnswer'] {
  const sealed = new Map<string, Buffer>();
  return (text) => {
    const known = sealed.get(text);
    if (known) return known;
    const fresh = sealPart(dataKey, 'answer', text, organizationId, endpointId);
    sealed.set(text, fresh);
    return fresh;
  };
}

export function targetOf(queue: EndpointQueue, { dataKey }: OrganizationSecrets): Target {
  const { organizationId, endpointId } = queue;
  return {
    url: openPart(dataKey, 'address', queue.sealedAddress, organizationId, endpointId).toString('utf8'),
    staticHeader: openStaticHeader(dataKey, queue.sealedStaticHeader, organizationId, endpointId),
    secrets: [queue.sealedSecret, ...queue.sealedPreviousSecrets].map((sealed) =>
      keyFromBytes(openPart(dataKey, 'secret', sealed, organizationId, endpointId)),
    ),
    sealAnswer: onceSealed(dataKey, organizationId, endpointId),
  };
}
