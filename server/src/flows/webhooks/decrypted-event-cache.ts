import type { Tx } from '../../db/tx.ts';
import { decryptPayload } from '../../events/event.encryption.ts';
import { type EncryptedEvent, findEncryptedEvents } from '../../events/event-list.store.ts';
import type { KeyRing } from '../../kit/key-ring.ts';

/** A decrypted event, ready to send. */
export interface DecryptedEvent {
  readonly body: Buffer;
  /** A test event: its failure does not count against the endpoint. */
  readonly test: boolean;
}

interface EventId {
  readonly organizationId: string;
  readonly eventId: string;
}

/** @throws when the event does not exist or fails to decrypt */
export type DecryptEvent = (event: EventId, dataKey: KeyRing) => DecryptedEvent;

/** Entries per generation, about a kilobyte each; the cache holds two generations. */
const GENERATION_SIZE = 8192;

/**
 * Caches recently decrypted events. Most organizations with many events have several endpoints, each with its own queue:
 * an event sent to one endpoint is not read and decrypted again for the next.
 */
export class DecryptedEventCache {
  #recent = new Map<string, DecryptedEvent>();
  #older = new Map<string, DecryptedEvent>();

  /** Reads events that are not cached; each is decrypted on first use. */
  async read(tx: Tx, events: readonly EventId[]): Promise<DecryptEvent> {
    const decrypted = new Map<string, DecryptedEvent>();
    const missing = new Map<string, EventId>();
    for (const event of events) {
      const key = cacheKey(event);
      const known = this.#find(key);
      if (known) decrypted.set(key, known);
      else missing.set(key, event);
    }
    const rows = await findEncryptedEvents(tx, [...missing.values()]);
    const encrypted = new Map(rows.map((row) => [cacheKey({ ...row, eventId: row.id }), row]));
    return (event, dataKey) => {
      const key = cacheKey(event);
      const known = decrypted.get(key);
      if (known) return known;
      const found = encrypted.get(key);
      if (!found) throw new Error('event not found');
      const fresh = decryptEvent(found, dataKey);
      decrypted.set(key, fresh);
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
    if (this.#recent.size >= GENERATION_SIZE) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, event);
  }
}

function decryptEvent(
  { organizationId, id, resource, payload }: EncryptedEvent,
  dataKey: KeyRing,
): DecryptedEvent {
  return { body: decryptPayload(dataKey, payload, organizationId, id), test: resource === 'webhook' };
}

function cacheKey({ organizationId, eventId }: EventId): string {
  return `${organizationId}/${eventId}`;
}
