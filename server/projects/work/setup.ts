/** The setup of a checkout: the project's command that must have ended with 0 once in each. */
import { endOfText } from '../../../src/shared/domain/cut-middle.ts';
import { onOneLine, titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { Attempt } from '../../../src/shared/protocol/attempts.ts';
import type { Task } from '../../../src/shared/protocol/projects.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';

/** Whether it has ended with 0 in this folder, as receipts say. */
export const hasSetUp = (
  attempts: readonly Attempt[],
  { agentId, folder }: Pick<Attempt, 'agentId' | 'folder'>,
  setup: string,
): boolean =>
  attempts
    .filter((each) => each.agentId === agentId && each.folder === folder)
    .some(
      ({ receipt }) =>
        receipt !== null &&
        // A long receipt has lost its first commands.
        (receipt.moreCommands > 0 || receipt.commands.some(({ command, code }) => command === setup && code === 0)),
    );

interface SetupRun {
  readonly code: number | null;
  readonly output: string;
}

/** The setup has failed, with the end of what it wrote, for the history of the task. */
export function setupNote(setup: string, { code, output }: SetupRun): string {
  const end = onOneLine(endOfText(output.trim(), TASK_WORK_SETTINGS.setupNoteChars));
  return `The setup ${titled(setup)} failed with status ${code ?? 'none'}${end === '' ? '' : `: ${titled(end)}`}.`;
}
/** The note of the last attempt, if it ended at the setup. Null: it did not. */
export function failedSetupIn(
  { history }: Pick<Task, 'history'>,
  last: Pick<Attempt, 'receipt'> | undefined,
  setup: string,
): string | null {
  const run = last?.receipt?.commands.findLast(({ command }) => command === setup);
  if (setup === '' || !run || run.code === 0) return null;
  return history.findLast(({ what }) => what === 'setup')?.note ?? null;
}

/** What the agent is told. */
export function setupText(setup: string, { code, output }: SetupRun, isRepeated: boolean): string {
  const head = `Setup (${titled(setup)}) ended with ${code ?? 'no status'}:`;
  return [
    ...(isRepeated ? ['The setup had not ended with 0 here, and was repeated.'] : []),
    writeSaid({ head, text: output }),
    ...(code === 0 ? [] : ['The next attempt repeats the setup, until it ends with 0.']),
  ].join('\n');
}
