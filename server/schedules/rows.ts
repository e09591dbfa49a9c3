/** All tables of scheduled work, in one object. */
import { createClockRows } from './clock-rows.ts';
import { createMovesAsked } from './moves-asked.ts';
import { createOutcomes } from './outcome-rows.ts';
import { createHistory } from './history.ts';
import { createClaimedRows } from './claimed-rows.ts';
import { createLeftRows } from './left-rows.ts';
import { createMovingRows } from './moving-rows.ts';
import { createOpenRows } from './open-rows.ts';
import { createOccurrences } from './occurrence-rows.ts';
import { createScheduleTable, type RowsDeps } from './schedule-rows.ts';

export { NO_DETAIL, type Detail } from './history.ts';
export type { Claim, Ended, LeftScript, Waits } from './occurrence-rows.ts';
export { isOn, json, type Row } from './schedule-rows.ts';

export type ScheduleRows = ReturnType<typeof createScheduleRows>;

export const createScheduleRows = (deps: RowsDeps) => ({
  ...createScheduleTable(deps),
  ...createMovingRows(deps),
  ...createMovesAsked(deps),
  ...createOccurrences(deps),
  ...createClaimedRows(deps),
  ...createOpenRows(deps),
  ...createLeftRows(deps),
  ...createHistory(deps),
  ...createOutcomes(deps),
  ...createClockRows(deps),
});
