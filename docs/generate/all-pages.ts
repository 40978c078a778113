import { openApiDocument } from '../../server/src/http/openapi.ts';
import { apiPages } from './api-pages.ts';
import { commandsPage } from './commands-page.ts';
import { configurationPage } from './configuration-page.ts';
import { errorCodePage } from './error-code-page.ts';
import { errorPages } from './error-pages.ts';
import { eventsPage } from './events-page.ts';
import type { Page } from './page.ts';
import { statesPage } from './states-page.ts';
import { testValuesPage } from './test-values-page.ts';

/** Base URL of `npm run dev`, used in the guides. */
const BASE_URL = 'http://127.0.0.1:8080';

/** All pages generated from code. */
export function allPages(): readonly Page[] {
  const document = openApiDocument(BASE_URL);
  return [
    ...apiPages(document, BASE_URL),
    ...errorPages(BASE_URL),
    errorCodePage(),
    eventsPage(document),
    statesPage(),
    configurationPage(),
    testValuesPage(),
    commandsPage(),
  ];
}
