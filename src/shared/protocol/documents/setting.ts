/** What the person has set, and how far they have read. */
import { choiceOf } from '../../domain/choices.ts';
import { groupOf } from '../../domain/groups.ts';
import { reachesFurther, readMarkOf } from '../../domain/read-marks.ts';
import { isSettingValue, type SettingKey } from '../../domain/settings.ts';
import { defineKind, isNewer } from './kind.ts';

const READ_TO: readonly string[] = ['runsReadTo', 'runsReadFrom'] satisfies readonly SettingKey[];

export const setting = defineKind({
  type: 'setting',
  version: 1,
  name: 'Settings',
  schema: ({ z, base }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('setting'),
        key: z
          .string()
          .describe(
            'which one: see src/shared/domain/settings.ts; for how far the person has read src/shared/domain/read-marks.ts, for what they chose for one agent src/shared/domain/choices.ts, for groups src/shared/domain/groups.ts',
          ),
        value: z.unknown().describe('a value that the setting cannot have is passed over'),
        device: z.string().optional().describe('which device of the household wrote it; left out: it was the only one'),
      })
      .describe(
        'The person set something, or has read up to somewhere. The newest good value of each key holds; of marks how far was read (`read:<agent id>`, `read-thread:<thread id>`), the furthest.',
      ),

  view: {
    store: 'settings',
    // Where this app does not know the setting, or the value is none it can have, it never holds.
    about: (doc) =>
      isSettingValue(doc.key, doc.value) || readMarkOf(doc) || choiceOf(doc) || groupOf(doc) ? doc.key : null,
    holds: 'newest',
    wins(doc, held) {
      const [mark, before] = [readMarkOf(doc), readMarkOf(held)];
      return (mark && before && reachesFurther(mark, before)) ?? isNewer(doc, held);
    },
    // How far somebody has read is no wish.
    changedBy: (doc) =>
      (isSettingValue(doc.key, doc.value) && !READ_TO.includes(doc.key)) || choiceOf(doc) || groupOf(doc)
        ? 'person'
        : null,
  },
  stream: 'people',
  whose: 'household',
  forgotten: 'with-agent',
});
