import { runInTrace, type TraceContext } from './trace-context.ts';

/** No personal data, no amounts of people: ids of resources and organizations as in the log, codes and counts. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  readonly parent: TraceContext;
  readonly kind: 'internal' | 'client' | 'producer' | 'consumer';
  readonly attributes?: SpanAttributes;
  /** Another span of the same operation, in another trace. */
  readonly link?: TraceContext | null;
  /** The span started this long ago; default 0. */
  readonly startedMsAgo?: number;
}

/** A span in progress. */
export interface Span {
  readonly context: TraceContext;
  set(attributes: SpanAttributes): void;
  /** Ends the span; further calls have no effect. @param error a code; omitted for a success */
  end(error?: string): void;
}

/** Creates spans. Without tracing every method returns null. */
export interface Tracer {
  /** Starts the span of a received request. @returns null when the request is not sampled */
  startRequest(
    name: string,
    traceparent: string | string[] | undefined,
    attributes: SpanAttributes,
  ): Span | null;
  /** Starts a span below a sampled one. @returns null when tracing is off in this process */
  startSpan(name: string, options: SpanOptions): Span | null;
}

export const NO_TRACER: Tracer = { startRequest: () => null, startSpan: () => null };

interface SharedOperation<T> {
  readonly name: string;
  readonly kind: SpanOptions['kind'];
  readonly attributes?: SpanAttributes;
  /** The attributes of the result for the item at this index. `error` marks the span as failed. */
  readonly describe?: (result: T, index: number) => { attributes?: SpanAttributes; error?: string };
}

/**
 * Runs one operation for many items, such as a commit or a rail call. Each sampled item has a span in its own trace; all are
 * linked to the first, whose context is active during the operation.
 */
export async function traceShared<T>(
  tracer: Tracer,
  parents: readonly (TraceContext | null)[],
  { name, kind, attributes = {}, describe }: SharedOperation<T>,
  run: () => Promise<T>,
): Promise<T> {
  const spans: { readonly span: Span; readonly index: number }[] = [];
  for (const [index, parent] of parents.entries()) {
    if (parent === null) continue;
    const link = spans[0]?.span.context ?? null;
    const span = tracer.startSpan(name, { parent, kind, attributes, link });
    if (span) spans.push({ span, index });
  }
  const [first] = spans;
  if (!first) return run();
  if (parents.length > 1) for (const { span } of spans) span.set({ 'caudal.batch.size': parents.length });
  try {
    const result = await runInTrace(first.span.context, run);
    for (const { span, index } of spans) {
      const { attributes: found, error } = describe?.(result, index) ?? {};
      if (found) span.set(found);
      span.end(error);
    }
    return result;
  } catch (error) {
    for (const { span } of spans) span.end(error instanceof Error ? error.name : 'error');
    throw error;
  }
}
