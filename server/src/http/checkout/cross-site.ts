import type { PageRequest } from './page-request.ts';

/**
 * Whether another site submitted the form. Browsers of the last years say so in `Sec-Fetch-Site`; older ones and web views
 * send only `Origin`. `Origin: null` proves nothing: browsers send it for our own forms too, because our pages send no
 * referrer. Clients that send neither are left to the secret URL.
 */
export function isCrossSite({ headers }: PageRequest, checkoutUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin, host } = headers;
  if (origin === undefined || origin === 'null') return false;
  if (origin === new URL(checkoutUrl).origin) return false;
  // The page may have been opened under another name of this host; another site cannot choose the host header.
  return !URL.canParse(origin) || new URL(origin).host !== host;
}
