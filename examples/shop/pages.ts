import type { Order } from './orders.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

function page(title: string, body: string, refresh = false): string {
  return `<!doctype html><html lang="es-CO"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">${refresh ? '<meta http-equiv="refresh" content="2">' : ''}
<title>${escaped(title)}</title>
<style>
body { font: 1.125rem/1.5 system-ui, sans-serif; max-width: 28rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
button, .button { font: inherit; padding: .75rem 1.5rem; border: 0; border-radius: .5rem; background: #0f766e; color: #fff; text-decoration: none; display: inline-block }
</style>
<h1>${escaped(title)}</h1>${body}</html>`;
}

export interface Item {
  readonly id: string;
  readonly name: string;
  readonly pesos: number;
}

export function itemsPage(items: readonly Item[]): string {
  const forms = items.map(
    ({ id, name, pesos }) =>
      `<form method="post" action="/orders"><p>${escaped(name)}, ${price(pesos)}</p><input type="hidden" name="item" value="${id}"><button>Comprar</button></form>`,
  );
  return page('Tienda Aurora', forms.join(''));
}

/** The page the payer returns to. It shows the state in the shop's database, not URL parameters. */
export function orderPage({ id, item, pesos, state, link }: Order): string {
  const what = `<p>${escaped(item)}, ${price(pesos)}. Pedido ${escaped(id)}.</p>`;
  if (state === 'paid') return page('Pago recibido', `${what}<p>Gracias. Ya lo estamos empacando.</p>`);
  if (state === 'expired')
    return page(
      'El plazo para pagar venció',
      `${what}<form method="post" action="/orders/${encodeURIComponent(id)}/pay"><button>Pagar ahora</button></form>`,
    );
  return page(
    'Esperando su pago',
    `${what}<p>Esta página se actualiza sola.</p>${link ? `<p><a class="button" href="${escaped(link)}">Ir a pagar</a></p>` : ''}`,
    true,
  );
}

export function problemPage(title: string): string {
  return page(title, '<p><a href="/">Volver a la tienda</a></p>');
}

function price(pesos: number): string {
  return `$ ${pesos.toLocaleString('es-CO')}`;
}
