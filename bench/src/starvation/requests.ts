import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Organization } from '../stage/new-organizations.ts';

const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Just below the limit of a body. */
const BODY_BYTES = 65_000;

export function read(path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}\r\n`;
}

/** A body of unknown fields, as long as a body may be. */
export function bigBody(apiKey: string): string {
  let members = '"a":1';
  for (let index = 0; members.length < BODY_BYTES; index += 1) members += `,"f${index}":1`;
  const body = `{${members}}`;
  return `POST /payins HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${apiKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** Well-formed keys with the checksum that anybody can compute. */
export function madeUpKeys(count: number): string[] {
  return Array.from({ length: count }, () => {
    const body = `cdl_test_01${random(BASE32, 14)}_${random(BASE62, 43)}`;
    return body + checksum(body);
  });
}

function random(alphabet: string, length: number): string {
  return [...randomBytes(length)].map((byte) => alphabet.charAt(byte % alphabet.length)).join('');
}

function checksum(body: string): string {
  let text = '';
  for (let rest = crc32(body); text.length < 6; rest = Math.floor(rest / 62))
    text = BASE62.charAt(rest % 62) + text;
  return text;
}

/** Access tokens that no process has seen: their first use needs a lookup. */
export async function freshTokens(port: number, { apiKey }: Organization, count: number): Promise<string[]> {
  const tokens: string[] = [];
  const keyId = apiKey.split('_')[2] ?? '';
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: keyId,
    client_secret: apiKey,
  });
  while (tokens.length < count) {
    const answer = await fetch(`http://127.0.0.1:${port}/oauth/token`, { method: 'POST', body: form });
    if (answer.status === 429) continue;
    if (answer.status !== 200) throw new Error(`/oauth/token answered ${answer.status}`);
    tokens.push(((await answer.json()) as { access_token: string }).access_token);
  }
  return tokens;
}
