/** 1 to 120 printable characters: no control, invisible or direction-changing characters, no line breaks. */
const AUTHOR = /^[^\p{C}\p{Zl}\p{Zp}]{1,120}$/u;

export const AUTHOR_RULE = 'a name of 1 to 120 printable characters, without spaces around it';

/** Whether a text can name the author of an operator's action. */
export function isAuthor(text: string): boolean {
  return AUTHOR.test(text) && text.trim() === text;
}
