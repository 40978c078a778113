import type { Environment } from '../kit/environment.ts';
import { type JudgedAddress, judgeAddress } from '../kit/given-address.ts';

/** Where a payer is sent back to. */
export function judgeCallbackUrl(text: string, environment: Environment): JudgedAddress {
  return judgeAddress(text, ({ protocol, hostname }) => {
    const local = environment !== 'production' && protocol === 'http:' && isLoopback(hostname);
    return protocol === 'https:' || local ? [] : ['https'];
  });
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
