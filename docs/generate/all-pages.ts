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

/** Where `npm run dev` listens: what the guides show. */
const BASE_URL = 'http://127.0.0.1:8080';

/** Every page that is made from code. */
export function allPages(): readonly Page[] {
  return [
    ...apiPages(openApiDocument(BASE_URL), BASE_URL),
    ...errorPages(BASE_URL),
    errorCodePage(),
    eventsPage(),
    statesPage(),
    configurationPage(),
    testValuesPage(),
    commandsPage(),
  ];
}
