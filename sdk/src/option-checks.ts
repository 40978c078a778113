// Checks of options for programs without type checks. All throw TypeError with the name of the option and what it got.

/** @param what the function whose options are checked, for the message: `new Caudal` */
export function checkNames(what: string, options: unknown, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError(`${what} takes an object with options, not ${describe(options)}`);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`${what} has no option ${unknown}; it has ${names.join(', ')}`);
}

function checkInteger(name: string, value: unknown, min: number, max: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
    throw new TypeError(`${name} must be an integer from ${min} to ${max}, not ${describe(value)}`);
  return value;
}

export function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function')
    throw new TypeError(`${name} must be a function, not ${describe(value)}`);
}

/** Names the type, and the value when it cannot be a secret. */
export function describe(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'string') return value === '' ? 'an empty string' : 'a string';
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

/** `setTimeout` fires at once when the time is longer than this. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_RETRIES = 100;

export function checkTimeout(value: unknown): number {
  return checkInteger('timeoutMs', value, 1, MAX_TIMEOUT_MS);
}

export function checkRetries(value: unknown): number {
  return checkInteger('maxRetries', value, 0, MAX_RETRIES);
}
