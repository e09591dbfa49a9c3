/** Every step the store has taken. A step that was released is never edited: a change is a new step. */
import type { Migration } from 'kysely';
import { first } from './steps/0001-first.ts';
import { reach } from './steps/0002-reach.ts';
import { sync } from './steps/0003-sync.ts';
import { homes } from './steps/0004-homes.ts';
import { grants } from './steps/0005-grants.ts';
import { pageKeys } from './steps/0006-page-keys.ts';
import { quotas } from './steps/0007-quotas.ts';
import { records } from './steps/0008-records.ts';
import { reserves } from './steps/0009-reserves.ts';
import { configVersion } from './steps/0010-config-version.ts';
import { mcpSessions } from './steps/0011-mcp-sessions.ts';
import { schedules } from './steps/0012-schedules.ts';
import { night } from './steps/0013-night.ts';
import { moving } from './steps/0014-moving.ts';
import { hands } from './steps/0015-hands.ts';
import { models } from './steps/0016-models.ts';
import { attached } from './steps/0017-attached.ts';
import { scheduleWords } from './steps/0018-schedule-words.ts';
import { scriptGroups } from './steps/0019-script-groups.ts';
import { places } from './steps/0020-places.ts';
import { notifications } from './steps/0021-notifications.ts';
import { programs } from './steps/0022-programs.ts';
import { attachedRecords } from './steps/0023-attached-records.ts';
import { deviceCodes } from './steps/0024-device-codes.ts';
import { notificationOrder } from './steps/0025-notification-order.ts';
import { pushContact } from './steps/0026-push-contact.ts';
import { programSessions } from './steps/0027-program-sessions.ts';
import { wakeCalls } from './steps/0028-wake-calls.ts';
import { keptAnswers } from './steps/0029-kept-answers.ts';
import { signInFamilies } from './steps/0030-sign-in-families.ts';

export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first': first,
  '0002-reach': reach,
  '0003-sync': sync,
  '0004-homes': homes,
  '0005-grants': grants,
  '0006-page-keys': pageKeys,
  '0007-quotas': quotas,
  '0008-records': records,
  '0009-reserves': reserves,
  '0010-config-version': configVersion,
  '0011-mcp-sessions': mcpSessions,
  '0012-schedules': schedules,
  '0013-night': night,
  '0014-moving': moving,
  '0015-hands': hands,
  '0016-models': models,
  '0017-attached': attached,
  '0018-schedule-words': scheduleWords,
  '0019-script-groups': scriptGroups,
  '0020-places': places,
  '0021-notifications': notifications,
  '0022-programs': programs,
  '0023-attached-records': attachedRecords,
  '0024-device-codes': deviceCodes,
  '0025-notification-order': notificationOrder,
  '0026-push-contact': pushContact,
  '0027-program-sessions': programSessions,
  '0028-wake-calls': wakeCalls,
  '0029-kept-answers': keptAnswers,
  '0030-sign-in-families': signInFamilies,
};
