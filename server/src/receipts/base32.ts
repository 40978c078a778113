/** Crockford's base32 of bytes: QR codes store its characters in 5.5 bits, and every character is safe in a URL. */
export function encodeBase32(bytes: Uint8Array): string {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet.charAt((value >>> (bits - 5)) & 31);
  }
  return bits > 0 ? text + alphabet.charAt((value << (5 - bits)) & 31) : text;
}

/** The page of `/verificar` runs the source text of this function: it must not refer to anything outside of itself. */
export function decodeBase32(text: string): Uint8Array | null {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  const bytes = new Uint8Array(Math.floor((text.length * 5) / 8));
  let bits = 0;
  let value = 0;
  let at = 0;
  for (let index = 0; index < text.length; index += 1) {
    const digit = alphabet.indexOf(text.charAt(index));
    if (digit < 0) return null;
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at] = (value >>> bits) & 0xff;
      at += 1;
    }
  }
  return bytes;
}
