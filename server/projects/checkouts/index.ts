/**
 * Checkouts: where agents work on tasks of projects. A checkout is a folder in the agent's own
 * folder, so that its files, commands, quota and history are those of every other file.
 *
 * `repositories.ts` has the relay's own repository of each project.
 *
 * Main types: `Checkouts`, `Place`, `Repository`.
 *
 * Invariants:
 * - A checkout of a `git` project is a clone of its own: no agent reaches the repository of the
 *   person, of the relay, or of another task. It has no remote, and no token.
 * - The relay never runs git in a checkout, whose settings and hooks the agent writes. Git runs
 *   there in the sandbox, and hands its commits over as a bundle.
 * - A checkout of a `folder` project has no git. The relay reads its files and commits them.
 * - What only a checkout has is deleted only when the person asks for that.
 * - A checkout gets another branch only after everything in it is committed. See `switching.ts`.
 *
 * It does not know claims, attempts, or why somebody works on a task.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sentence } from '../../../src/shared/domain/names.ts';
import { ATTEMPT_LIMITS } from '../../../src/shared/protocol/attempts.ts';
import { createFolder } from '../../files/workspaces/folder.ts';
import { GitError } from '../../platform/git/index.ts';
import { bringFiles } from './bring-files.ts';
import { type FileEntry, fits, type FolderFile } from './folder-files.ts';
import type { Repository } from './contract.ts';
import { BROUGHT_REF } from './refs.ts';
import { CHECKOUT_LIMITS } from './settings.ts';
import { GIT, KEEP, NOT_KEPT, TURN } from './switching.ts';
import type { Checkouts, CheckoutsDeps, Ran } from './checkout-types.ts';
import { createCheckoutState } from './checkout-state.ts';
import { createInSandbox, sayEnd } from './in-sandbox.ts';

export { type FileChange, RECORDED, tooMuch, twinsIn } from './folder-files.ts';
export { GitError } from '../../platform/git/index.ts';
export type { Repositories, RepositoriesDeps, Repository } from './contract.ts';
export { createRepositories } from './repositories.ts';
export { type Merged } from './merging.ts';
export { CHECKOUT_LIMITS } from './settings.ts';
export { createTokens, type Tokens } from './tokens.ts';
export type { Checkouts, NotWork, Place } from './checkout-types.ts';

const BRING = `set -e
trap 'rm -rf -- "$1.in"' EXIT
cat <&4 > "$1.in"
${GIT} -C "$1" fetch --quiet --no-tags -- "../$(basename -- "$1").in" "+${BROUGHT_REF}:refs/remotes/base/$2"`;

/** Writes files of a commit, several at a time. Resolves when all are written. */
async function writeFiles(
  repository: Repository,
  entries: readonly FileEntry[],
  write: (file: FolderFile) => Promise<unknown>,
): Promise<void> {
  let writing: Promise<unknown>[] = [];
  await repository.read(entries, async ({ path, bytes }) => {
    const written = write({ path, bytes });
    // Thrown where all are awaited.
    written.catch(() => undefined);
    writing.push(written);
    if (writing.length < CHECKOUT_LIMITS.writtenAtOnce && bytes.length < CHECKOUT_LIMITS.writtenTogetherBytes) return;
    await Promise.all(writing);
    writing = [];
  });
  await Promise.all(writing);
}

