/**
 * Characters that show nothing or change how others are shown. With them two references look the same and differ, and a
 * name reads differently from what is stored.
 * - `Cc`: control characters, which banks and PostgreSQL reject.
 * - `Bidi_Control`: U+202E and others reorder the text around them.
 * - `Default_Ignorable_Code_Point`: soft hyphen, zero-width spaces and joiners, variation selectors, tags, Hangul fillers.
 * - `Zl`, `Zp`: line and paragraph separators.
 * - U+2800 (blank Braille pattern) and U+FFF9 to U+FFFC (annotation marks): shown as nothing by most fonts.
 */
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800\ufff9-\ufffc]/u;

/** Complete emoji as Unicode recommends them for exchange. Joiners and variation selectors are visible only as part of these. */
const EMOJI = /\p{RGI_Emoji}/gv;

/** Well-formed Unicode without invisible characters, and not blank. The empty string is left to length rules. */
export function isPlainText(value: string): boolean {
  return value.isWellFormed() && !INVISIBLE.test(value) && (value === '' || value.trim() !== '');
}

/** Like `isPlainText`, but emoji may contain joiners and variation selectors. */
export function isPlainTextWithEmoji(value: string): boolean {
  return isPlainText(value) || (value.isWellFormed() && isPlainText(value.replaceAll(EMOJI, 'x')));
}

const COPIED_ALONG = /[\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;

/** Removes what a payer cannot see and copied along, for instance from the address book of a phone. */
export function withoutInvisible(value: string): string {
  return value.replaceAll(COPIED_ALONG, '');
}
