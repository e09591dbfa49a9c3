/** Work on tasks in words: attempts, requests, and what a task was done without. */
import type { Attempt, ChangedFile, MergeRequest, Receipt } from '../../../shared/protocol/attempts.ts';
import type { Task } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { costText } from '../text/money.ts';
import { asBeginning, names } from '../text/sizes.ts';

/** Characters of a commit's id that are shown. */
export const SHORT_COMMIT = 7;

export type Tone = 'good' | 'warn' | 'bad' | 'plain' | 'live';

export const OUTCOMES: Readonly<
  Record<NonNullable<Attempt['outcome']>, { readonly name: string; readonly tone: Tone }>
> = {
  review: { name: asBeginning(t`moved to ${t`Review`}`), tone: 'good' },
  done: { name: t`Done`, tone: 'good' },
  blocked: { name: t`Blocked`, tone: 'bad' },
  released: { name: asBeginning(t`released`), tone: 'plain' },
  ended: { name: t`Ended without a result`, tone: 'warn' },
  'timed-out': { name: asBeginning(t`took too long`), tone: 'bad' },
  lost: { name: asBeginning(t`cut short`), tone: 'bad' },
};
export const UNDER_WAY = { name: asBeginning(t`under way`), tone: 'live' } as const;

export const REQUEST_STATES: Readonly<Record<MergeRequest['state'], { readonly name: string; readonly tone: Tone }>> = {
  open: { name: t`Waits for your review`, tone: 'live' },
  merged: { name: t`Merged`, tone: 'good' },
  reverted: { name: t`Reverted`, tone: 'warn' },
  'changes-wanted': { name: t`Changes asked for`, tone: 'warn' },
  closed: { name: asBeginning(t`closed`), tone: 'plain' },
};

export const FILE_STATUS: Readonly<Record<ChangedFile['status'], string>> = {
  added: t`new`,
  changed: t`changed`,
  deleted: t`deleted`,
  renamed: t`moved`,
};

export const VERDICTS: Readonly<
  Record<NonNullable<Attempt['review']>['criteria'][number]['verdict'], { readonly name: string; readonly tone: Tone }>
> = {
  met: { name: t`met`, tone: 'good' },
  'not-met': { name: t`not met`, tone: 'bad' },
  'cannot-tell': { name: t`cannot tell`, tone: 'warn' },
};

type Spent = Pick<Receipt, 'tokens' | 'costMicroUsd' | 'estimated'>;

/** The sum of these receipts. `tokens` is null if no model reported any. */
export const spentOf = (all: readonly Spent[]): Spent => ({
  tokens: all.every(({ tokens }) => tokens === null) ? null : all.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
  costMicroUsd: all.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0),
  estimated: all.some(({ estimated }) => estimated),
});

/** The cost, or that none was recorded: work that no model reported must not look free. */
export const spentText = (spent: Spent): string =>
  spent.tokens === null && spent.costMicroUsd === 0 ? t`no cost recorded` : costText(spent);

const WITHOUT: Readonly<Record<Task['doneWithout'][number], string>> = {
  change: t`a change`,
  checks: t`checks`,
  criteria: t`met criteria`,
};

/** `Done`, or what did not hold when it was moved there. */
export const doneText = ({ doneWithout }: Pick<Task, 'doneWithout'>): string =>
  doneWithout.length === 0 ? t`Done` : t`Done without ${names(doneWithout.map((need) => WITHOUT[need]))}`;
