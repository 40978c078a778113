import type {
  OpenApiDocument,
  OperationObject,
  SecuritySchemeObject,
} from '../../server/src/http/docs/openapi-types.ts';
import { code } from './markdown.ts';

function findScheme(document: OpenApiDocument, name: string): SecuritySchemeObject {
  const scheme = document.components?.securitySchemes?.[name];
  if (scheme === undefined) throw new Error(`openapi: there is no security scheme ${name}`);
  return scheme;
}

/** Alternatives, each a list of schemes required together. No alternatives means a public operation. */
function listAlternatives(
  document: OpenApiDocument,
  operation: OperationObject,
): readonly (readonly SecuritySchemeObject[])[] {
  return (operation.security ?? document.security ?? [])
    .map((requirement) => Object.keys(requirement).map((name) => findScheme(document, name)))
    .filter((schemes) => schemes.length > 0);
}

function schemeText(scheme: SecuritySchemeObject): string {
  if (scheme.type === 'apiKey') return `${code(scheme.name ?? '')} ${scheme.in ?? 'header'}`;
  if (scheme.type === 'http' && scheme.scheme?.toLowerCase() === 'bearer')
    return `${code('Authorization: Bearer')} header`;
  return scheme.type === 'http' ? `HTTP ${scheme.scheme ?? ''} authentication` : scheme.type;
}

export function credentialText(document: OpenApiDocument, operation: OperationObject): string {
  const alternatives = listAlternatives(document, operation);
  if (alternatives.length === 0) return 'none';
  return alternatives.map((schemes) => schemes.map(schemeText).join(' with ')).join(' or ');
}

/**
 * curl options for the first alternative, the one used in the guides. Secrets come from environment variables, so that a
 * pasted command leaves no API key in the shell history.
 */
export function curlCredentials(document: OpenApiDocument, operation: OperationObject): readonly string[] {
  const [preferred = []] = listAlternatives(document, operation);
  return preferred.map((scheme) => {
    if (scheme.type === 'apiKey') return `-H "${scheme.name ?? 'x-api-key'}: $CAUDAL_API_KEY"`;
    if (scheme.type === 'http' && scheme.scheme?.toLowerCase() === 'basic') {
      return '-u "$CAUDAL_KEY_ID:$CAUDAL_API_KEY"';
    }
    return '-H "Authorization: Bearer $CAUDAL_ACCESS_TOKEN"';
  });
}
