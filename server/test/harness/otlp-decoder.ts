/** Decodes the parts of OTLP (protobuf) that tests compare. Independent of the encoder that the server uses. */

type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface ReceivedSpan {
  readonly resource: Attributes;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root span. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly attributes: Attributes;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly failed: boolean;
}

export interface ReceivedMetric {
  readonly resource: Attributes;
  readonly name: string;
  readonly type: 'gauge' | 'sum' | 'histogram';
  readonly points: readonly {
    readonly attributes: Attributes;
    /** Of a gauge or sum. */
    readonly value: number;
    /** Of a histogram. */
    readonly count: number;
    readonly sum: number;
    readonly bucketCounts: readonly number[];
    readonly bounds: readonly number[];
  }[];
}

/** The fields of a message: varints and fixed numbers as bigint, everything else as bytes. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

function parse(bytes: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('truncated varint');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const values = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, values);
    switch (tag & 7) {
      case 0:
        values.push(varint());
        break;
      case 1:
        values.push(bytes.readBigUInt64LE(at));
        at += 8;
        break;
      case 2: {
        const length = Number(varint());
        values.push(bytes.subarray(at, at + length));
        at += length;
        break;
      }
      case 5:
        values.push(BigInt(bytes.readUInt32LE(at)));
        at += 4;
        break;
      default:
        throw new Error(`unknown wire type ${tag & 7}`);
    }
  }
  return fields;
}

function messages(fields: Fields, field: number): Fields[] {
  return (fields.get(field) ?? []).map((value) => parse(value as Buffer));
}

function bytesOf(fields: Fields, field: number): Buffer {
  return (fields.get(field)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
}

function number(fields: Fields, field: number): bigint {
  return (fields.get(field)?.[0] as bigint | undefined) ?? 0n;
}

function toDouble(bits: bigint): number {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(bits);
  return buffer.readDoubleLE();
}

function attributes(fields: Fields, field: number): Attributes {
  return Object.fromEntries(
    messages(fields, field).map((pair) => {
      const [value = new Map() as Fields] = messages(pair, 2);
      const read = value.has(1)
        ? bytesOf(value, 1).toString()
        : value.has(2)
          ? number(value, 2) === 1n
          : value.has(4)
            ? toDouble(number(value, 4))
            : Number(number(value, 3));
      return [bytesOf(pair, 1).toString(), read];
    }),
  );
}

function resourceOf(fields: Fields): Attributes {
  const [resource] = messages(fields, 1);
  return resource ? attributes(resource, 1) : {};
}

export function decodeSpans(body: Buffer): ReceivedSpan[] {
  return messages(parse(body), 1).flatMap((resourceSpans) =>
    messages(resourceSpans, 2).flatMap((scopeSpans) =>
      messages(scopeSpans, 2).map((span) => ({
        resource: resourceOf(resourceSpans),
        traceId: bytesOf(span, 1).toString('hex'),
        spanId: bytesOf(span, 2).toString('hex'),
        parentSpanId: bytesOf(span, 4).toString('hex'),
        name: bytesOf(span, 5).toString(),
        kind: Number(number(span, 6)),
        startNanos: number(span, 7),
        endNanos: number(span, 8),
        attributes: attributes(span, 9),
        links: messages(span, 13).map((link) => ({
          traceId: bytesOf(link, 1).toString('hex'),
          spanId: bytesOf(link, 2).toString('hex'),
        })),
        failed: messages(span, 15).some((status) => number(status, 3) === 2n),
      })),
    ),
  );
}

const METRIC_TYPES = [
  ['gauge', 5],
  ['sum', 7],
  ['histogram', 9],
] as const;

export function decodeMetrics(body: Buffer): ReceivedMetric[] {
  return messages(parse(body), 1).flatMap((resourceMetrics) =>
    messages(resourceMetrics, 2).flatMap((scopeMetrics) =>
      messages(scopeMetrics, 2).flatMap((metric) =>
        METRIC_TYPES.flatMap(([type, field]) =>
          messages(metric, field).map((data) => ({
            resource: resourceOf(resourceMetrics),
            name: bytesOf(metric, 1).toString(),
            type,
            points: messages(data, 1).map((point) => ({
              attributes: attributes(point, type === 'histogram' ? 9 : 7),
              value: toDouble(number(point, 4)),
              count: Number(number(point, 4)),
              sum: toDouble(number(point, 5)),
              bucketCounts: packed(bytesOf(point, 6)).map(Number),
              bounds: packed(bytesOf(point, 7)).map(toDouble),
            })),
          })),
        ),
      ),
    ),
  );
}

function packed(bytes: Buffer): bigint[] {
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readBigUInt64LE(index * 8));
}
