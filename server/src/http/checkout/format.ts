/** `$ 49.800`, or `$ 49.800,50` where there are cents: as people and banks in Colombia write it, in either language. */
export function moneyText(amount: bigint): string {
  const whole = (amount / 100n).toString().replace(/\B(?=(\d{3})+$)/g, '.');
  const rest = amount % 100n;
  return `$ ${whole}${rest === 0n ? '' : `,${rest.toString().padStart(2, '0')}`}`;
}

/** In fours behind the @, so that it can be read aloud and compared. */
export function groupedKey(key: string): string {
  return (key.startsWith('@') ? key.slice(1) : key)
    .replace(/(.{4})(?=.)/g, '$1 ')
    .replace(/^/, key.startsWith('@') ? '@' : '');
}

/** Of Bogotá, whoever reads it. */
export function bogotaTime(at: Date, language: string): string {
  return new Intl.DateTimeFormat(language, {
    timeZone: 'America/Bogota',
    dateStyle: 'long',
    timeStyle: 'short',
  }).format(at);
}

/** `Ana M*** R***`, `******4050`, `a***@example.com`: enough to recognise oneself, too little for a stranger. */
export function masked(text: string, kind: 'name' | 'number' | 'email'): string {
  if (kind === 'number') {
    // Documents may be as short as three characters: never more than half of one.
    const hidden = text.length - Math.min(4, Math.floor(text.length / 2));
    return '•'.repeat(hidden) + text.slice(hidden);
  }
  if (kind === 'email') return text.replace(/^(.)[^@]*/, '$1•••');
  return text
    .split(' ')
    .map((word, index) => (index === 0 ? word : `${word.slice(0, 1)}•••`))
    .join(' ');
}

/** Two letters for the disc of a shop without a logo. */
export function initials(name: string): string {
  const words = name.split(/\s+/u).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  return words
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0x20).toUpperCase())
    .join('');
}

/** White or ink on the colour; black where neither reaches the 4.5 to 1 that people with weak sight need. */
export function textOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  if (1.05 / light >= 4.5) return '#ffffff';
  return light / 0.0589 >= 4.5 ? '#0f172a' : '#000000';
}
