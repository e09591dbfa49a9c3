import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { ArgumentError, processNow, startProgram, startShort } from '../../../../../server/platform/processes/index.ts';
import { argumentsOf } from '../../../../../server/platform/processes/invocation.ts';
import { createStarter } from '../../../../../server/platform/processes/starter.ts';

const options = { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } };
const shell = (script: string) => ({ program: '/bin/sh', options: ['-c', script] });
const childrenOf = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  );
const isThere = (pid: number) => processNow(pid)?.ended === false;
const parentOf = (pid: number) => Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

describe.each([['linux'], ['darwin']] as const)('a short program as %s starts it', (platform) => {
  const start = createStarter(startProgram, argumentsOf, platform);

  it('gets all of its input and is read to the end of its output', async () => {
    const program = await start({ program: 'cat' }, options);
    const input = 'abc\n'.repeat(2_000_000);
    program.stdin.end(input);
    expect((await text(program.stdout)) === input).toBe(true);
    program.stderr.resume();
    expect(await program.closed).toBe(0);
  });

  it('loses no word where a hundred end as soon as they have begun', async () => {
    const each = async (n: number) => {
      const { stdin, stdout, stderr, closed } = await start(
        shell(`echo out ${n}; echo error ${n} >&2; exit 7`),
        options,
      );
      stdin.end();
      return await Promise.all([text(stdout), text(stderr), closed]);
    };
    const all = await Promise.all(Array.from({ length: 100 }, (_none, n) => each(n)));
    expect(all).toEqual(all.map((_none, n) => [`out ${n}\n`, `error ${n}\n`, 7]));
  });

  it('ends with what it started, as a group', async () => {
    const { pid, stdout, closed } = await start(shell('sleep 300 & echo $!; sleep 300'), options);
    const [line] = (await once(stdout, 'data')) as [Buffer];
    process.kill(-pid, 'SIGKILL');
    expect(await closed).toBe(null);
    await vi.waitFor(() => expect(isThere(Number(line))).toBe(false));
  });

  it('gets no variable and no open file of the relay', async () => {
    const { stdout, closed } = await start(shell('env; ls /proc/$$/fd'), { cwd: '/', env: { ONE: '1' } });
    const words = await text(stdout);
    expect(words).toContain('ONE=1');
    expect(words).not.toMatch(/NODE_CHANNEL|VITEST|HOME=/);
    expect(words.split('\n').filter((word) => /^\d+$/.test(word))).toEqual(['0', '1', '2']);
    await closed;
  });

  it('fails with the reason when it cannot be started', async () => {
    await expect(start({ program: '/nowhere' }, options)).rejects.toThrow('ENOENT');
    await expect(start({ program: 'cat', operands: ['-n'] }, options)).rejects.toThrow(ArgumentError);
    // What the system refuses of one program ends no other.
    const other = await start(shell('read -r line; echo $line'), options);
    await expect(start({ program: 'true', options: ['x'.repeat(10_000_000)] }, options)).rejects.toThrow('E2BIG');
    await expect(start({ program: 'true' }, { ...options, cwd: '/a\0b' })).rejects.toThrow();
    other.stdin.end('still here\n');
    expect(await text(other.stdout)).toBe('still here\n');
  });
});

describe.skipIf(process.platform !== 'linux')('the process that starts short programs', () => {
  it('replaces a killed starter process, and fails what it ran', async () => {
    const { pid, closed } = await startShort(shell('sleep 300'), options);
    process.kill(parentOf(pid), 'SIGKILL');
    expect(await closed).toBe(null);
    await vi.waitFor(() => expect(isThere(pid)).toBe(false));
    const next = await startShort(shell('echo there'), options);
    expect(await text(next.stdout)).toBe('there\n');
  });

  it('ends with a relay that is killed, and so do its programs', async () => {
    const module = new URL('../../../../../server/platform/processes/index.ts', import.meta.url).href;
    const relay = spawn(
      process.execPath,
      [
        ...['--import', import.meta.resolve('tsx'), '--input-type=module', '-e'],
        `import { startShort } from '${module}';
         const one = await startShort({ program: 'sleep', options: ['300'] }, { cwd: '/', env: process.env });
         console.log(one.pid);`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = (await once(relay.stdout, 'data')) as [Buffer];
    const program = Number(line);
    const starter = parentOf(program);
    expect(childrenOf(relay.pid ?? 0)).toContain(starter);
    process.kill(starter, 'SIGTERM');
    relay.kill('SIGKILL');
    await vi.waitFor(() => expect([program, starter].filter(isThere)).toEqual([]), 5_000);
  });

  it('keeps no process alive that has nothing left to do', async () => {
    const module = new URL('../../../../../server/platform/processes/index.ts', import.meta.url).href;
    const script = `import { startShort } from '${module}';
      const { closed, stdout } = await startShort({ program: 'true' }, { cwd: '/', env: process.env });
      console.log(await closed);`;
    const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', script];
    const relay = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said, [code]] = await Promise.all([text(relay.stdout), once(relay, 'exit')]);
    expect([said, code]).toEqual(['0\n', 0]);
  });
});
