/**
 * Calls that run a command, as what is let exactly as it stands is kept: a command of the sandbox's
 * by its words, one of a program's own by all that it gives but what it says of it. Neither stands
 * for the other: the same words are another thing where no sandbox is around them.
 */
import { MIND_PREFIX } from '../../../src/shared/domain/toolsets.ts';
import { ALLOWED_COMMAND_MAX } from '../../../src/shared/protocol/grants.ts';
import { charactersIn } from '../../platform/well-formed.ts';

const BY_A_PROGRAM = `${MIND_PREFIX}execute`;

/** Null: it runs none, or one that cannot be let for always. */
export function commandOf(tool: string, input: unknown): string | null {
  if (typeof input !== 'object' || input === null || !('command' in input)) return null;
  const { command } = input;
  if (typeof command !== 'string' || charactersIn(input) > ALLOWED_COMMAND_MAX) return null;
  const kept = keptAs(tool, command, { ...input });
  return kept !== null && kept.length <= ALLOWED_COMMAND_MAX ? kept : null;
}

function keptAs(tool: string, command: string, input: Readonly<Record<string, unknown>>): string | null {
  if (tool === 'run_command') return command.startsWith(MIND_PREFIX) ? null : command;
  if (tool !== BY_A_PROGRAM) return null;
  const given = Object.entries(input)
    .filter(([name]) => name !== 'title' && name !== 'description')
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `${BY_A_PROGRAM} ${JSON.stringify(Object.fromEntries(given))}`;
}
