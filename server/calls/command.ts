/** Calls that run a command: one that was let exactly as it stands is let again. */

const COMMANDS: readonly string[] = ['run_command', 'mind__execute'];
/** The command of a call that runs one; null: it runs none. */
export function commandOf(tool: string, input: unknown): string | null {
  if (!COMMANDS.includes(tool) || typeof input !== 'object' || input === null || !('command' in input)) return null;
  return typeof input.command === 'string' ? input.command : null;
}
