/** Repositories of a person on the relay's machine, with real git. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runs git in a folder, as the person. Answers with what it prints. */
export const git = (where: string, ...args: string[]): string =>
  execFileSync('git', ['-C', where, '-c', 'user.name=P', '-c', 'user.email=p@localhost', ...args], {
    encoding: 'utf8',
  });

/** A repository with one commit on `main`, of these files and of what `fill` adds. */
export function createRepository(
  path: string,
  files: Readonly<Record<string, string>>,
  fill: (path: string) => void = () => undefined,
): string {
  mkdirSync(path);
  git(path, 'init', '--quiet', '--initial-branch=main');
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(path, file, '..'), { recursive: true });
    writeFileSync(join(path, file), text);
  }
  fill(path);
  git(path, 'add', '-A');
  git(path, 'commit', '--quiet', '-m', 'Begin');
  return path;
}
