import type { FastifyInstance } from 'fastify';
import { sameText } from '../credentials.ts';
import type { Deps } from '../deps.ts';
import { BANKS } from '../pse/banks.ts';
import { escapeHtml, sendPage } from './html.ts';

type BankRequest = { Params: { transactionId: string }; Querystring: { t?: string | string[] } };

/** Where PSE sends the payer. A wrong `t` looks like a transaction that never was. */
export function bankPage(app: FastifyInstance, { state }: Deps): void {
  app.get<BankRequest>('/bank/:transactionId', (request, reply) => {
    const found = state.transactions.byTransactionId.get(request.params.transactionId);
    const { t } = request.query;
    if (found === undefined || typeof t !== 'string' || !sameText(t, found.secret)) {
      return sendPage(reply, 404, 'No encontrada', '<h1>Transacción no encontrada</h1>');
    }
    const bank = BANKS.get(found.bankCode) ?? found.bankCode;
    return sendPage(
      reply,
      200,
      `${bank} (simulado)`,
      `<h1>${escapeHtml(bank)}</h1>
<p>Este banco es simulado: aquí no se mueve dinero.</p>
<dl>
<dt>Valor</dt><dd>${escapeHtml(formatPesos(found.amount))}</dd>
<dt>Descripción</dt><dd>${escapeHtml(found.description)}</dd>
<dt>CUS</dt><dd>${escapeHtml(found.trazabilityCode)}</dd>
<dt>Estado</dt><dd>${escapeHtml(found.state)}</dd>
</dl>
<p>Los botones para pagar, rechazar o cancelar llegan más adelante.</p>`,
    );
  });
}

/** Grouped on the text itself, for an amount is never turned into a float. */
function formatPesos(amount: string): string {
  const [pesos = '0', cents = '00'] = amount.split('.');
  return `COP $ ${pesos.replace(/\B(?=(\d{3})+$)/g, '.')},${cents}`;
}
