/** Text in the columns whose names end in `_json`; why it is kept so stands in tables.ts. */
import { z } from 'zod';

/** The text that such a column holds. Throws where it holds anything else. */
export const parseText = (json: string): string => z.string().parse(JSON.parse(json));
