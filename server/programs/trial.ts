/** Starting a program to see whether it answers: in an empty folder, and as far as a session. Nothing is asked of its model. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import { faultOf, openLine, type Line, type LineHandlers, type LineStart, type ProgramError } from './line.ts';

/** Asked of one that is only tried: it gets nothing. */
const NOBODY: LineHandlers = {
  update: () => undefined,
  permission: () => Promise.resolve({ outcome: { outcome: 'cancelled' } }),
  readFile: () => Promise.reject(new Error('Nothing is read here.')),
  writeFile: () => Promise.reject(new Error('Nothing is written here.')),
};

/** It has ended, whatever it was, when this resolves. */
export async function tryProgram(
  start: Omit<LineStart, 'cwd'>,
  timers: { after(ms: number, run: () => void): () => void },
): Promise<{ readonly line: Pick<Line, 'info'> } | { readonly error: ProgramError }> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-program-'));
  const late = new AbortController();
  const cancel = timers.after(start.limits.startMs, () => late.abort());
  const opening = openLine({ ...start, cwd: folder }, NOBODY, late.signal);
  try {
    const line = await opening;
    try {
      await line.answer(line.agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] }));
      return { line };
    } finally {
      await line.close();
    }
  } catch (error) {
    return { error: faultOf(start.name, error) };
  } finally {
    cancel();
    await rm(folder, { recursive: true, force: true });
  }
}
