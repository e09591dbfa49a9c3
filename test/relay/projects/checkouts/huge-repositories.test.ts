/**
 * Repositories that are small on the way and huge once they are opened: trees in trees, one line
 * repeated, many files, many references. The relay counts before it reads. Each git stays within
 * its memory, and people and agents read what was not shown.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ATTEMPT_LIMITS, type Diff, diffSchema, filePatchSchema } from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema } from '../../../../src/shared/protocol/projects.ts';
import { GIT_LIMITS } from '../../../../server/platform/git/index.ts';
import { watchGits } from '../../../support/git-watch.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository, git } from '../../../support/person-repository.ts';

const TIMEOUT_MS = 180_000;
/** Bytes by which the relay may grow beside its gits. */
const GROWTH = 300_000_000;

let scheduleRelay: ScheduleRelay;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-huge-'));
  scheduleRelay = await openScheduleRelay(['a1']);
  await scheduleRelay.good('PUT', '/v1/agents/a1/config', {
    coordination: { toolsets: { shell: 'allow' }, command_seconds: 600 },
  });
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Fails where a git, or the relay, takes more memory meanwhile than it may. */
async function bounded<Result>(work: () => Promise<Result>): Promise<Result> {
  const gits = watchGits();
  try {
    return await work();
  } finally {
    const { bytes, grown } = gits.stop();
    expect(bytes).toBeLessThan(GIT_LIMITS.memory);
    expect(grown).toBeLessThan(GROWTH);
  }
}
/** A claimed task of a project. */
async function claimed(name: string, fill: (path: string) => void = () => undefined) {
  const path = createRepository(join(folder, name), { 'a.txt': 'one\n' }, fill);
  const { projectId } = projectSchema.parse(
    await scheduleRelay.good('POST', '/v1/projects', { name, kind: 'git', repository: path, agents: ['a1'] }),
  );
  const task = taskSchema.parse(
    await scheduleRelay.good('POST', `/v1/projects/${projectId}/tasks`, { title: 'Work', columnId: 'ready' }),
  );
  const ids = { projectId, taskId: task.taskId };
  const said = await scheduleRelay.tool('a1', 'claim_task', ids);
  const where = /in the folder “([^”]+)”/.exec(said)?.[1] ?? '';
  const at = `/v1/projects/${projectId}/tasks/${task.taskId}`;
  return {
    at,
    ids,
    said,
    path,
    /**
     * Puts the tree that a script prints onto the branch of the task. The working tree stays at the
     * base: a status there would walk the tree in the sandbox.
     */
    async put(script: string): Promise<void> {
      const made = await scheduleRelay.tool('a1', 'run_command', {
        command: `cd ${where} && git config core.bigFileThreshold 1m && branch=$(git for-each-ref --format='%(refname)' refs/heads) && git checkout -q --detach && tree=$( { ${script}
} ) && commit=$(git commit-tree -p $branch -m Work $tree) && git update-ref $branch $commit && echo made it`,
      });
      expect(made).toContain('made it');
    },
    ask: () => scheduleRelay.tool('a1', 'open_pull_request', { ...ids, title: 'Work', body: '' }),
    diff: async (from = 0): Promise<Diff> =>
      diffSchema.parse(await scheduleRelay.good('GET', `${at}/diff?from=${from}`)),
    file: async ({ content }: Diff['files'][number]) =>
      filePatchSchema.parse(
        await scheduleRelay.good('GET', `${at}/diff/file?before=${content.before ?? ''}&after=${content.after ?? ''}`),
      ),
  };
}
const repeat = (count: number, each: string) => `for i in $(seq ${count}); do ${each}; done`;
/** Trees with 32 entries, each of which is the tree before. */
const TREES = `t=$(git rev-parse HEAD^{tree}); ${repeat(10, `t=$(for n in $(seq 32); do printf '040000 tree %s\\t%s\\n' $t $n; done | git mktree)`)}; echo $t`;
const deep = (count: number) =>
  `t=$(git rev-parse HEAD^{tree}); ${repeat(count, `t=$(printf '040000 tree %s\\ta\\n' $t | git mktree)`)}; echo $t`;
/** Files with the content that `write` puts out, which may use `$i`. */
const files = (count: number, write: string) =>
  `list=$(${repeat(count, `{ ${write}; } > ../big; printf '100644 blob %s\\tf%s\\n' $(git hash-object -w ../big) $i`)}); echo "$list" | git mktree`;
const tiny = (count: number, name: string) =>
  `b=$(git rev-parse HEAD:a.txt); seq ${count} | sed "s/^/100644 blob $b\\t${name}/" | git mktree`;

