import { BlockList } from 'node:net';
import { parseAddress, parseNetwork } from '../kit/ip-network.ts';

/** The addresses that an API key may be used from. */
export class AllowedAddresses {
  readonly #list = new BlockList();

  /** @param networks CIDR networks */
  constructor(networks: readonly string[]) {
    for (const text of networks) {
      const network = parseNetwork(text);
      if (!network) throw new Error(`"${text}" is not a network`);
      this.#list.addSubnet(network.address, network.prefix, network.family);
    }
  }

  includes(text: string): boolean {
    const parsed = parseAddress(text);
    return parsed !== null && this.#list.check(parsed.address, parsed.family);
  }
}
