/**
 * Settings in an agent's folder that make a program act there before it asks anybody: hooks,
 * servers, variables and permissions of ACP agents, and commands in the settings of git, which
 * such programs run. The agent can write all of them, so the person sees them before a program is
 * started in that folder. A yes is for exactly these contents.
 */
import { createHash } from 'node:crypto';
import { fileText } from '../../../src/shared/domain/file-text.ts';
import type { EntryBelow, Workspace } from '../workspaces/index.ts';
import { WorkspaceError } from '../workspaces/index.ts';
import type { ProgramLimits } from './settings.ts';

/** Folders and files at the top of the folder, in lower case, by the programs that read them. */
const READ: ReadonlySet<string> = new Set([
  // Claude Code
  ...['.claude', '.claude.json', '.mcp.json'],
  // Codex, Gemini CLI and Qwen Code, Goose, OpenCode, Cursor, Crush
  ...['.codex', '.gemini', '.qwen', '.goose', '.opencode', 'opencode.json', 'opencode.jsonc', '.cursor'],
  ...['.crush', '.crush.json', 'crush.json'],
  // Others that speak the protocol, or are about to.
  ...['.agents', '.augment', '.continue', '.copilot', '.factory', '.junie', '.kimi', '.kiro', '.vibe'],
  // Variables that several of them load by themselves.
  ...['.env', '.env.local', '.envrc'],
]);
interface PlantedFile {
  readonly path: string;
  /**
   * SHA-256 of its contents. Null: nobody can tell what a program will find there, as with a link.
   */
  readonly hash: string | null;
  /** Its contents, for the person to read. Null: they are no text, or long. */
  readonly text: string | null;
}

type Looked = Pick<Workspace, 'list' | 'walk' | 'bytesOf'>;

/**
 * Disks that tell no capitals, or pass over characters that nobody sees, find a file by other names
 * too.
 */
const folded = (name: string) =>
  name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase();

/** Settings of git that name no program. Everything else in its files is shown. */
const HARMLESS = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)$/,
  /^(remote\..*\.(url|fetch|pushurl)|branch\..*\.(remote|merge|rebase)|submodule\..*\.(url|active))$/,
  /^(user\.(name|email)|init\.defaultbranch|pull\.(rebase|ff)|push\.(default|autosetupremote)|color\..*)$/,
];

/**
 * Whether a file of settings can only say what is harmless: each line is read in the plainest form
 * alone.
 */
function isHarmless(config: string): boolean {
  let section = '';
  return config.split('\n').every((line) => {
    if (/^\s*([#;].*)?$/.test(line)) return true;
    const [, name, sub] = /^\s*\[([\w-]+)(?: "([^"\\]*)")?\]\s*$/.exec(line) ?? [];
    if (name !== undefined) {
      section = sub === undefined ? name : `${name}.${sub}`;
      return true;
    }
    const [, key, value] = /^\s*([A-Za-z][\w-]*)\s*=\s*([^\\"]*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined) return false;
    // `ext::` and its kind run a command for an address.
    return HARMLESS.some((each) => each.test(`${section}.${key}`.toLowerCase())) && !value.includes('::');
  });
}

export async function plantedIn(
  workspace: Looked,
  limits: Pick<ProgramLimits, 'settingsEntries' | 'settingsBytes' | 'settingsShown' | 'repositoryEntries'>,
): Promise<readonly PlantedFile[]> {
  const found = new Map<string, PlantedFile>();
  const unpinned = (path: string) => void found.set(path, { path, hash: null, text: null });
  async function look({ path, kind }: Pick<EntryBelow, 'path' | 'kind'>, isSafe?: (text: string) => boolean) {
    if (kind === 'folder') return;
    if (kind !== 'file') return unpinned(path);
    try {
      const bytes = await workspace.bytesOf(path, limits.settingsBytes);
      const text = fileText(bytes);
      if (text !== null && isSafe?.(text) === true) return;
      const hash = createHash('sha256').update(bytes).digest('hex');
      found.set(path, { path, hash, text: text !== null && text.length <= limits.settingsShown ? text : null });
    } catch (error) {
      // It has a second name, is too long, or changed meanwhile.
      if (!(error instanceof WorkspaceError)) throw error;
      unpinned(path);
    }
  }
  async function below(path: string, most: number, each: (entry: EntryBelow) => Promise<void> | void): Promise<void> {
    let count = 0;
    for await (const entry of workspace.walk(path, most + 1)) {
      count += 1;
      if (count > most) return unpinned(path);
      await each(entry);
    }
  }

  /** `path`: of a repository’s own folder; `''`: the agent’s folder is one itself. */
  async function lookAtGit(path: string): Promise<void> {
    const inGit = path === '' ? '' : `${path}/`;
    for (const { name, kind } of await workspace.list(path)) {
      const own = `${inGit}${name}`;
      if (/^config(\.worktree)?$/.test(folded(name))) await look({ path: own, kind }, isHarmless);
      else if (folded(name) === 'hooks' && kind === 'folder')
        await below(own, limits.settingsEntries, async (entry) => {
          if (!entry.path.endsWith('.sample')) await look(entry);
        });
      else if (folded(name) === 'modules' && kind === 'folder')
        await below(own, limits.settingsEntries, async (entry) => {
          if (/(^|\/)(config(\.worktree)?|hooks\/.*(?<!\.sample))$/.test(folded(entry.path)))
            await look(entry, isHarmless);
        });
      // The settings are those of another folder then.
      else if (kind === 'link' || folded(name) === 'commondir') unpinned(own);
    }
  }

  const top = await workspace.list('');
  for (const { name, kind } of top)
    if (READ.has(folded(name))) {
      if (kind === 'folder') await below(name, limits.settingsEntries, (entry) => look(entry));
      else await look({ path: name, kind });
    }
  const names = new Set(top.map(({ name }) => folded(name)));
  const isRepository = names.has('head') && ((names.has('objects') && names.has('refs')) || names.has('commondir'));
  if (isRepository) await lookAtGit('');
  if (isRepository || names.has('.git'))
    // Git looks at a repository in a repository, too.
    await below('', limits.repositoryEntries, async ({ path, kind }) => {
      if (folded(path.split('/').at(-1) ?? '') !== '.git') return;
      if (kind === 'folder') await lookAtGit(path);
      // It leads to a repository elsewhere.
      else unpinned(path);
    });
  return [...found.values()];
}

/**
 * What the person is asked: contents as changes, which the page shows whole, and the hash of what
 * is too long for that.
 */
export function questionOf(name: string, files: readonly PlantedFile[]): Readonly<Record<string, unknown>> {
  const long = files.filter(({ text }) => text === null);
  return {
    command: `start ${name} with the settings in the folder`,
    diffs: files.flatMap(({ path, text }) => (text === null ? [] : [{ path, old_text: '', new_text: text }])),
    ...(long.length === 0 ? {} : { sha256: Object.fromEntries(long.map(({ path, hash }) => [path, hash])) }),
  };
}
