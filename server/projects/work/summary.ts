/** Attempts in short: for the agents that go on with a task, and as costs of a project. Pure. */
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { Attempt, ProjectSpent, Receipt } from '../../../src/shared/protocol/attempts.ts';
import type { Project } from '../../../src/shared/protocol/projects.ts';
import { RECORDED } from '../checkouts/index.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';

/** A commit in a sentence for agents. */
export const commitText = ({ commit, subject }: Receipt['commits'][number]) =>
  `${commit.slice(0, 12)} ${titled(subject)}`;

/** Heads that a branch has lost, for agents. */
export const rewrittenText = (all: Receipt['rewritten']): string =>
  `commits of the branch were rewritten, and the relay keeps them: ${all
    .slice(-TASK_WORK_SETTINGS.rewrittenTold)
    .map(({ ref, ...commit }) => `${commitText(commit)} as ${ref}`)
    .join(', ')}`;

/** What came of the last ended attempts at a task, for agents. */
export function toldOf(all: readonly Attempt[], nameOf: (agentId: string) => string): string {
  return all
    .filter(({ endedAt }) => endedAt !== null)
    .slice(-TASK_WORK_SETTINGS.attemptsTold)
    .map((attempt) => {
      const { number, kind, agentId, outcome, branch, receipt, note, review } = attempt;
      const by = kind === 'executor' ? `an executor of ${nameOf(agentId)}` : nameOf(agentId);
      const facts = receipt && [
        `${receipt.commits.length + receipt.moreCommits} commits`,
        `${receipt.files.length + receipt.moreFiles} files changed`,
        ...(receipt.uncommitted.length > 0 ? [`${receipt.uncommitted.length} in no commit`] : []),
        ...(receipt.elsewhere.length > 0 ? [`${receipt.elsewhere.length} commits not on the branch`] : []),
        ...(receipt.rewritten.length > 0 ? [rewrittenText(receipt.rewritten)] : []),
        ...receipt.checks.map(({ command, code }) => `${titled(command)} ${code === 0 ? 'passed' : 'failed'}`),
      ];
      return [
        `Attempt ${number} by ${by}: ${outcome ?? 'under way'}, branch ${branch}, ${facts ? facts.join(', ') : 'without a receipt'}.`,
        ...(note === '' ? [] : [writeSaid({ head: 'Note:', text: note })]),
        ...(review?.error === null
          ? review.criteria.map(({ text, verdict, why }) =>
              writeSaid({ head: `A second mind says ${verdict} of ${titled(text)}:`, text: why }),
            )
          : []),
      ].join('\n');
    })
    .join('\n');
}

/** What each attempt has cost, with the second mind that looked at it. */
export const spentBy = (all: readonly Attempt[]): ProjectSpent['attempts'] =>
  all.flatMap(({ taskId, startedAt, receipt, spent, review }) => {
    const used = receipt ?? spent;
    if (!used) return [];
    const costMicroUsd = used.costMicroUsd + (review?.costMicroUsd ?? 0);
    const estimated = used.estimated || (review?.estimated ?? false);
    return [{ taskId, startedAt, tokens: used.tokens, estimated, costMicroUsd }];
  });

/** What keeps a task from review: files that are in no commit. */
export function uncommittedIn({ kind }: Pick<Project, 'kind'>, { uncommitted }: Pick<Receipt, 'uncommitted'>): string {
  const files = uncommitted.slice(0, 20).map(titled).join(', ');
  return kind === 'git'
    ? `These files are in no commit: ${files}.`
    : `These could not be recorded: ${files}. The project still has what it had in their place. ${RECORDED} Change or delete these.`;
}

/** Why a task could not move to review, for the person: what is missing first, and what helps. */
export function notReady(
  { kind }: Pick<Project, 'kind'>,
  { uncommitted, elsewhere, checks }: Receipt,
  { missing, refused, secret }: { missing: readonly string[]; refused: string | null; secret: string | null },
): string | null {
  const failed = checks.find(({ code }) => code !== 0);
  const [why] = [
    ...(refused === null
      ? []
      : [sentence`You refused a call that the work needs. Start it again to be asked once more.`]),
    ...(uncommitted.length === 0 || kind !== 'git'
      ? []
      : [
          sentence`Files are in no commit. Press “Continue”, or let agents run commands in the settings of the project.`,
        ]),
    ...(elsewhere.length === 0 ? [] : [sentence`Some commits are not on the branch of the task. Press “Continue”.`]),
    ...(secret === null ? [] : [sentence`A commit has a copied file in it, such as “.env”. Press “Continue”.`]),
    ...(missing.includes('change') ? [sentence`Nothing was changed yet. Press “Continue”.`] : []),
    ...(missing.includes('checks') && failed
      ? [sentence`The check ${titled(failed.command)} failed. Press “Continue”.`]
      : []),
    ...(missing.includes('criteria')
      ? [sentence`Not every criterion is met. Tick those that are under “Done when”, or press “Continue”.`]
      : []),
  ];
  return why === undefined ? null : sentence`It could not move to review. ${why}`;
}

/** Hooks of a repository that were not told of a merge, as a sentence. Empty: there are none. */
export const notRunNote = (hooks: readonly string[]): string =>
  hooks.length === 0 ? '' : sentence`The relay did not run ${hooks.join(', ')} of the repository.`;
