import { html, type SafeHtml } from '../html.ts';

/** The papers of the two color schemes in the style sheet, and the color that a weak accent is mixed with. */
const LIGHT = { paper: '#ffffff', ink: '#0f172a' } as const;
const DARK = { paper: '#131c2e', ink: '#f1f5f9' } as const;

/** WCAG 1.4.11: a button must stand out from its surroundings. */
const BUTTON_CONTRAST = 3;
const TEXT_CONTRAST = 4.5;

/** The accent of a shop as CSS variables, for each color scheme. */
export function accentVariables(accent: string): SafeHtml {
  const light = readableAccent(accent, LIGHT);
  const dark = readableAccent(accent, DARK);
  return html`:root{--accent:${light};--on-accent:${contrastColor(light)}}@media (prefers-color-scheme:dark){:root{--accent:${dark};--on-accent:${contrastColor(dark)}}}`;
}

/** The accent, mixed with the ink until buttons stand out from the paper. */
function readableAccent(
  accent: string,
  { paper, ink }: { readonly paper: string; readonly ink: string },
): string {
  for (let percent = 0; percent < 100; percent += 5) {
    const mixed = mix(accent, ink, percent / 100);
    if (contrast(mixed, paper) >= BUTTON_CONTRAST) return mixed;
  }
  return ink;
}

/** White or dark ink on the color; black if neither is readable. */
export function contrastColor(color: string): string {
  return ['#ffffff', '#0f172a'].find((candidate) => contrast(color, candidate) >= TEXT_CONTRAST) ?? '#000000';
}

/** The WCAG contrast ratio of two colors, from 1 to 21. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
    const channel = value / 255;
    return channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(color: string, other: string, share: number): string {
  const others = channels(other);
  const mixed = channels(color).map((value, at) =>
    Math.round(value * (1 - share) + (others[at] ?? 0) * share),
  );
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}
