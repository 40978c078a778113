import type { Random } from '../../../chaos/src/run/random.ts';

const UUID = /^([0-9a-f]{8}-[0-9a-f]{4}-7)[0-9a-f]{3}(-[0-9a-f]{3})[0-9a-f]-[0-9a-f]{12}$/i;

/**
 * A value of the same form that does not exist. An id keeps its time and its cell: the server may read them from the id,
 * but must not reveal whether the id exists.
 */
export function unknownLike(random: Random, value: string): string {
  const hex = (length: number) => Array.from({ length }, () => random.integer(0, 15).toString(16)).join('');
  const id = UUID.exec(value);
  if (id) return `${id[1]}${hex(3)}${id[2]}${hex(1)}-${hex(12)}`;
  const half = value.length >> 1;
  const tail = value
    .slice(half)
    .replace(/[0-9]/g, () => String(random.integer(0, 9)))
    .replace(/[A-HJKMNP-TV-Z]/g, () => random.pick(['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'J', 'K']))
    .replace(/[a-z]/g, () => String.fromCharCode(97 + random.integer(0, 25)));
  const changed = value.slice(0, half) + tail;
  return changed === value ? `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}` : changed;
}
