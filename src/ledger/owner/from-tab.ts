/** What tabs say to the owner, as it is read. Its types stand in `line.ts`, which a page has without the parser. */
import { z } from 'zod';
import type { FromTab, Hello } from '../line.ts';

export const helloSchema = z.object({ from: z.string(), hello: z.literal(true) }) satisfies z.ZodType<Hello>;
export const fromTabSchema = z.union([helloSchema, z.object({ from: z.string(), message: z.unknown() })]) satisfies z.ZodType<FromTab>;
