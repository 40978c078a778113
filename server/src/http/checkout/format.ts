/** `$ 49.800`, or `$ 49.800,50` with cents: the Colombian format, used in both languages. */
export function moneyText(amount: bigint): string {
  const whole = (amount / 100n).toString().replace(/\B(?=(\d{3})+$)/g, '.');
  const rest = amount % 100n;
  return `$ ${whole}${rest === 0n ? '' : `,${rest.toString().padStart(2, '0')}`}`;
}

/** Groups the characters after the @ in fours, so that people can read the key aloud and compare it. */
export function groupedKey(brebKey: string): string {
  return (brebKey.startsWith('@') ? brebKey.slice(1) : brebKey)
    .replace(/(.{4})(?=.)/g, '$1 ')
    .replace(/^/, brebKey.startsWith('@') ? '@' : '');
}

/** Always in Bogotá time, wherever the payer is. */
export function bogotaTime(at: Date, language: string): string {
  return new Intl.DateTimeFormat(language, {
    timeZone: 'America/Bogota',
    dateStyle: 'long',
    timeStyle: 'short',
  }).format(at);
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

/** White or dark ink on the color; black if neither reaches the WCAG contrast ratio of 4.5 to 1. */
export function contrastColor(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  if (1.05 / luminance >= 4.5) return '#ffffff';
  return luminance / 0.0589 >= 4.5 ? '#0f172a' : '#000000';
}
