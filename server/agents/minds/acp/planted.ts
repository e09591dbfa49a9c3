/**
 * Settings in an agent's folder that make a program act without asking: hooks, servers, variables
 * and permissions of ACP agents, and commands in the settings of git, which such programs run. The
 * agent can write all of them. So the person reviews them before a process starts in that folder. A
 * yes covers exactly these contents.
 */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { fileText } from '../../../../src/shared/domain/file-text.ts';
import { sentence } from '../../../../src/shared/domain/names.ts';
import { isSameJson } from '../../../../src/shared/domain/platform/json.ts';
import { MIND_PREFIX } from '../../../../src/shared/domain/toolsets.ts';
import { type EntryBelow, type Workspace, WorkspaceError } from '../../../files/workspaces/index.ts';
import type { Caller } from '../../../tools/index.ts';
import type { AskPermission } from '../actions.ts';
import { ProgramError } from './connection.ts';
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
  // Variables that several programs load by themselves.
  ...['.env', '.env.local', '.envrc'],
]);
interface PlantedFile {
  readonly path: string;
  /** SHA-256 of its contents. Null: the contents cannot be pinned, as with a link. */
  readonly hash: string | null;
  /** Its contents, for the person to read. Null: not text, or too long. */
  readonly text: string | null;
}

type Inspected = Pick<Workspace, 'list' | 'walk' | 'bytesOf'>;

/**
 * A file's name as case-insensitive file systems, and those that ignore invisible characters,
 * compare it.
 */
const folded = (name: string) =>
  name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase();

/** Git settings that run no program. All other settings are shown. */
const HARMLESS = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)$/,
  /^(remote\..*\.(url|fetch|pushurl)|branch\..*\.(remote|merge|rebase)|submodule\..*\.(url|active))$/,
  /^(user\.(name|email)|init\.defaultbranch|pull\.(rebase|ff)|push\.(default|autosetupremote)|color\..*)$/,
];

/** Whether a settings file is certainly harmless. Each line must have the plainest form. */
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
    // `ext::` and similar addresses run a command.
    return HARMLESS.some((each) => each.test(`${section}.${key}`.toLowerCase())) && !value.includes('::');
  });
}

async function plantedIn(
  workspace: Inspected,
  limits: Pick<ProgramLimits, 'settingsEntries' | 'settingsBytes' | 'settingsShown' | 'repositoryEntries'>,
): Promise<readonly PlantedFile[]> {
  const planted = new Map<string, PlantedFile>();
  const unpinned = (path: string) => void planted.set(path, { path, hash: null, text: null });
  async function inspect({ path, kind }: Pick<EntryBelow, 'path' | 'kind'>, isSafe?: (text: string) => boolean) {
    if (kind === 'folder') return;
    if (kind !== 'file') return unpinned(path);
    try {
      const bytes = await workspace.bytesOf(path, limits.settingsBytes);
      const text = fileText(bytes);
      if (text !== null && isSafe?.(text) === true) return;
      const hash = createHash('sha256').update(bytes).digest('hex');
      planted.set(path, { path, hash, text: text !== null && text.length <= limits.settingsShown ? text : null });
    } catch (error) {
      // The file has a second name, is too long, or changed meanwhile.
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

  /** `path`: of a repository's own folder. `''`: the agent's folder is a repository itself. */
  async function inspectGit(path: string): Promise<void> {
    const inGit = path === '' ? '' : `${path}/`;
    for (const { name, kind } of await workspace.list(path)) {
      const own = `${inGit}${name}`;
      if (/^config(\.worktree)?$/.test(folded(name))) await inspect({ path: own, kind }, isHarmless);
      else if (folded(name) === 'hooks' && kind === 'folder')
        await below(own, limits.settingsEntries, async (entry) => {
          if (!entry.path.endsWith('.sample')) await inspect(entry);
        });
      else if (folded(name) === 'modules' && kind === 'folder')
        await below(own, limits.settingsEntries, async (entry) => {
          if (/(^|\/)(config(\.worktree)?|hooks\/.*(?<!\.sample))$/.test(folded(entry.path)))
            await inspect(entry, isHarmless);
        });
      // The settings then come from another folder.
      else if (kind === 'link' || folded(name) === 'commondir') unpinned(own);
    }
  }

  const top = await workspace.list('');
  for (const { name, kind } of top)
    if (READ.has(folded(name))) {
      if (kind === 'folder') await below(name, limits.settingsEntries, (entry) => inspect(entry));
      else await inspect({ path: name, kind });
    }
  const names = new Set(top.map(({ name }) => folded(name)));
  const isRepository = names.has('head') && ((names.has('objects') && names.has('refs')) || names.has('commondir'));
  if (isRepository) await inspectGit('');
  if (isRepository || names.has('.git'))
    // Git also uses a repository inside a repository.
    await below('', limits.repositoryEntries, async ({ path, kind }) => {
      if (folded(path.split('/').at(-1) ?? '') !== '.git') return;
      if (kind === 'folder') await inspectGit(path);
      // A `.git` file or link leads to a repository elsewhere.
      else unpinned(path);
    });
  return [...planted.values()];
}

/**
 * The question to the person: contents as changes, which the page shows in full, and the hash of
 * contents that are too long for that.
 */
function questionOf(name: string, files: readonly PlantedFile[]): Readonly<Record<string, unknown>> {
  const long = files.filter(({ text }) => text === null);
  return {
    command: `start ${name} with the settings in the folder`,
    diffs: files.flatMap(({ path, text }) => (text === null ? [] : [{ path, old_text: '', new_text: text }])),
    ...(long.length === 0 ? {} : { sha256: Object.fromEntries(long.map(({ path, hash }) => [path, hash])) }),
  };
}

interface ReviewDeps {
  /** The program's name. */
  readonly name: string;
  readonly folder: string;
  readonly workspace: Inspected;
  readonly permit: AskPermission;
  readonly limits: ProgramLimits;
}

/** The question appears under the same tool name as Claude Code's own commands. */
const RUNS = `${MIND_PREFIX}execute`;

/**
 * Asks the person about settings in the folder that the process obeys by itself. Resolves with
 * those that they allowed. Throws where they say no, or are absent.
 */
async function reviewed({ name, folder, workspace, permit, limits }: ReviewDeps, caller: Caller) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files = await plantedIn(workspace, limits);
  const paths = files.map(({ path }) => path).join(', ');
  if (files.some(({ hash }) => hash === null))
    throw new ProgramError(
      'other',
      sentence`${name} was not started. Its agent’s folder has settings for it, and Roost cannot read some of them (${paths}). Delete them under Files.`,
    );
  if (files.length === 0) return files;
  const permission = await permit({ tool: RUNS, input: questionOf(name, files), caller });
  if (!permission.allowed)
    throw new ProgramError(
      'other',
      sentence`${name} was not started: its agent’s folder has settings that it would follow (${paths}). Delete them under Files, or let it start with them in the Inbox.`,
    );
  permission.over({ text: 'It was started with them.', isError: false, stopped: false });
  return files;
}

/** Starts the process after the review, and ends it where the settings changed meanwhile. */
export async function startReviewed<Started>(
  deps: ReviewDeps,
  caller: Caller,
  start: () => Promise<Started>,
  end: (started: Started) => Promise<void>,
): Promise<Started> {
  const agreed = await reviewed(deps, caller);
  const made = await start();
  if (isSameJson(agreed, await plantedIn(deps.workspace, deps.limits))) return made;
  await end(made);
  throw new ProgramError(
    'other',
    sentence`${deps.name} was ended: settings that it follows changed in its agent’s folder while it started.`,
  );
}
