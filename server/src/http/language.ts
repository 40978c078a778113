import type { Language } from '../kit/error-catalogue.ts';

/** @param otherwise for a reader who names neither language */
export function languageOf(acceptLanguage: string | undefined, otherwise: Language = 'en'): Language {
  if (!acceptLanguage) return otherwise;
  let best: Language = otherwise;
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
