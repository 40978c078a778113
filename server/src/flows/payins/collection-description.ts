import { printableAscii } from '../../kit/ascii.ts';

/** No published limit was found for PSE itself; gateways in front of it document 64 characters. */
const MAX_LENGTH = 64;
const MAX_SHOP_LENGTH = 30;

/**
 * What the bank shows to the payer and prints on the statement: the shop, and what is paid for. Bank systems handle plain
 * ASCII without markup characters.
 */
export function collectionDescription(shop: string, subject: string): string {
  const name = plain(shop, MAX_SHOP_LENGTH);
  const about = plain(subject, MAX_LENGTH - name.length - 2);
  return [name, about].filter((part) => part !== '').join(': ');
}

function plain(text: string, lengthMax: number): string {
  return printableAscii(text.normalize('NFKD').replace(/[<>&"'`|\\{}[\]^~]/g, ' '), lengthMax);
}
