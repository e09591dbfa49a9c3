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
      return t`A reminder`;
    case 'script':
      return t`After the script “${cause.name}”`;
    case 'wake':
      return cause.by === 'human' ? t`Woken by you` : t`woken by ${nameOf(cause.by) ?? cause.by}`;
    case 'session':
      return t`in a session`;
    case 'executor':
      return t`A task of a project, from a brief`;
    case 'dream':
      return t`A dream`;
    default:
      return cause satisfies never;
  }
}

/** Who changed files, as a title. */
export function workText(work: Work, nameOf: NameOf): string {
  switch (work.kind) {
    case 'run':
      return asBeginning(causeText(work.cause, nameOf));
    case 'turn':
      return t`An answer in a session`;
    case 'call':
      return t`Its tool ${work.tool}, called by a client or after your yes`;
    case 'script':
      return t`Script “${work.name}”`;
    case 'person':
      return work.does === 'replace' ? t`You replaced “${work.path}”` : t`You deleted “${work.path}”`;
    case 'restore':
      return work.to === 'before' ? t`You restored what was there before` : t`You restored what was there after it`;
    case 'outside':
      return t`Outside of runs: new files of yours, another program, or a command in the background`;
    default:
      return work satisfies never;
  }
}

/** `2 added, 1 changed` */
export function countsText({ added, changed, deleted }: Point['counts']): string {
  const parts = [
    ...(added > 0 ? [t`${added} added`] : []),
    ...(changed > 0 ? [t`${changed} changed`] : []),
    ...(deleted > 0 ? [t`${deleted} deleted`] : []),
  ];
  return parts.join(', ');
}

export const CHANGES: Readonly<Record<Change['change'], string>> = {
  added: t`added`,
  changed: t`changed`,
  deleted: t`deleted`,
  mode: t`other rights`,
  renamed: t`moved`,
};

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
  return more > 0 ? t`${names(parts)}, and ${more} more.` : t`${names(parts)}.`;
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
  deep: t`too many folders in each other`,
  many: t`too many files`,
};
