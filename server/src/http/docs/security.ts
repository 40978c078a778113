import { html, type SafeHtml } from '../html.ts';
import type { OpenApiDocument, OperationObject, SecuritySchemeObject } from './openapi-types.ts';

function schemeNamed(document: OpenApiDocument, name: string): SecuritySchemeObject {
  const scheme = document.components?.securitySchemes?.[name];
  if (scheme === undefined) throw new Error(`openapi: no security scheme is called ${name}`);
  return scheme;
}

/** Alternatives, each a list of schemes needed together. An empty list of alternatives means public. */
function alternativesOf(
  document: OpenApiDocument,
  operation: OperationObject,
): readonly (readonly SecuritySchemeObject[])[] {
  return (operation.security ?? document.security ?? [])
    .map((requirement) => Object.keys(requirement).map((name) => schemeNamed(document, name)))
    .filter((schemes) => schemes.length > 0);
}

export function schemeMarkup(scheme: SecuritySchemeObject): SafeHtml {
  if (scheme.type === 'apiKey') return html`<code>${scheme.name}</code> ${scheme.in}`;
  if (scheme.type === 'http' && scheme.scheme?.toLowerCase() === 'bearer') {
    return html`<code>Authorization: Bearer</code> header`;
  }
  if (scheme.type === 'http') return html`HTTP ${scheme.scheme} authentication`;
  if (scheme.type === 'oauth2') return html`OAuth 2 bearer token`;
  return html`${scheme.type}`;
}

export function securityMarkup(document: OpenApiDocument, operation: OperationObject): SafeHtml {
  const alternatives = alternativesOf(document, operation);
  if (alternatives.length === 0) return html`none`;
  return html`${alternatives.map((schemes, index) => [
    index > 0 && ' or ',
    schemes.map((scheme, position) => [position > 0 && ' with ', schemeMarkup(scheme)]),
  ])}`;
}

/**
 * curl's options for the first alternative, which is the one the guides show. Secrets are read from the
 * environment, so that a pasted command leaves no key in the shell's history.
 */
export function curlCredentials(document: OpenApiDocument, operation: OperationObject): readonly string[] {
  const [preferred = []] = alternativesOf(document, operation);
  return preferred.map((scheme) => {
    if (scheme.type === 'apiKey') return `-H "${scheme.name ?? 'x-api-key'}: $CAUDAL_API_KEY"`;
    if (scheme.type === 'http' && scheme.scheme?.toLowerCase() === 'basic') {
      return '-u "$CAUDAL_KEY_ID:$CAUDAL_API_KEY"';
    }
    return '-H "Authorization: Bearer $CAUDAL_ACCESS_TOKEN"';
  });
}
