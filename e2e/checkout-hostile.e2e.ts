import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutStage } from './checkout-stage.ts';
import { hostileStrings } from './hostile-strings.ts';

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await CheckoutStage.open();
});
afterAll(() => stage?.close());

describe('hostile strings', () => {
  it('in reference, description and customer run no script and violate no policy', async () => {
    const strings = hostileStrings();
    expect(strings.length).toBeGreaterThanOrEqual(100);
    const page = await stage.payer();
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    let shown = 0;
    for (const [index, text] of strings.entries()) {
      const link = await stage.stack.api.post('/payment-links', {
        amountType: 'FIXED',
        amountInCents: 100,
        reference: `${text.slice(0, 240)}${index}`,
        callbackUrl: stage.shopUrl,
        description: text.slice(0, 200),
        rail: 'BRE_B',
        inlineCustomer: {
          name: text.slice(0, 120),
          idType: 'CO_CC',
          idNumber: '1020304050',
          phone: '+573001234567',
          email: 'ana@example.com',
        },
      });
      // The API rejects strings that are not valid text.
      if (link.status !== 201) {
        expect(link.status).toBe(400);
        continue;
      }
      await page.goto(String(link.body['paymentLinkUrl']));
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      expect(await page.locator('.about').textContent()).toBe(text.slice(0, 200));
      shown += 1;
    }
    expect(shown).toBeGreaterThanOrEqual(90);
    expect(dialogs).toEqual([]);
    expect(stage.browserErrors).toEqual([]);
  });

  it('typed by a payer are returned unchanged and run no script', async () => {
    const page = await stage.payer();
    for (const text of hostileStrings().slice(0, 25)) {
      await page.goto(`${(await stage.link()).url}?m=PSE&bank=CO_NEQUI&personType=INDIVIDUAL`);
      const typed = text.replaceAll(/[\r\n]/g, ' ').slice(0, 100);
      await page.locator('#name').fill(typed);
      await page.locator('#email').fill(`${typed}@x`);
      await page.locator('form .button').click();
      await page.locator('.wrong').waitFor();
      expect(await page.locator('#name').inputValue()).toBe(typed);
      expect(await page.evaluate('window.hacked')).toBeUndefined();
    }
    expect(stage.browserErrors).toEqual([]);
  });
});