describe('a branch that is huge once it is opened', () => {
  it.each([
    ['trees in trees', TREES],
    ['more files than are counted', tiny(1_000_001, '')],
  ])(
    'refuses %s in a sentence, and leaves the diff as it was',
    async (name, script) => {
      const { put, ask, diff } = await claimed(name);
      await put(script);
      await bounded(async () => {
        expect(await ask()).toContain('has more than 1,000,000 files. Remove them from it.');
        expect(await diff()).toMatchObject({ files: [], more: 0 });
      });
    },
    TIMEOUT_MS,
  );

  it.each([
    ['many lines', 1, `yes line | head -c 300000000`],
    ['one line', 1, `yes | tr -d '\\n' | head -c 200000000`],
    ['many versions of a long file', 30, `yes line | head -c 21000000; echo $i`],
  ])(
    'names the files with %s that are too large to compare',
    async (name, count, write) => {
      const { put, ask, diff, file } = await claimed(name);
      await put(files(count, write));
      await bounded(async () => {
        expect(await ask()).toContain('The request is open');
        const all = (await diff()).files.filter(({ path }) => path !== 'a.txt');
        expect(all).toHaveLength(count);
        for (const each of all) expect(each).toMatchObject({ patch: null, reason: 'too-large', added: null });
        for (const each of all.slice(0, 1))
          expect(await file(each)).toEqual({ patch: null, reason: 'too-large', next: null });
      });
    },
    TIMEOUT_MS,
  );

  it(
    'compares the first of many long files, and each other one on request',
    async () => {
      const { put, ask, diff, file } = await claimed('below');
      await put(files(40, `yes line | head -c 3900000; echo $i`));
      await bounded(async () => {
        expect(await ask()).toContain('The request is open');
        const all = (await diff()).files.filter(({ path }) => path !== 'a.txt');
        expect(all.filter(({ added }) => added !== null).length).toBeGreaterThan(5);
        const others = all.filter(({ added }) => added === null);
        expect(others.length).toBeGreaterThan(5);
        for (const each of others) expect(each).toMatchObject({ patch: null, reason: 'more' });
        expect((await file(all.at(-1) as Diff['files'][number])).patch).toContain('\n+line\n');
      });
    },
    TIMEOUT_MS,
  );

  it(
    'stays within its memory with millions of empty lines, and says when it cannot',
    async () => {
      const { put, diff, ask, file } = await claimed('empty lines');
      await put(files(2, `yes '' | head -c 19000000; echo $i`));
      await bounded(async () => {
        expect(await ask()).toContain('The request is open');
        for (const each of (await diff()).files.filter(({ path }) => path !== 'a.txt')) {
          expect(each).toMatchObject({ patch: null, reason: 'long' });
          const { patch, reason } = await file(each);
          expect(patch === null ? reason : 'patch').toMatch(/patch|too-large/);
        }
      });
    },
    TIMEOUT_MS,
  );

  it(
    'shows nested folders, or refuses them with the reason',
    async () => {
      const shallow = await claimed('deep');
      await shallow.put(deep(1_900));
      const deeper = await claimed('deeper');
      await deeper.put(deep(2_100));
      await bounded(async () => {
        expect(await shallow.ask()).toContain('The request is open');
        const [file] = (await shallow.diff()).files.filter(({ path }) => path !== 'a.txt');
        expect(file?.path).toMatch(/^a\/a\/a.*…$/);
        expect(file?.path).toHaveLength(ATTEMPT_LIMITS.path);
        expect(await deeper.ask()).toMatch(/cannot be read|too deep/);
      });
    },
    TIMEOUT_MS,
  );

  it(
    'shows hundreds of thousands of files page by page, with comments on lines',
    async () => {
      const { put, ask, diff, at, ids } = await claimed('nearly');
      await put(
        `printf '100644 blob %s\\ta.txt\\n' $(printf 'one\\ntwo\\n' | git hash-object -w --stdin) | git mktree`,
      );
      expect(await ask()).toContain('The request is open');
      const { head } = await diff();
      const comment = { commentId: 'c1', path: 'a.txt', side: 'after', line: 1, commit: head, text: 'Why?' };
      await scheduleRelay.good('POST', `${at}/request/changes`, { comments: [comment] });
      await scheduleRelay.tool('a1', 'claim_task', ids);
      const count = 300_000;
      const name = 'x'.repeat(80);
      await put(
        `{ printf '100644 blob %s\\ta.txt\\n' $(printf 'zero\\none\\ntwo\\n' | git hash-object -w --stdin); b=$(git rev-parse HEAD:a.txt); seq ${count} | sed "s/^/100644 blob $b\\t${name}/"; } | git mktree`,
      );
      await bounded(async () => {
        expect(await ask()).toContain('The request is open');
        const first = await diff();
        expect(first.files).toHaveLength(ATTEMPT_LIMITS.files);
        expect(first.more).toBe(count + 1 - ATTEMPT_LIMITS.files);
        expect(first.comments).toMatchObject([{ commentId: 'c1', now: { path: 'a.txt', line: 2 } }]);
        const last = await diff(count);
        expect(last).toMatchObject({ more: 0, files: [{ number: count, added: 1 }] });
      });
    },
    TIMEOUT_MS,
  );
});

describe('a repository with a hundred thousand references', () => {
  it(
    'fetches a hundred thousand references, and gives a checkout some of its tags',
    async () => {
      const made = await bounded(() =>
        claimed('references', (path) => {
          git(path, 'add', '-A');
          git(path, 'commit', '-qm', 'Before');
          const commit = git(path, 'rev-parse', 'HEAD').trim();
          const refs = Array.from({ length: 50_000 }, (_, n) => String(n).padStart(6, '0'));
          writeFileSync(
            join(path, '.git', 'packed-refs'),
            [
              '# pack-refs with: peeled fully-peeled sorted ',
              ...refs.map((ref) => `${commit} refs/heads/other/${ref}`),
              ...refs.map((ref) => `${commit} refs/tags/${ref}`),
              '',
            ].join('\n'),
          );
          writeFileSync(join(path, 'b.txt'), 'two\n');
        }),
      );
      expect(made.said).toContain('in the folder');
    },
    TIMEOUT_MS,
  );
});
