import { t } from '../../language/t.ts';

/** What agents do for a person. The first page shows them, and a conversation offers them. */
export const EXAMPLES: readonly string[] = [
  t`Plan five dinners for this week, with a shopping list.`,
  t`Each weekday at 8:00, tell me what is new at example.org.`,
  t`Look at my project and list what is unclear in its README.`,
];
