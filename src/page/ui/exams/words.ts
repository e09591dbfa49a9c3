/** What an exam compares, and what came out of it, in a few words. Pure. */
import { examChange, type ExamItem } from '../../../shared/domain/exams.ts';
import type { Exam } from '../../../shared/protocol/exams.ts';
import { t } from '../../language/t.ts';
import { modelName } from '../models/names.ts';

/** The two conditions, by name. */
export function conditionsOf({ cause, before, after }: Pick<Exam, 'cause' | 'before' | 'after'>) {
  return cause === 'model'
    ? { before: modelName(before), after: modelName(after) }
    : { before: t`The whole conversation`, after: t`Its summary` };
}

/** `18 of 20 as before · 1 lost` */
export function outcomeText(items: readonly ExamItem[]): string {
  const count = (change: ReturnType<typeof examChange>) => items.filter((item) => examChange(item) === change).length;
  const [lost, gained, ungraded] = [count('lost'), count('gained'), count('ungraded')];
  return [
    t`${count('same') + count('missed')} of ${items.length} as before`,
    ...(lost > 0 ? [t`${lost} lost`] : []),
    ...(gained > 0 ? [t`${gained} better`] : []),
    ...(ungraded > 0 ? [t`${ungraded} not graded`] : []),
  ].join(' · ');
}

/** `Opus 4.5 → Haiku 4.5` */
export const titleOf = (exam: Exam): string => {
  const { before, after } = conditionsOf(exam);
  return t`${before} → ${after}`;
};

/** What has become of an exam. */
export function stateText({ state, cause }: Exam): string {
  switch (state) {
    case 'running':
      return t`under way`;
    case 'answered':
      return t`waits for you`;
    case 'kept':
      return cause === 'model' ? t`kept` : t`good enough`;
    case 'declined':
      return cause === 'model' ? t`stayed as it was` : t`too much lost`;
    case 'failed':
      return t`failed`;
    default:
      return state satisfies never;
  }
}
