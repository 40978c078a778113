import { hmac, type SecretKey } from './crypto.ts';
import { parseAddress, truncateAddress } from './ip-network.ts';

/** How log lines contain the address of a client. */
export const ADDRESS_LOGGING = ['plain', 'truncated', 'hashed'] as const;
export type AddressLogging = (typeof ADDRESS_LOGGING)[number];

/** @returns the function that turns a client address into its form in the log; null for a text that is no IP address */
export function addressFormatter(
  logging: AddressLogging,
  key: SecretKey,
): (address: string) => string | null {
  switch (logging) {
    case 'plain':
      return (address) => parseAddress(address)?.address ?? null;
    case 'truncated':
      return truncateAddress;
    case 'hashed':
      return (address) => {
        const parsed = parseAddress(address);
        return parsed && hmac(key, parsed.address).toString('hex').slice(0, 16);
      };
  }
}
