import { z } from 'zod';

export const secret = (description: string) =>
  z.string().min(32, 'at least 32 characters').describe(description);
export const integer = (min: number, max: number, description: string) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .describe(description);
export const port = (description: string) => integer(0, 65_535, description);
export const url = (description: string) =>
  z
    .url({ protocol: /^https?$/ })
    .transform((value) => value.replace(/\/+$/, ''))
    .describe(description);
export const yesOrNo = (byDefault: 'yes' | 'no', description: string) =>
  z.enum(['yes', 'no']).default(byDefault).describe(description);
export const network = (description: string) =>
  z
    .string()
    .regex(/^[A-Z0-9]{2,6}$/)
    .default('CRB')
    .describe(description);
/** A comma in the host or in the parameter `host`; user names and passwords may contain one. */
const SEVERAL_HOSTS = /^[a-z]+:\/\/(?:[^/?#]*@)?[^@/?#]*,[^@/?#]*(?:[/?#]|$)|[?&]host=[^&#]*,/;
export const postgresUrl = (description: string) =>
  z
    .string()
    .refine((value) => !SEVERAL_HOSTS.test(value), {
      error: 'names several hosts; the driver connects to one: use the address of HAProxy or of the primary',
      abort: true,
    })
    .pipe(z.url({ protocol: /^postgres(ql)?$/ }))
    .describe(description);
