import type { Language } from '../kit/error-catalogue.ts';

/** @param fallback used when the header names neither language */
export function negotiateLanguage(acceptLanguage: string | undefined, fallback: Language = 'en'): Language {
  if (!acceptLanguage) return fallback;
  let best: Language = fallback;
  let bestWeight = 0;
  for (const part of acceptLanguage.slice(0, 200).split(',')) {
    const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
    const language = tag.startsWith('es') ? 'es' : tag.startsWith('en') ? 'en' : null;
    const quality = parameters
      .map((parameter) => /^\s*q=([\d.]+)$/.exec(parameter)?.[1])
      .find((value) => value !== undefined);
    const weight = quality === undefined ? 1 : Number(quality);
    if (language && weight > bestWeight) {
      best = language;
      bestWeight = weight;
    }
  }
  return best;
}
