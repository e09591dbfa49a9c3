/** Texts about the history of files. Pure. */
import type { Change, Gap, NotRecorded, Point, Work } from '../../../shared/protocol/endpoints/history.ts';
import type { RunCause } from '../../../shared/protocol/runs.ts';
import { t } from '../../language/t.ts';
import { asBeginning, names, plural } from '../text/sizes.ts';

/** `nameOf`: the name of an agent; null: the id is no agent's. */
type NameOf = (agentId: string) => string | null;

function causeText(cause: RunCause, nameOf: NameOf): string {
  switch (cause.kind) {
    case 'pulse':
      return t`routine “${cause.routine}”`;
    case 'reminder':
      return t`Reminder`;
    case 'script':
      return t`Script “${cause.name}”`;
    case 'wake':
      return t`woken by ${cause.by === 'human' ? t`you` : (nameOf(cause.by) ?? cause.by)}`;
    case 'session':
      return t`in a session`;
    case 'executor':
      return t`executor of a task`;
    case 'dream':
      return t`A dream`;
    default:
      return cause satisfies never;
  }
}

/** The author of changes, as a title. */
export function workText(work: Work, nameOf: NameOf): string {
  switch (work.kind) {
    case 'run':
      return asBeginning(causeText(work.cause, nameOf));
    case 'turn':
      return asBeginning(t`in a session`);
    case 'call':
      return t`Its tool ${work.tool}`;
    case 'script':
      return t`Script “${work.name}”`;
    case 'person':
      return work.does === 'replace' ? t`You replaced “${work.path}”` : t`You deleted “${work.path}”`;
    case 'restore':
      return t`You restored files`;
    case 'outside':
      return t`Outside of runs`;
    default:
      return work satisfies never;
  }
}

export const CHANGES: Readonly<Record<Change['change'], string>> = {
  added: t`new`,
  changed: t`changed`,
  deleted: t`deleted`,
  mode: t`other rights`,
  renamed: t`moved`,
};

/** `2 added, 1 changed` */
export const countsText = (counts: Point['counts']): string =>
  (['added', 'changed', 'deleted'] as const)
    .filter((change) => counts[change] > 0)
    .map((change) => `${counts[change]} ${CHANGES[change]}`)
    .join(', ');

/** What restoring undoes, for the question before it; null: nothing would change. */
export function restoringText(changes: readonly Change[], more: number): string | null {
  const count = (...kinds: readonly Change['change'][]) =>
    changes.filter(({ change }) => kinds.includes(change)).length;
  const [goes, comes, changed] = [count('added'), count('deleted'), count('changed', 'mode', 'renamed')];
  const parts = [
    ...(changed > 0 ? [t`${plural(changed, 'entry', 'entries')} will be as it was`] : []),
    ...(comes > 0 ? [t`${plural(comes, 'entry', 'entries')} will come back`] : []),
    ...(goes > 0 ? [t`${plural(goes, 'entry', 'entries')} will be deleted`] : []),
  ];
  if (parts.length === 0) return null;
  return `${names([...parts, ...(more > 0 ? [plural(more, 'more', 'more')] : [])])}.`;
}

export const GAPS: Readonly<Record<Gap['why'], string>> = {
  'no-room': t`the files take more than half of the agent’s room`,
  'disk-full': t`the disk was full`,
  'too-slow': t`took too long`,
  broken: t`the history could not be written; the relay’s log says why`,
};

export const NOT_RECORDED: Readonly<Record<NotRecorded['why'], string>> = {
  large: t`too large`,
  special: t`a pipe, a socket or a device`,
  closed: t`it cannot be opened`,
  deep: t`too many files`,
  many: t`too many files`,
};
