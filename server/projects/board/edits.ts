/** What an edit makes of a task. Pure. */
import type { TaskValue } from '../../../src/shared/protocol/projects.ts';
import { withHistory } from './rows.ts';

/** Criteria as they were rewritten. One whose text has changed is not met any longer. */
export function rewritten(
  before: TaskValue['criteria'],
  wanted: readonly { readonly criterionId?: string | undefined; readonly text: string }[],
  newId: () => string,
): TaskValue['criteria'] {
  const beforeById = new Map(before.map((criterion) => [criterion.criterionId, criterion]));
  return wanted.map(({ criterionId, text }) => {
    const old = criterionId === undefined ? undefined : beforeById.get(criterionId);
    return old?.text === text ? old : { criterionId: old?.criterionId ?? newId(), text, met: null };
  });
}
/** Fields that a history names when they are changed. */
const EDITED_FIELDS = [
  'title',
  'description',
  'criteria',
  'priority',
  'labels',
  'blockedBy',
  'assignee',
] as const satisfies readonly (keyof TaskValue)[];
/** The task as it was edited. Its history names what was changed. */
export function edited(before: TaskValue, next: TaskValue, by: { readonly time: number; readonly by: string }) {
  const fields = EDITED_FIELDS.filter((field) => JSON.stringify(next[field]) !== JSON.stringify(before[field]));
  return fields.length === 0 ? next : withHistory(next, { ...by, what: 'edited', columnId: null, note: '', fields });
}
