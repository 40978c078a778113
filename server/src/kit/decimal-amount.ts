import { z } from 'zod';

/** Schema of an amount as the rails send it: pesos with two decimals, such as `49800.00`. */
export const decimalAmount = z.string().regex(/^\d{1,15}\.\d{2}$/);