export function createCheckouts(deps: CheckoutsDeps): Checkouts {
  const { workspaces, sandbox, reachOf, scratch, newId } = deps;
  const limits = CHECKOUT_LIMITS;
  const commands = createInSandbox(deps);
  const { inSandbox, withGiven, fillFolder, run } = commands;

  return {
    async refuse(kind, agentId, hasCommands) {
      if (kind === 'folder' && !hasCommands) return null;
      const { available, why } = await sandbox.status();
      if (available || (await reachOf(agentId)).bare) return null;
      return kind === 'git'
        ? sentence`An agent works on a repository in the sandbox, and there is none. ${why ?? ''}`
        : sentence`Checks and the setup of a project run in the sandbox, and there is none. ${why ?? ''}`;
    },
    ...createCheckoutState(deps, commands),
    async fill({ kind, agentId, folder, branch }, repository, commit, by, copied = []) {
      const root = workspaces.folderOf(agentId);
      if (kind === 'git') return await fillFolder(agentId, root, { folder, branch }, repository, commit, by, copied);
      const entries = [...(await repository.list(commit)).values()].filter(fits);
      const workspace = workspaces.of(agentId);
      if (entries.length === 0) return await workspace.make(folder);
      // A relay that was killed may have left a part of it.
      const part = `${folder}.in`;
      const drop = () => workspace.remove(part).catch(() => undefined);
      await drop();
      try {
        await writeFiles(repository, entries, ({ path, bytes }) => workspace.write(`${part}/${path}`, bytes));
        await workspace.move(part, folder, { replaces: false, makes: true });
      } catch (error) {
        await drop();
        throw error;
      }
    },
    async bring({ kind, agentId, folder, branch }, repository, base, head, said) {
      if (kind === 'git') {
        await withGiven(agentId, workspaces.folderOf(agentId), (file) => repository.bundleBase(base.commit, file), {
          script: BRING,
          args: [folder, base.branch],
          failed: 'The base branch could not be brought.',
        });
        return [`The base branch has moved on. “git merge base/${base.branch}” brings what others changed.`];
      }
      const both = await bringFiles({
        ...{ workspace: workspaces.of(agentId), folder, repository, branch, head, said },
        ...{ theirs: base.commit, write: writeFiles },
      });
      return [
        'The project has changed since. What others changed is in the folder now.',
        ...both.map(
          ({ path, beside }) =>
            `Both sides changed “${path}”. The project’s is in “${beside}”: put both together in “${path}”, and delete the other.`,
        ),
      ];
    },
    async keep({ agentId, folder, branch }, expected, forAgent) {
      const how = forAgent
        ? [forAgent.message, String(limits.committedBytes), forAgent.copiedIds.join(' ')]
        : ['Keep unfinished work', '', ''];
      const { end, output } = await inSandbox(agentId, workspaces.folderOf(agentId), {
        script: KEEP,
        args: [folder, branch, ...how, ...expected],
        ms: limits.sandboxMs,
      });
      const { text } = output(0, 2_000_000);
      if (end.code === NOT_KEPT)
        return { ok: false, left: text.split('\0').filter(Boolean).slice(0, ATTEMPT_LIMITS.files) };
      if (end.code !== 0) throw new GitError(sayEnd('What is in the checkout could not be committed.', end, text));
      return { ok: true, isNew: text.includes('kept\0') };
    },
    turn: ({ agentId, folder, branch }, repository, commit) =>
      withGiven(agentId, workspaces.folderOf(agentId), (file) => repository.bundle(branch, commit, file), {
        script: TURN,
        args: [folder, branch],
        failed: 'The checkout could not get another branch.',
      }),
    async copy({ agentId, folder }, files) {
      for (const { path, bytes } of files) await workspaces.of(agentId).write(`${folder}/${path}`, bytes);
    },
    run: ({ agentId, folder }, command, env) => run(agentId, workspaces.folderOf(agentId), folder, command, env),
    async check({ kind, agentId }, repository, head, { setup, checks, copies }) {
      if (checks.length === 0) return [];
      const root = join(scratch, newId());
      await mkdir(root, { recursive: true, mode: 0o700 });
      try {
        await fillChecked(root);
        const ran: Ran[] = [];
        if (setup !== '') {
          const prepared = await run(agentId, root, 'work', setup, { CI: '1' });
          if (prepared.code !== 0) return [prepared];
        }
        for (const command of checks) ran.push(await run(agentId, root, 'work', command, { CI: '1' }));
        return ran;
      } finally {
        await rm(root, { recursive: true, force: true, maxRetries: 3 });
      }

      async function fillChecked(into: string): Promise<void> {
        if (kind === 'git')
          await fillFolder(
            agentId,
            into,
            { folder: 'work', branch: `roost-check/${newId()}` },
            repository,
            head,
            'Roost',
          );
        const files = createFolder(into);
        if (kind === 'folder')
          await writeFiles(repository, [...(await repository.list(head)).values()].filter(fits), ({ path, bytes }) =>
            files.write(`work/${path}`, bytes),
          );
        for (const file of copies) await files.write(`work/${file.path}`, file.bytes);
      }
    },
    bytesOf: ({ agentId, folder }) => workspaces.of(agentId).below(folder),
    async remove({ agentId, folder }) {
      await workspaces.of(agentId).remove(folder);
    },
  };
}
