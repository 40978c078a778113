import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/**
 * All rules of axe. Without legacy mode every scan opens a second page and describes every element that passes. It is
 * only needed for frames of other origins, and no page has frames.
 */
export function axe(page: Page): AxeBuilder {
  return new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] });
}
