import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import { decodeMetrics, decodeSpans, type ReceivedMetric, type ReceivedSpan } from './otlp-decoder.ts';
import { until } from './until.ts';

/** How the receiver answers: a status, or not at all. */
type Behavior = number | 'hang';

/** An OpenTelemetry collector for tests: receives OTLP over real HTTP and decodes it. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** Of the last export of each process. */
  readonly metrics: ReceivedMetric[] = [];
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  behavior: Behavior = 200;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { url: path = '', headers } = request;
        this.requests.push({ path, headers });
        if (this.behavior === 'hang') return;
        if (this.behavior === 200) this.#receive(path, Buffer.concat(chunks));
        response.writeHead(this.behavior, { 'content-type': 'application/x-protobuf' }).end();
      });
    });
  }

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await new Promise<void>((resolve) => {
      receiver.#server.listen(0, '127.0.0.1', resolve);
    });
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Waits until a trace has spans with all these names. @returns all its spans */
  waitForTrace(traceId: string, names: readonly string[], withinMs = PATIENCE_MS): Promise<ReceivedSpan[]> {
    return until(
      `the trace has the spans ${names.join(', ')}`,
      () => {
        const spans = this.spans.filter((span) => span.traceId === traceId);
        return Promise.resolve(
          names.every((name) => spans.some((span) => span.name === name)) ? spans : null,
        );
      },
      withinMs,
    );
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #receive(path: string, body: Buffer): void {
    if (path.endsWith('/v1/traces')) this.spans.push(...decodeSpans(body));
    else if (path.endsWith('/v1/metrics')) this.metrics.push(...decodeMetrics(body));
  }
}
