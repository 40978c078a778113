import type { Tx } from '../../db/tx.ts';
import { openPayload } from '../../events/event.seal.ts';
import { type SealedEvent, sealedEvents } from '../../events/event-list.store.ts';
import type { SecretKey } from '../../kit/crypto.ts';

/** An event as it is sent. */
export interface DecryptedEvent {
  readonly body: Buffer;
  /** One that somebody asked for: that it fails says nothing about the events. */
  readonly test: boolean;
}

interface EventId {
  readonly organizationId: string;
  readonly eventId: string;
}

/** @throws when it is not there or does not open */
export type EventOf = (event: EventId, dataKey: SecretKey) => DecryptedEvent;

/** Twice so many are remembered at most, a kilobyte each. */
const REMEMBERED = 8192;

/**
 * Events that were opened lately. Most organizations with much to be told have several endpoints, each with a line of its
 * own: what one of them was just sent is neither read nor opened anew for the next.
 */
export class DecryptedEventCache {
  #recent = new Map<string, DecryptedEvent>();
  #older = new Map<string, DecryptedEvent>();

  /** Reads those that are not remembered; each is opened when it is first asked for. */
  async read(tx: Tx, events: readonly EventId[]): Promise<EventOf> {
    const opened = new Map<string, DecryptedEvent>();
    const missing = new Map<string, EventId>();
    for (const event of events) {
      const key = keyOf(event);
      const known = this.#find(key);
      if (known) opened.set(key, known);
      else missing.set(key, event);
    }
    const rows = await sealedEvents(tx, [...missing.values()]);
    const sealed = new Map(rows.map((row) => [keyOf({ ...row, eventId: row.id }), row]));
    return (event, dataKey) => {
      const key = keyOf(event);
      const known = opened.get(key);
      if (known) return known;
      const found = sealed.get(key);
      if (!found) throw new Error('there is no such event');
      const fresh = open(found, dataKey);
      opened.set(key, fresh);
      this.#remember(key, fresh);
      return fresh;
    };
  }

  #find(key: string): DecryptedEvent | undefined {
    const recent = this.#recent.get(key);
    if (recent) return recent;
    const older = this.#older.get(key);
    if (older) this.#remember(key, older);
    return older;
  }

  #remember(key: string, event: DecryptedEvent): void {
    if (this.#recent.size >= REMEMBERED) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, event);
  }
}

function open({ organizationId, id, resource, payload }: SealedEvent, dataKey: SecretKey): DecryptedEvent {
  return { body: openPayload(dataKey, payload, organizationId, id), test: resource === 'webhook' };
}

function keyOf({ organizationId, eventId }: EventId): string {
  return `${organizationId}/${eventId}`;
}
