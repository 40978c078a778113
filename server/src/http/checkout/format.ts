/**
 * `$ 49.800`, or `$ 49.800,50` with cents: the Colombian format, used in both languages. A no-break space keeps it on one
 * line. The page that verifies receipts sends this function to the browser, so it uses nothing outside itself.
 */
export function moneyText(amount: bigint): string {
  const whole = (amount / 100n).toString().replace(/\B(?=(\d{3})+$)/g, '.');
  const rest = amount % 100n;
  return `$\u00a0${whole}${rest === 0n ? '' : `,${rest.toString().padStart(2, '0')}`}`;
}

/** Groups the characters after the @ in fours, so that people can read the key aloud and compare it. */
export function groupedKey(brebKey: string): string {
  return (brebKey.startsWith('@') ? brebKey.slice(1) : brebKey)
    .replace(/(.{4})(?=.)/g, '$1 ')
    .replace(/^/, brebKey.startsWith('@') ? '@' : '');
}

/** Always in Bogotá time, wherever the payer is. Sent to the browser like `moneyText`. */
export function bogotaTime(at: Date, language: string): string {
  const text = new Intl.DateTimeFormat(language, {
    timeZone: 'America/Bogota',
    dateStyle: 'long',
    timeStyle: 'short',
  }).format(at);
  // `10:04 p. m.` stays on one line.
  return text.replace(/\d+:\d\d.*$/, (time) => time.replaceAll(/\s/g, '\u00a0'));
}

/** `Ana M••• R•••`, `••••••4050`, `a•••@example.com`: recognizable for the payer, useless to others. */
export function masked(text: string, kind: 'name' | 'number' | 'email'): string {
  if (kind === 'number') {
    // Document numbers may have only three characters: show at most half.
    const hidden = text.length - Math.min(4, Math.floor(text.length / 2));
    return '•'.repeat(hidden) + text.slice(hidden);
  }
  if (kind === 'email') return text.replace(/^(.)[^@]*/, '$1•••');
  return text
    .split(' ')
    .map((word, index) => (index === 0 ? word : `${word.slice(0, 1)}•••`))
    .join(' ');
}

/** Up to two letters, shown in place of a shop logo. */
export function initials(name: string): string {
  const words = name.split(/\s+/u).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  return words
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0x20).toUpperCase())
    .join('');
}
