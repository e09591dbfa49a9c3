/** Ids in schemas. The schema checks the text, and the caller names the kind of the id. */
import type { z } from 'zod';

/** The same schema, whose output is an id of that kind; see src/shared/domain/ids.ts. */
export const idOf = <Id extends string>(schema: z.ZodType<string, string>): z.ZodType<Id, Id> =>
  schema as z.ZodType<Id, Id>;
