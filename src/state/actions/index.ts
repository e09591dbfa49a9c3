/** All that the person does here, in one object. */
import { createForgetActions, type ForgetActions } from './forget.ts';
import { createHomeActions, type HomeActions } from './home.ts';
import { createTalkActions, type TalkActions } from './talk.ts';
import { createTeamActions, type TeamActions } from './team.ts';
import { createWakeActions, type WakeActions } from './wakes.ts';
import { createUpkeepActions, type UpkeepActions } from './upkeep.ts';
import type { Parts } from './parts.ts';

export type Actions = HomeActions & TeamActions & TalkActions & ForgetActions & UpkeepActions & WakeActions;

export const createActions = (parts: Parts, limits: Parameters<typeof createWakeActions>[0]['limits']): Actions => ({
  ...createHomeActions(parts),
  ...createForgetActions(parts),
  ...createUpkeepActions(parts),
  ...createTeamActions(parts),
  ...createTalkActions(parts),
  ...createWakeActions({ notices: parts.notices, limits }),
});
