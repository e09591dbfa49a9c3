/** What the commits of a repository hold: files, skills, and the commits themselves. */
import { sentence } from '../../../src/shared/domain/names.ts';
import { ATTEMPT_LIMITS } from '../../../src/shared/protocol/attempts.ts';
import { commitIdSchema } from '../../../src/shared/protocol/outward-texts.ts';
import { git, GitError, GIT_LIMITS, gitText } from '../../platform/git/index.ts';
import type { FileEntry, FolderFile, Listing } from './folder-files.ts';
import { batchReader, entryOf } from './git-files.ts';
import { zeroSplitter } from './diffs.ts';
import { CHECKOUT_LIMITS } from './settings.ts';
import type { Repository, Skill } from './contract.ts';
import type { OwnPlace } from './refs.ts';

const SKILL_FOLDERS = ['.agents/skills', '.claude/skills'];

const lines = (text: string) => (text === '' ? [] : text.split('\n'));

export function createRepositoryFiles(own: OwnPlace) {
  async function has(commit: string): Promise<boolean> {
    return (await git(['cat-file', '-e'], { ...own, of: [`${commit}^{commit}`], codes: [0, 1, 128] })).code === 0;
  }
  /** The lines of a file. None: there is no such file. */
  async function linesOf(commit: string, path: string): Promise<readonly string[]> {
    const text = (await fileOf(commit, path))?.toString('utf8');
    // A newline ends a line, and begins none.
    return text === undefined ? [] : text.replace(/\n$/, '').split('\n');
  }
  async function textOf(commit: string, path: string, most: number): Promise<string | null> {
    return (await fileOf(commit, path))?.subarray(0, most).toString('utf8') ?? null;
  }
  async function read(entries: readonly FileEntry[], use: (file: FolderFile) => Promise<void>): Promise<void> {
    if (entries.length === 0) return;
    await git(['cat-file', '--batch', '--buffer'], {
      ...own,
      ms: GIT_LIMITS.networkMs,
      input: entries.map(({ id }) => `${id}\n`).join(''),
      output: batchReader(async (bytes, index) => {
        const path = entries[index]?.path;
        if (path !== undefined) await use({ path, bytes });
      }),
    });
  }
  async function entryAt(commit: string, path: string): Promise<FileEntry | null> {
    const about = { ...own, of: [commit], paths: [path], env: { GIT_LITERAL_PATHSPECS: '1' } };
    const said = await gitText(['ls-tree', '-l', '-z', '--full-tree'], about).catch(() => '');
    const entry = entryOf(said.replace(/\0$/, ''));
    if (entry?.path === path) return entry;
    // Bytes that are no UTF-8 are shown as this character, and git does not find them by it.
    if (!path.includes('\ufffd')) return null;
    return (await listed(commit, (each) => each === path)).get(path) ?? null;
  }
  async function listed(commit: string, isWanted: (path: string) => boolean): Promise<Listing> {
    const listedEntries = new Map<string, FileEntry>();
    const output = zeroSplitter((line) => {
      const entry = entryOf(line);
      if (entry && isWanted(entry.path) && !listedEntries.has(entry.path)) listedEntries.set(entry.path, entry);
    });
    await git(['ls-tree', '-r', '-l', '-z', '--full-tree'], { ...own, of: [commit], output });
    return listedEntries;
  }
  async function fileOf(commit: string, path: string): Promise<Buffer | null> {
    const entry = await entryAt(commit, path);
    if (entry === null) return null;
    if (entry.bytes > CHECKOUT_LIMITS.folderFileBytes)
      throw new GitError(
        sentence`${path} has more than ${CHECKOUT_LIMITS.folderFileBytes / 1_000_000} MB, which is the most that is read.`,
      );
    let content: Buffer | null = null;
    await read([entry], ({ bytes }) => {
      content = bytes;
      return Promise.resolve();
    });
    return content;
  }

  const files: Pick<Repository, 'skills' | 'filters' | 'commits' | 'textOfLine' | 'has' | 'fileOf' | 'textOf'> = {
    has,
    fileOf,
    textOf,
    async skills(commit) {
      const skills: Skill[] = [];
      for (const top of SKILL_FOLDERS) {
        const paths = (
          await gitText(['ls-tree', '-r', '-z', '--name-only', '--full-tree'], {
            ...own,
            of: [commit],
            paths: [`${top}/`],
          })
        )
          .split('\0')
          .filter((path) => path.endsWith('/SKILL.md'));
        for (const path of paths.slice(0, CHECKOUT_LIMITS.skills - skills.length)) {
          const text = (await textOf(commit, path, CHECKOUT_LIMITS.skillBytes)) ?? '';
          const field = (name: string) =>
            new RegExp(`^${name}:[ \\t]*(.+)$`, 'm').exec(text.slice(0, 2_000))?.[1]?.trim();
          const folderName = path.split('/').at(-2) ?? path;
          skills.push({
            name: (field('name') ?? folderName).slice(0, 100),
            about: (field('description') ?? '').slice(0, 500),
            path,
          });
        }
      }
      return skills;
    },
    async filters(commit) {
      const pattern = '^[^#]+[[:space:]]filter=[^[:space:]]';
      // Git 2.39 knows no end of options here. A commit is digits alone.
      const { out } = await git(['grep', '--no-color', '-h', '-I', '-E', '-e', pattern, commitIdSchema.parse(commit)], {
        ...own,
        paths: [':(glob)**/.gitattributes'],
        codes: [0, 1],
        most: CHECKOUT_LIMITS.skillBytes,
        cut: true,
      });
      return lines(out.toString('utf8').trim()).slice(0, CHECKOUT_LIMITS.namedFiles);
    },
    async commits(base, head) {
      const all = lines(
        await gitText(['log', '--reverse', '--format=%H%x09%s', '--max-count=2000'], {
          ...own,
          of: [`${base}..${head}`],
        }),
      );
      const list = all.slice(-ATTEMPT_LIMITS.commits).map((line) => {
        const [commit = '', subject = ''] = line.split('\t', 2);
        return { commit, subject: subject.slice(0, ATTEMPT_LIMITS.subject) };
      });
      return { list, more: all.length - list.length };
    },
    async textOfLine(commit, { path, line }) {
      return (await has(commit)) ? ((await linesOf(commit, path))[line - 1] ?? null) : null;
    },
  };
  return { files, listed, read };
}
