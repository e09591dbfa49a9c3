/** What a tab may say on a line, as the owner reads it. */
import { z } from 'zod';
import type { FromTab, Hello } from '../line.ts';

export const helloSchema: z.ZodType<Hello> = z.object({ from: z.string(), hello: z.literal(true) });
export const fromTabSchema: z.ZodType<FromTab> = z.union([
  helloSchema,
  z.object({ from: z.string(), message: z.unknown() }),
]);
