/** What an exam compares, and what came out of it, in a few words. Pure. */
import { examChange, type ExamItem } from '../../../shared/domain/exams.ts';
import type { Exam } from '../../../shared/protocol/exams.ts';
import { t } from '../../language/t.ts';
import { modelName } from '../models/names.ts';

/** The two conditions, by name. */
export function conditionsOf({ cause, before, after }: Pick<Exam, 'cause' | 'before' | 'after'>) {
  switch (cause) {
    case 'model':
      return { before: modelName(before), after: modelName(after) };
    case 'compaction':
      return { before: t`The whole conversation`, after: t`Its summary` };
    case 'import':
      return { before: t`Memory`, after: t`The memory with the import` };
    case 'upgrade':
      return { before: before === '' ? t`An earlier Roost` : `Roost ${before}`, after: `Roost ${after}` };
    default:
      return cause satisfies never;
  }
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
  return `${before} → ${after}`;
};

/** What the person should know before the decision. Null: the answers say it all. */
export function adviceText(cause: Exam['cause']): string | null {
  switch (cause) {
    case 'model':
    case 'upgrade':
      return null;
    case 'compaction':
      return t`A long conversation is summarised when its model’s window fills. What the summary loses is not lost if it is in the memory.`;
    case 'import':
      return t`Nothing was imported. You do that yourself under Move in, or leave the files out.`;
    default:
      return cause satisfies never;
  }
}

/** What has become of an exam. */
export function stateText({ state, cause }: Exam): string {
  switch (state) {
    case 'running':
      return t`under way`;
    case 'answered':
      return t`waits for you`;
    case 'kept':
      return cause === 'model' || cause === 'upgrade' ? t`kept` : t`good enough`;
    case 'declined':
      return cause === 'model' ? t`stayed as it was` : t`too much lost`;
    case 'failed':
      return t`failed`;
    default:
      return state satisfies never;
  }
}
