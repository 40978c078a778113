import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  activeTrace,
  activeTracesOf,
  formatTraceparent,
  packTraceContext,
  parseTraceparent,
  runInTrace,
  runInTraces,
  unpackTraceContext,
} from '../../src/kit/trace-context.ts';

const nextTick = promisify(setImmediate);
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const CONTEXT = { traceId: TRACE, spanId: SPAN };

describe('parseTraceparent', () => {
  it.each([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-03`, true],
    [`01-${TRACE}-${SPAN}-01`, true],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-adds`, true],
  ])('accepts %s', (header, sampled) => {
    expect(parseTraceparent(header)).toEqual({ ...CONTEXT, sampled });
  });

  it.each([
    '',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\n`,
    `01-${TRACE}-${SPAN}-01-${'x'.repeat(500)}`,
  ])('treats the invalid header %j like a missing one', (header) => {
    expect(parseTraceparent(header)).toBeNull();
  });

  it('treats a repeated header like a missing one', () => {
    expect(parseTraceparent([`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`])).toBeNull();
    expect(parseTraceparent(undefined)).toBeNull();
  });
});

describe('the stored form of a trace context', () => {
  it('has 25 bytes and is read back', () => {
    const stored = packTraceContext(CONTEXT);
    expect(stored).toHaveLength(25);
    expect(unpackTraceContext(stored)).toEqual(CONTEXT);
    expect(formatTraceparent(CONTEXT)).toBe(`00-${TRACE}-${SPAN}-01`);
  });

  it('is null for an operation that is not sampled, and for other bytes', () => {
    expect(packTraceContext(null)).toBeNull();
    expect(unpackTraceContext(null)).toBeNull();
    expect(unpackTraceContext(Buffer.alloc(24))).toBeNull();
  });
});

describe('the active trace', () => {
  it('ends with the operation and follows it across asynchronous calls', async () => {
    expect(activeTrace()).toBeNull();
    await runInTrace(CONTEXT, async () => {
      await nextTick();
      expect(activeTrace()).toEqual(CONTEXT);
    });
    expect(activeTrace()).toBeNull();
  });

  it('gives each item of a batch its own trace, and none to items that are not sampled', () => {
    const items = [
      { reference: 'a', traceContext: packTraceContext(CONTEXT) },
      { reference: 'b', traceContext: null },
    ];
    const traces = runInTraces(items, () => activeTracesOf(['b', 'a', 'c']));
    expect(traces).toEqual([null, CONTEXT, null]);
  });

  it('is not inherited by a batch without sampled items that a sampled request starts', () => {
    const traces = runInTrace(CONTEXT, () =>
      runInTraces([{ reference: 'b', traceContext: null }], () => activeTracesOf(['b'])),
    );
    expect(traces).toEqual([]);
  });
});
