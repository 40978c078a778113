import type { FastifyInstance } from 'fastify';
import { TEST_KEYS } from '../breb/directory.ts';
import { BANK_DOWN_DOCUMENT } from '../pse/create-transaction.route.ts';
import { escapeHtml, sendPage } from './html.ts';

const TEST_KEY_TEXTS: Readonly<Record<string, string>> = {
  '@TESTSUSPENDED': '0005: suspendida por el cliente / suspended by its holder',
  '@TESTNOTFOUND': '0004: no existe / does not exist',
};

export function homePage(app: FastifyInstance): void {
  const keys = [...TEST_KEYS.keys()].map((key) => {
    const text = TEST_KEY_TEXTS[key] ?? 'titular ficticio / fictional holder';
    return `<dt><code>${escapeHtml(key)}</code></dt><dd>${escapeHtml(text)}</dd>`;
  });
  const body = `<h1>Simulador de Caudal</h1>
<p>Hace de nodo Bre-B y de PSE para desarrollo y pruebas. Aquí no se mueve dinero.</p>
<p lang="en">Plays the Bre-B node and PSE for development and tests. No money moves here.</p>
<h2>Llaves / Keys</h2>
<dl>${keys.join('\n')}</dl>
<h2>Documentos / Documents (PSE)</h2>
<dl><dt><code>${BANK_DOWN_DOCUMENT}</code></dt><dd>FAIL_BANKUNREACHEABLE: banco caído / bank down</dd></dl>
<h2>Control</h2>
<p><code>/control/faults</code> · <code>/control/time</code> · <code>/control/keys/:key</code> ·
<code>/control/transactions/:reference</code> · <code>/control/stats</code></p>`;
  app.get('/', (_request, reply) => sendPage(reply, 200, 'Simulador de Caudal', body));
}
