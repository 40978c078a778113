import { html, type SafeHtml } from '../html.ts';
import {
  bankQuestionScreen,
  closingScreen,
  endedScreen,
  heldMoneyScreen,
  linkExpiredScreen,
  openingScreen,
  otherPayerScreen,
  pendingScreen,
  toBankScreen,
  underpaidScreen,
} from './attempt-screens.ts';
import { bankScreen } from './bank-screen.ts';
import { alreadyPaidScreen, confirmedScreen } from './confirmed-screen.ts';
import { declineTexts } from './decline-texts.ts';
import { detailsScreen } from './details-screen.ts';
import { EXPIRED } from './icons.ts';
import { keyScreen } from './key-screen.ts';
import type { RenderContext } from './render-context.ts';
import type { Screen } from './screen.ts';
import { back, formatShopMessage } from './shop-contact.ts';
import { methodScreen, startScreen, unavailableScreen } from './start-screens.ts';
import { suspendedScreen } from './suspended-screen.ts';

export function renderScreen(screen: Screen, context: RenderContext): SafeHtml {
  const { messages } = context;
  switch (screen.kind) {
    case 'method':
      return methodScreen(context);
    case 'start':
      return startScreen(context);
    case 'bank':
      return bankScreen(context, screen.next);
    case 'details':
      return detailsScreen(context, screen);
    case 'opening':
      return openingScreen(context, screen.attempt);
    case 'to_bank':
      return toBankScreen(context, screen.attempt);
    case 'bank_question':
      return bankQuestionScreen(context, screen.attempt);
    case 'pending':
      return pendingScreen(context, screen.attempt);
    case 'other_payer':
      return otherPayerScreen(context, screen.attempt);
    case 'key':
      return keyScreen(context, screen.attempt);
    case 'closing':
      return closingScreen(context, screen.attempt);
    case 'underpaid':
      return underpaidScreen(context, screen.attempt);
    case 'held_money':
      return heldMoneyScreen(context, screen.canRetry);
    case 'confirmed':
      return confirmedScreen(context, screen.attempt);
    case 'declined': {
      const { title, reason } = declineTexts(context, screen.attempt);
      return endedScreen(context, { ...messages.declined, title }, reason, screen.attempt);
    }
    case 'canceled':
      return endedScreen(context, messages.canceled, null, screen.attempt);
    case 'never_sent':
      return endedScreen(
        context,
        { ...messages.canceled, title: messages.neverSent.title },
        messages.neverSent.about,
        screen.attempt,
      );
    case 'key_expired':
      return endedScreen(context, messages.keyExpired, null, screen.attempt);
    case 'already_paid':
      return alreadyPaidScreen(context, screen.attempt);
    case 'unavailable':
      return unavailableScreen(context);
    case 'suspended':
      return suspendedScreen(context);
    case 'link_expired':
      return linkExpiredScreen(context);
    case 'payin_expired':
      return html`${EXPIRED}<h1>${messages.payinExpired.title}</h1><p>${formatShopMessage(context, messages.payinExpired.about)}</p>${back(context, true)}`;
  }
}
