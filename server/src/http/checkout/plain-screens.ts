import { html, type SafeHtml } from '../html.ts';
import { CLOCK, NOT_FOUND } from './icons.ts';
import type { Messages } from './messages.ts';

/** A URL that leads to no link: chat apps cut long links, so the payer can paste the complete one. */
export function unknownLink({ unknown }: Messages, prefix: string): SafeHtml {
  return html`${NOT_FOUND}<h1>${unknown.title}</h1><p>${unknown.about}</p>
<form method="get" action="${prefix}/l"><p class="field"><label for="link">${unknown.paste}</label>
<input id="link" name="link" type="text" inputmode="url" autocomplete="off" required maxlength="500"></p>
<p class="last"><button class="button quiet">${unknown.open}</button></p></form>`;
}

/** The path of a payer page in pasted text, or null. The host is ignored: only pages of this service can be opened. */
export function pastedPath(text: string, prefix: string): string | null {
  const [, kind, token] = /\/(l|p|r)\/([\w-]{50})(?![\w-])/.exec(text) ?? [];
  return kind === undefined || token === undefined ? null : `${prefix}/${kind}/${token}`;
}

/** Repeats a rejected form with everything typed. The script counts down on the button. */
export function retryScreen(
  { busy }: Messages,
  action: string,
  { seconds, values }: { readonly seconds: number; readonly values: Readonly<Record<string, string>> },
): SafeHtml {
  const fields = Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${CLOCK}<h1>${busy.title}</h1><p>${busy.about}</p>
<form method="post" action="${action}">${fields}<p><button class="button" data-retry="${seconds}" data-retry-in="${busy.againIn}">${busy.again}</button></p></form>`;
}
