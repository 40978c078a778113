import { EXAMPLE_ADDRESS } from '../../server/src/http/docs/site.ts';
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

/** All pages generated from code. */
export function allPages(): readonly Page[] {
  const document = openApiDocument(EXAMPLE_ADDRESS);
  return [
    ...apiPages(document, EXAMPLE_ADDRESS),
    ...errorPages(EXAMPLE_ADDRESS),
    errorCodePage(),
    eventsPage(document),
    statesPage(),
    configurationPage(),
    testValuesPage(),
    commandsPage(),
  ];
}
