import type { Tx } from '../../db/tx.ts';
import { decryptPayload } from '../../events/event.encryption.ts';
import { type EncryptedEvent, findEncryptedEvents } from '../../events/event-list.store.ts';
import { monotonicMs } from '../../kit/clock.ts';
import type { KeyRing } from '../../kit/key-ring.ts';

/** A decrypted event, ready to send. */
export interface DecryptedEvent {
  readonly body: Buffer;
  /** A test event: its failure does not count against the endpoint. */
  readonly test: boolean;
  readonly traceContext: Buffer | null;
}

interface EventId {
  readonly organizationId: string;
  readonly eventId: string;
}

/** A delivery that is due now. */
interface DueEvent extends EventId {
  /** Attempts and replays before this one. */
  readonly attempts: number;
  readonly replays: number;
}

/** @throws when the event does not exist or fails to decrypt */
export type DecryptEvent = (event: EventId, dataKey: KeyRing) => DecryptedEvent;

/** Entries per generation, about a kilobyte each; the cache holds two generations. */
const GENERATION_SIZE = 8192;
/** The personal data in an event may be erased: after this time it is read again. */
const MAX_AGE_MS = 60_000;

interface CachedEvent {
  readonly event: DecryptedEvent;
  readonly readAtMs: number;
}

/**
 * Caches recently decrypted events. Most organizations with many events have several endpoints, each with its own queue:
 * an event sent to one endpoint is not read and decrypted again for the next. Retries and replays, which may follow days
 * later, read the event again.
 */
export class DecryptedEventCache {
  #recent = new Map<string, CachedEvent>();
  #older = new Map<string, CachedEvent>();

  /** Reads events that are not cached; each is decrypted on first use. */
  async read(tx: Tx, events: readonly DueEvent[]): Promise<DecryptEvent> {
    const decrypted = new Map<string, DecryptedEvent>();
    const missing = new Map<string, EventId>();
    for (const event of events) {
      const key = cacheKey(event);
      const known = event.attempts === 0 && event.replays === 0 ? this.#find(key) : undefined;
      if (known) decrypted.set(key, known);
      else missing.set(key, event);
    }
    const readAtMs = monotonicMs();
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
      this.#remember(key, { event: fresh, readAtMs });
      return fresh;
    };
  }

  #find(key: string): DecryptedEvent | undefined {
    const recent = this.#recent.get(key);
    const cached = recent ?? this.#older.get(key);
    if (!cached || monotonicMs() - cached.readAtMs > MAX_AGE_MS) return undefined;
    if (!recent) this.#remember(key, cached);
    return cached.event;
  }

  #remember(key: string, cached: CachedEvent): void {
    if (this.#recent.size >= GENERATION_SIZE) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, cached);
  }
}

function decryptEvent(
  { organizationId, id, resource, payload, traceContext }: EncryptedEvent,
  dataKey: KeyRing,
): DecryptedEvent {
  return {
    body: decryptPayload(dataKey, payload, organizationId, id),
    test: resource === 'webhook',
    traceContext,
  };
}

function cacheKey({ organizationId, eventId }: EventId): string {
  return `${organizationId}/${eventId}`;
}
