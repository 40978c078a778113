import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import { backoffMs } from '../kit/backoff.ts';
import type { ExportHealth } from './export-health.ts';
import type { OtlpClient } from './otlp-client.ts';

/** About two megabytes. Above it new spans are dropped and counted. */
const MAX_QUEUED = 2048;
const MAX_BATCH = 512;
/** Spans wait this long for others, unless a batch is full. */
const EXPORT_EVERY_MS = 1000;
const MAX_BACKOFF_MS = 30_000;

/** Sends ended spans to the collector in batches. A collector that fails or hangs costs the queue and nothing else. */
export class SpanQueue implements SpanProcessor {
  readonly #client: OtlpClient;
  readonly #health: ExportHealth;
  #queue: ReadableSpan[] = [];
  #timer: NodeJS.Timeout | null = null;
  #exporting: Promise<void> | null = null;
  #failuresInRow = 0;
  #closed = false;
  /** Counts since the process started, for metrics. */
  exported = 0;
  readonly dropped = { queue_full: 0, rejected: 0, shutdown: 0 };

  constructor(client: OtlpClient, health: ExportHealth) {
    this.#client = client;
    this.#health = health;
  }

  get queued(): number {
    return this.#queue.length;
  }

  onStart(): void {
    // A span is exported when it ends.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#closed) this.dropped.shutdown += 1;
    else if (this.#queue.length >= MAX_QUEUED) this.dropped.queue_full += 1;
    else {
      this.#queue.push(span);
      this.#schedule();
    }
  }

  async forceFlush(): Promise<void> {
    await this.#exporting;
    if (this.#queue.length > 0) await this.#export();
  }

  /** Sends what is queued once; what the collector does not accept is dropped. */
  async shutdown(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#exporting;
    while (this.#queue.length > 0 && this.#failuresInRow === 0) await this.#export();
    this.dropped.shutdown += this.#queue.length;
    this.#queue = [];
  }

  #schedule(): void {
    if (this.#exporting !== null || this.#closed) return;
    const full = this.#queue.length >= MAX_BATCH && this.#failuresInRow === 0;
    if (this.#timer !== null && !full) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const delay =
      this.#failuresInRow > 0
        ? backoffMs(this.#failuresInRow, EXPORT_EVERY_MS, MAX_BACKOFF_MS)
        : EXPORT_EVERY_MS;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        void this.#export();
      },
      full ? 0 : delay,
    );
    this.#timer.unref();
  }

  #export(): Promise<void> {
    this.#exporting ??= this.#exportBatch().finally(() => {
      this.#exporting = null;
      if (this.#queue.length > 0) this.#schedule();
    });
    return this.#exporting;
  }

  /** Never rejects. Spans of a failed export stay in the queue and count against its bound. */
  async #exportBatch(): Promise<void> {
    const batch = this.#queue.slice(0, MAX_BATCH);
    const result = await this.#client.send(
      'traces',
      ProtobufTraceSerializer.serializeRequest(batch) ?? new Uint8Array(),
    );
    if (result.kind === 'failed') {
      this.#failuresInRow += 1;
      return this.#health.failed(result.reason);
    }
    this.#queue.splice(0, batch.length);
    this.#failuresInRow = 0;
    if (result.kind === 'rejected') {
      this.dropped.rejected += batch.length;
      return this.#health.failed(result.reason);
    }
    const rejected = countRejected(result.body);
    this.exported += batch.length - rejected;
    this.dropped.rejected += rejected;
    this.#health.succeeded();
  }
}

/** A collector may accept a request and reject some of its spans. */
function countRejected(body: Buffer): number {
  try {
    return ProtobufTraceSerializer.deserializeResponse(body).partialSuccess?.rejectedSpans ?? 0;
  } catch {
    return 0;
  }
}
