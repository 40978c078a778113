import { expect, it } from 'vitest';
import { type Message, MessageReader } from '../src/server-sent-events.ts';

/** Parses a text split into chunks of `size` bytes. */
function read(text: string, size: number): Message[] {
  const bytes = new TextEncoder().encode(text);
  const reader = new MessageReader();
  const messages: Message[] = [];
  for (let at = 0; at < bytes.length; at += size) messages.push(...reader.read(bytes.slice(at, at + size)));
  return messages;
}

const SIZES = [1, 2, 3, 5, 1000];

it.each(SIZES)('Messages in chunks of %i bytes are parsed, including multi-byte characters', (size) => {
  const text = 'retry: 2000\n\nid: 1\nevent: a\ndata: {"name":"Muñoz ✓"}\n\n:\n\nid: 2\ndata: two\n\n';
  expect(read(text, size)).toEqual([
    { id: '1', data: '{"name":"Muñoz ✓"}' },
    { id: '2', data: 'two' },
  ]);
});

it.each(SIZES)('Lines may end in CR, LF or CRLF, in chunks of %i bytes', (size) => {
  expect(read('id: 1\r\ndata: a\r\ndata: aa\r\n\r\nid: 2\rdata: b\r\rid: 3\ndata: c\n\n', size)).toEqual([
    { id: '1', data: 'a\naa' },
    { id: '2', data: 'b' },
    { id: '3', data: 'c' },
  ]);
});

it.each(SIZES)('Data lines are joined, in chunks of %i bytes', (size) => {
  expect(read('id: 1\ndata: a\ndata:b\ndata:  c\ndata\n\n', size)).toEqual([{ id: '1', data: 'a\nb\n c\n' }]);
});

it('Comments, unknown fields, messages without data and unfinished messages are ignored', () => {
  expect(read(': hello\n\nfoo: bar\n\nid: 9\n\ndata: a\nx\n\ndata: never ended', 4)).toEqual([
    { id: '9', data: 'a' },
  ]);
});
