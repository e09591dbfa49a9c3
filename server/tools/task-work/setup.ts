/** The setup of a checkout: the project's command that must have ended with 0 once in each. */
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { Attempt } from '../../../src/shared/protocol/attempts.ts';

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

/** What the agent is told. */
export function setupText(
  setup: string,
  { code, output }: { readonly code: number | null; readonly output: string },
  isRepeated: boolean,
): string {
  const head = `Setup (${titled(setup)}) ended with ${code ?? 'no status'}:`;
  return [
    ...(isRepeated ? ['The setup had not ended with 0 here, and was repeated.'] : []),
    writeSaid({ head, text: output }),
    ...(code === 0 ? [] : ['The next attempt repeats the setup, until it ends with 0.']),
  ].join('\n');
}
