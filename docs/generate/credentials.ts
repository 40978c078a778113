import type {
  OpenApiDocument,
  OperationObject,
  SecuritySchemeObject,
} from '../../server/src/http/docs/openapi-types.ts';
import { code } from './markdown.ts';

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

function schemeText(scheme: SecuritySchemeObject): string {
  if (scheme.type === 'apiKey') return `${code(scheme.name ?? '')} ${scheme.in ?? 'header'}`;
  if (scheme.type === 'http' && scheme.scheme?.toLowerCase() === 'bearer')
    return `${code('Authorization: Bearer')} header`;
  return scheme.type === 'http' ? `HTTP ${scheme.scheme ?? ''} authentication` : scheme.type;
}

export function credentialText(document: OpenApiDocument, operation: OperationObject): string {
  const alternatives = alternativesOf(document, operation);
  if (alternatives.length === 0) return 'none';
  return alternatives.map((schemes) => schemes.map(schemeText).join(' with ')).join(' or ');
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
