import {
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { monotonicMs, realTime } from '../kit/clock.ts';
import { parseTraceparent, type TraceContext } from '../kit/trace-context.ts';
import type { Span, SpanAttributes, SpanOptions, Tracer } from '../kit/tracer.ts';
import type { RequestSampler } from './sampler.ts';

const KINDS: Readonly<Record<SpanOptions['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** Creates spans with the OpenTelemetry SDK. Parents are explicit: no context manager and no instrumentation is installed. */
export class SdkTracer implements Tracer {
  readonly #tracer: OtelTracer;
  readonly #sampler: RequestSampler;

  constructor(tracer: OtelTracer, sampler: RequestSampler) {
    this.#tracer = tracer;
    this.#sampler = sampler;
  }

  startRequest(
    name: string,
    traceparent: string | string[] | undefined,
    attributes: SpanAttributes,
  ): Span | null {
    const caller = traceparent === undefined ? null : parseTraceparent(traceparent);
    if (!this.#sampler.isSampled(caller)) return null;
    return this.#start(name, SpanKind.SERVER, { parent: caller, attributes });
  }

  startSpan(name: string, { kind, ...options }: SpanOptions): Span {
    return this.#start(name, KINDS[kind], options);
  }

  #start(
    name: string,
    kind: SpanKind,
    {
      parent,
      attributes = {},
      link = null,
      startedMsAgo = 0,
    }: Omit<SpanOptions, 'kind' | 'parent'> & { readonly parent: TraceContext | null },
  ): Span {
    const startTime = realTime().getTime() - startedMsAgo;
    const span = this.#tracer.startSpan(
      name,
      { kind, attributes, startTime, ...(link ? { links: [{ context: toSpanContext(link) }] } : {}) },
      parent ? trace.setSpanContext(ROOT_CONTEXT, toSpanContext(parent)) : ROOT_CONTEXT,
    );
    return new StartedSpan(span, startTime + startedMsAgo);
  }
}

class StartedSpan implements Span {
  readonly context: TraceContext;
  readonly #span: SdkSpan;
  readonly #realStart: number;
  readonly #monotonicStart = monotonicMs();
  #ended = false;

  constructor(span: SdkSpan, realStart: number) {
    const { traceId, spanId } = span.spanContext();
    this.context = { traceId, spanId };
    this.#span = span;
    this.#realStart = realStart;
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }

  end(error?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    if (error !== undefined) {
      this.#span.setAttribute('error.type', error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    // The duration is measured with the monotonic clock, which has a finer resolution and never steps back.
    this.#span.end(this.#realStart + (monotonicMs() - this.#monotonicStart));
  }
}

function toSpanContext({ traceId, spanId }: TraceContext) {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}
