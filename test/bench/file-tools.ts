/**
 * What a call of a file tool costs in a folder with many files, beside the bare call of the system
 * that does the same.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox } from '../../server/execution/sandbox/index.ts';
import { createWorkspaces } from '../../server/files/workspaces/index.ts';
import { createFileTools } from '../../server/files/workspaces/tools.ts';
import { runTeamTool } from '../../server/agents/runs/team-tools.ts';
import { median, percentile, type Figure } from './figures.ts';
import { definePart, withOpened } from './part.ts';

const LIMIT_MS = 5;
const OVER_MS = 60;
/** Files in the folder, calls of each tool, and commands in the sandbox. */
const FULL = { files: 2_000, rounds: 300, commands: 40 };
const SMOKE: typeof FULL = { files: 3, rounds: 3, commands: 1 };
const TEXT = 'A line as people write it, neither short nor long.\n'.repeat(80);

/** An empty command in the sandbox, over the bare process that does the same. */
async function sandboxedTrue(
  base: string,
  commands: number,
  timed: (does: () => Promise<unknown>) => Promise<number>,
): Promise<readonly Figure[]> {
  const sandbox = createSandbox();
  const { available } = await sandbox.status();
  if (!available) return [];
  const [within, bare]: [number[], number[]] = [[], []];
  for (let n = 0; n < commands; n++) {
    within.push(
      await timed(async () => (await sandbox.run({ folder: base, bash: ['-c', 'true'], timeoutMs: 10_000 })).ended),
    );
    bare.push(await timed(async () => await once(spawn('/bin/bash', ['-c', 'true'], { stdio: 'ignore' }), 'close')));
  }
  await sandbox.close();
  const over = median(within) - median(bare);
  const limit = { kind: 'limit', what: `over a bare process, ${median(bare).toFixed(1)} ms`, value: OVER_MS } as const;
  return [{ what: 'a sandboxed `true`, median over it', value: over, unit: 'ms', beside: limit }];
}

export const fileTools = definePart({
  name: 'file-tools',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  run: ({ files, rounds, commands }) =>
    withOpened(async (keep) => {
      const base = keep(await mkdtemp(join(tmpdir(), 'roost-bench-files-')), (made) =>
        rm(made, { recursive: true, force: true }),
      );
      const workspaces = createWorkspaces({ folder: base, elapsed: () => performance.now() });
      const tools = createFileTools({
        workspaces,
        refuseForRoom: () => Promise.resolve(null),
      });
      const folder = join(workspaces.folderOf('agent-1'), 'notes');
      await mkdir(folder, { recursive: true });
      for (let n = 0; n < files; n++) await writeFile(join(folder, `${n}.md`), TEXT);
      const caller = {
        agentId: 'agent-1',
        sessionId: null,
        run: 'bench',
        kind: 'run',
        signal: new AbortController().signal,
      } as const;
      const call = async (name: string, input: object) => {
        const outcome = await runTeamTool(tools, name, input, caller);
        if (!outcome || outcome.isError) throw new Error(`${name}: ${outcome?.text ?? 'is no tool'}`);
      };
      const timed = async (does: () => Promise<unknown>) => {
        const started = performance.now();
        await does();
        return performance.now() - started;
      };
      const ours: Record<'read' | 'write' | 'edit', number[]> = { read: [], write: [], edit: [] };
      const bare: Record<'read' | 'write', number[]> = { read: [], write: [] };
      for (let n = 0; n < rounds; n++) {
        const path = `notes/${n}.md`;
        ours.read.push(await timed(() => call('read_file', { path })));
        bare.read.push(await timed(() => readFile(join(folder, `${n}.md`), 'utf8')));
        ours.write.push(await timed(() => call('write_file', { path, content: TEXT })));
        bare.write.push(await timed(() => writeFile(join(folder, `${n}.md`), TEXT)));
        ours.edit.push(await timed(() => call('edit_file', { path, old_text: 'short', new_text: 'brief', all: true })));
      }
      const sandboxed = await sandboxedTrue(base, commands, timed);
      const beside = (what: string, value: number) => ({ kind: 'peer', what, value }) as const;
      const limit = { kind: 'limit', what: `with ${files.toLocaleString('en')} files there`, value: LIMIT_MS } as const;
      const figures: Figure[] = [
        { what: 'read_file, 4 KB, median', value: median(ours.read), unit: 'ms', beside: limit },
        { what: '  the same', value: median(ours.read), unit: 'ms', beside: beside('a bare read', median(bare.read)) },
        { what: 'write_file, median', value: median(ours.write), unit: 'ms', beside: limit },
        {
          what: '  the same',
          value: median(ours.write),
          unit: 'ms',
          beside: beside('a bare write', median(bare.write)),
        },
        { what: 'edit_file, median', value: median(ours.edit), unit: 'ms', beside: limit },
        ...sandboxed,
        { what: 'write_file, p95', value: percentile(ours.write, 0.95), unit: 'ms', beside: null },
      ];
      return {
        title: 'Files',
        method: `${rounds} calls of each tool, in turns with the bare calls, on the disk of the temporary folder`,
        figures,
      };
    }),
});
