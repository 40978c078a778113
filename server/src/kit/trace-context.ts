import { AsyncLocalStorage } from 'node:async_hooks';

/** A position in a trace (W3C Trace Context). Only sampled operations have one. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

/** The parent that a caller names, and whether the caller samples its trace. */
export interface CallerContext extends TraceContext {
  readonly sampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_TRACEPARENT_LENGTH = 512;
const SAMPLED = 0x01;

/** Parses the header `traceparent`; null for an invalid one, which is treated like a missing one. */
export function parseTraceparent(header: string | string[] | undefined): CallerContext | null {
  if (typeof header !== 'string' || header.length > MAX_TRACEPARENT_LENGTH) return null;
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(header) ?? [];
  // Later versions may append fields; version 00 has none, and ff is invalid.
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

export function formatTraceparent({ traceId, spanId }: TraceContext): string {
  return `00-${traceId}-${spanId}-01`;
}

const STORED_BYTES = 25;

/** The stored form: trace id, span id and flags. */
export function packTraceContext(context: TraceContext | null): Buffer | null {
  return context && Buffer.from(`${context.traceId}${context.spanId}01`, 'hex');
}

export function unpackTraceContext(stored: Buffer | null): TraceContext | null {
  if (stored?.length !== STORED_BYTES) return null;
  const text = stored.toString('hex');
  return { traceId: text.slice(0, 32), spanId: text.slice(32, 48) };
}

/** The traces of the operation in progress. */
interface ActiveTraces {
  /** Null: the operation belongs to no sampled trace, although the code that started it may. */
  readonly context: TraceContext | null;
  /** The traces of the items of a batch, by their rail reference. Null: all items belong to `context`. */
  readonly byReference: ReadonlyMap<string, TraceContext> | null;
}

/** Set only while something sampled is in progress, so that it costs nothing while tracing is off. */
const active = new AsyncLocalStorage<ActiveTraces>();

/** The trace of the request or call in progress; null when it is not sampled. */
export function activeTrace(): TraceContext | null {
  return active.getStore()?.context ?? null;
}

/** Runs a request or a call as part of a trace. */
export function runInTrace<T>(context: TraceContext, run: () => T): T {
  return active.run({ context, byReference: null }, run);
}

/** Runs rail calls about several resources, each of which may belong to a trace of its own. */
export function runInTraces<T>(
  items: readonly { readonly reference: string; readonly traceContext: Buffer | null }[],
  run: () => T,
): T {
  const sampled = items.some(({ traceContext }) => traceContext !== null);
  // The batch may have been started by a sampled request that has no item in it.
  if (!sampled) return active.getStore() === undefined ? run() : active.exit(run);
  const byReference = new Map(
    items.flatMap(({ reference, traceContext }) => {
      const context = unpackTraceContext(traceContext);
      return context ? [[reference, context] as const] : [];
    }),
  );
  return active.run({ context: null, byReference }, run);
}

/** The traces of the items of a rail call, in order; null for an item that is not sampled. */
export function activeTracesOf(references: readonly string[]): readonly (TraceContext | null)[] {
  const traces = active.getStore();
  if (traces === undefined) return [];
  return references.map((reference) =>
    traces.byReference ? (traces.byReference.get(reference) ?? null) : traces.context,
  );
}
