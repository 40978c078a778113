import { describe, expect, it } from 'vitest';
import { accentVariables, contrastColor } from '../../src/http/checkout/accent.ts';
import { bogotaTime, groupedKey, initials, masked, moneyText } from '../../src/http/checkout/format.ts';

describe('checkout formatting', () => {
  it.each([
    [4_980_000n, '$ 49.800'],
    [4_980_050n, '$ 49.800,50'],
    [1n, '$ 0,01'],
    [100n, '$ 1'],
    [99_999n, '$ 999,99'],
    [100_000n, '$ 1.000'],
    [100_000_000n, '$ 1.000.000'],
    [999_999_999_999n, '$ 9.999.999.999,99'],
    [0n, '$ 0'],
  ])('formats %i cents as %s', (amount, text) => {
    expect(moneyText(amount)).toBe(text.replace(' ', '\u00a0'));
  });

  it.each([
    ['@CDL01301KR96NVZ4KX8', '@CDL0 1301 KR96 NVZ4 KX8'],
    ['@ABCDEFGH', '@ABCD EFGH'],
    ['3001234567', '3001 2345 67'],
    ['@A', '@A'],
  ])('groups the key %s in fours', (key, text) => {
    expect(groupedKey(key)).toBe(text);
    expect(groupedKey(key).replaceAll(' ', '')).toBe(key);
  });

  it('shows times in the Bogotá time zone, wherever the server runs', () => {
    const at = new Date('2026-11-15T03:04:05.678Z');
    expect(bogotaTime(at, 'es-CO').replaceAll(/\s/g, ' ')).toMatch(/^14 de noviembre de 2026.*10:04/);
    expect(bogotaTime(at, 'en').replaceAll(/\s/g, ' ')).toBe('November 14, 2026 at 10:04 PM');
  });

  it.each<[string, 'name' | 'number' | 'email', string]>([
    ['Ana María Rojas', 'name', 'Ana M••• R•••'],
    ['Ana', 'name', 'Ana'],
    ['1020304050', 'number', '••••••4050'],
    ['ana@example.com', 'email', 'a•••@example.com'],
    ['a@b.co', 'email', 'a•••@b.co'],
  ])('masks %s as a %s: %s', (text, kind, shown) => {
    expect(masked(text, kind)).toBe(shown);
  });

  it('never shows a whole number, however short it is', () => {
    for (const number of ['123', '1234', '12345', '123456'])
      expect(masked(number, 'number')).not.toContain(number);
  });

  it.each([
    ['Tienda Aurora', 'TA'],
    ['aurora', 'A'],
    ['La Tienda de Ñandú', 'LT'],
    ['  ñandú   & Cía ', 'ÑC'],
    ['𝒜urora Feliz', '𝒜F'],
    ['☕', ''],
  ])('shows the initials of "%s" as %s', (name, letters) => {
    expect(initials(name)).toBe(letters);
  });
});

describe('the text color on an accent color', () => {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5]
      .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
      .map((channel) => (channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (a: string, b: string) => {
    const [dark = 0, light = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };

  it.each([
    ['#0f766e', '#ffffff'],
    ['#ffffff', '#0f172a'],
    ['#000000', '#ffffff'],
    ['#ffdd00', '#0f172a'],
    ['#dd4433', '#000000'],
  ])('on %s is %s', (accent, text) => {
    expect(contrastColor(accent)).toBe(text);
  });

  it('always has a contrast of at least 4.5 to 1', () => {
    for (let step = 0; step < 4096; step += 1) {
      const accent = `#${step.toString(16).padStart(3, '0').replaceAll(/./g, '$&$&')}`;
      expect([accent, contrast(accent, contrastColor(accent)) >= 4.5]).toEqual([accent, true]);
    }
  });

  it('S12: the button color stands out from the paper of each color scheme, and stays if it already does', () => {
    const colorsOf = (accent: string) =>
      [
        ...accentVariables(accent)
          .toString()
          .matchAll(/--accent:(#\w{6});--on-accent:(#\w{6})/g),
      ].map(([, button = '', text = '']) => ({ button, text }));
    for (let step = 0; step < 4096; step += 1) {
      const accent = `#${step.toString(16).padStart(3, '0').replaceAll(/./g, '$&$&')}`;
      const colors = colorsOf(accent);
      expect(colors).toHaveLength(2);
      for (const [index, paper] of ['#ffffff', '#131c2e'].entries()) {
        const { button = '', text = '' } = colors[index] ?? {};
        expect([accent, contrast(button, paper) >= 3, contrast(button, text) >= 4.5]).toEqual([
          accent,
          true,
          true,
        ]);
        if (contrast(accent, paper) >= 3) expect(button).toBe(accent);
      }
    }
  });
});
