import type { Operation } from './openapi.ts';

/**
 * The operation that a request line addresses, or null. It reads the path as RFC 3986 does: each segment is decoded once,
 * and an empty segment or a malformed escape matches nothing. HEAD is answered like GET.
 */
export function findOperation(
  operations: readonly Operation[],
  method: string,
  target: string,
): Operation | null {
  const segments = decodeSegments(target);
  if (segments === null) return null;
  const asked = method === 'HEAD' ? 'GET' : method;
  const fitting = operations.filter(
    (operation) =>
      operation.method === asked &&
      operation.segments.length === segments.length &&
      operation.segments.every((segment, index) => segment.startsWith('{') || segment === segments[index]),
  );
  // `/events/stream` also fits `/events/{id}`: the path with more fixed segments wins.
  return fitting.sort((one, other) => countParameters(one) - countParameters(other))[0] ?? null;
}

/** A dot segment, a backslash, or a percent-encoded character that a path may hold as it is: such a path is no route. */
const OTHER_SPELLING = /\/\.{1,2}(?:\/|$)|\\|%(?:2[def]|3[0-9]|4[1-9a-f]|5[0-9acf]|6[1-9a-f]|7[0-9a])/i;

function countParameters({ segments }: Operation): number {
  return segments.filter((segment) => segment.startsWith('{')).length;
}

function decodeSegments(target: string): string[] | null {
  const [path = ''] = target.split(/[?#]/, 1);
  if (!path.startsWith('/') || OTHER_SPELLING.test(path)) return null;
  try {
    const segments = path.slice(1).split('/').map(decodeURIComponent);
    return segments.includes('') ? null : segments;
  } catch {
    return null;
  }
}
