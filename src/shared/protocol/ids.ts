/**
 * Ids as schemas say them: what the text must be is the schema’s, of which kind the id is, the
 * caller’s.
 */
import type { z } from 'zod';

/** The same schema; what it lets through is an id of that kind, see src/shared/domain/ids.ts. */
export const idOf = <Id extends string>(schema: z.ZodType<string, string>): z.ZodType<Id, Id> =>
  schema as z.ZodType<Id, Id>;
