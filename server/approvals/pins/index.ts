/**
 * Pins the content that a yes covers besides the call's text: what lies in the agent's folder at
 * the paths that the call is about. Each path has a mark that changes with its content. One pin
 * stands for all marks.
 *
 * A sandboxed command without a network can do no more than its agent's own tools. It is pinned to
 * the files that it names, for the one call that is answered. Any other command can leak or destroy
 * things outside the folder. So its files are read together with the files that they name in turn,
 * as far as their texts tell, and with the files that programs read by themselves (`package.json`,
 * Makefiles, git hooks and the like). Where only the shell knows what a command names, the whole
 * folder counts. Files that a program finds in other ways are not covered: installed packages,
 * tests that a runner collects, names that are composed at run time.
 */
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { fileText } from '../../../src/shared/domain/file-text.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { covers, type Network } from '../../../src/shared/domain/network.ts';
import { isRecord } from '../../../src/shared/domain/platform/json.ts';
import { MIND_PREFIX } from '../../../src/shared/domain/toolsets.ts';
import type { CommandReach, PinnedFile } from '../../../src/shared/protocol/approvals.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { Sandbox } from '../../execution/sandbox/index.ts';
import { type Workspace, WorkspaceError, type Workspaces } from '../../files/workspaces/index.ts';
import { commandWords } from './command-words.ts';
import { createFolderScan } from './folder-scan.ts';
import { PIN_LIMITS, type PinLimits } from './settings.ts';

/** The content at the paths that a call is about. */
export interface Pinned {
  /** Equal as long as all of the content is. */
  readonly pin: string;
  readonly files: readonly PinnedFile[];
  /** Number of files that are compared but not listed. */
  readonly rest: number;
  /** False: there is more than can be compared. */
  readonly isWhole: boolean;
}

export interface PinnedCall {
  readonly agentId: AgentId;
  /** The folder in which the paths of the input begin. Left out: the agent’s own. */
  readonly folder?: string | undefined;
  readonly tool: string;
  readonly input: unknown;
}

export interface Pins {
  /** Null: the call is about nothing in the folder. */
  of(call: PinnedCall): Promise<Pinned | null>;
  /**
   * Blocks Roost's own changes to the content until the returned function is called. Null: the
   * content differs from the pinned one.
   */
  hold(call: PinnedCall, pinned: Pinned | null): Promise<(() => void) | null>;
  /** The reach of this call's command. Null: it runs none. */
  reachOf(call: Pick<PinnedCall, 'agentId' | 'tool'>): Promise<CommandReach | null>;
}

interface PinsDeps {
  readonly workspaces: Pick<Workspaces, 'of' | 'folderOf'>;
  readonly commandReach: (agentId: AgentId) => Promise<CommandReach>;
  readonly limits?: PinLimits;
}

/** For an ACP agent's own actions, which run outside the sandbox. */
const UNBOUNDED: CommandReach = { network: 'all', sandboxed: false };
const reachesNothing = (network: Network) => network === 'none' || (network !== 'all' && network.length === 0);

/** The command can only read and write in its agent's folder. */
export const isBounded = ({ sandboxed, network }: CommandReach): boolean => sandboxed && reachesNothing(network);
/** Whether `wide` permits everything that `narrow` does. */
export const goesAsFar = (wide: CommandReach, narrow: CommandReach): boolean =>
  !wide.sandboxed || (narrow.sandboxed && covers(wide.network, narrow.network));

function pinnedOf(
  files: readonly PinnedFile[],
  { rest = 0, restMark = '', isWhole = true }: { rest?: number; restMark?: string; isWhole?: boolean } = {},
): Pinned | null {
  if (files.length === 0 && rest === 0 && isWhole) return null;
  const marks = files.map(({ path, leadsTo, kind, mark }) => JSON.stringify([path, leadsTo, kind, mark])).sort();
  const pin = createHash('sha256')
    .update(JSON.stringify([marks, rest, restMark, isWhole]))
    .digest('hex');
  return { pin, files, rest, isWhole };
}

const textIn = (input: unknown, name: string): string | null => {
  const value = isRecord(input) ? input[name] : undefined;
  return typeof value === 'string' ? value : null;
};

/** Texts in an input that may be paths, and whether their field names say so. */
function* textsIn(
  input: unknown,
  name = '',
  depth = 0,
): Generator<{ readonly text: string; readonly isPath: boolean }> {
  if (typeof input === 'string') yield { text: input, isPath: /path|file/i.test(name) };
  else if (depth < 4 && typeof input === 'object' && input !== null)
    for (const [key, value] of Object.entries(input))
      yield* textsIn(value, Array.isArray(input) ? name : key, depth + 1);
}

export function createPins({ workspaces, commandReach, limits = PIN_LIMITS }: PinsDeps): Pins {
  function workspaceOf({ agentId, folder }: Pick<PinnedCall, 'agentId' | 'folder'>): Workspace {
    const whole = workspaces.of(agentId);
    return folder === undefined ? whole : whole.within(folder);
  }
  async function liesAt(call: PinnedCall, paths: readonly string[]): Promise<Pinned | null> {
    const files = await Promise.all(
      paths.map(async (path): Promise<PinnedFile | null> => {
        try {
          const { kind, bytes, entries, mark, content } = await workspaceOf(call).lies(path);
          const text = content === null ? null : fileText(content);
          return { path, leadsTo: null, kind, bytes, entries, mark, inTurn: false, text };
        } catch (error) {
          // The tool itself refuses a path outside the folder.
          if (error instanceof WorkspaceError) return null;
          throw error;
        }
      }),
    );
    return pinnedOf(files.flatMap((file) => file ?? []));
  }

  async function commandPinned(call: PinnedCall, command: string, cwd: string | null, reach: CommandReach) {
    const own = workspaces.folderOf(call.agentId);
    if (call.folder === undefined) {
      const folder = await realpath(own).catch(() => null);
      return folder === null ? null : await scanned({ folder, own }, command, cwd, reach);
    }
    try {
      // Held open, so that its path leads to no other folder.
      const part = await workspaceOf(call).openItself();
      try {
        return await scanned({ folder: part.path, own: part.path }, command, cwd, reach);
      } finally {
        await part.close();
      }
    } catch (error) {
      // The tool itself says that the folder is gone.
      if (error instanceof WorkspaceError) return null;
      throw error;
    }
  }
  async function scanned(
    { folder, own }: { readonly folder: string; readonly own: string },
    command: string,
    cwd: string | null,
    reach: CommandReach,
  ) {
    const { names, enters, opaque, plain } = commandWords(command);
    const scan = createFolderScan(folder, [own], limits);
    if (isBounded(reach)) {
      for (const name of names) {
        const path = scan.pathOf(name, '');
        if (path !== null && ['file', 'link'].includes((await scan.kindOf(path)) ?? '')) await scan.take(path, false);
      }
      const { files, ...rest } = scan.all();
      return pinnedOf(files, rest);
    }
    const bases = new Set(['']);
    for (const name of [...(cwd === null ? [] : [cwd]), ...enters])
      for (const base of [...bases]) {
        const path = scan.pathOf(name, base);
        const kind = path === null ? null : await scan.kindOf(path);
        if (path !== null && (kind === 'folder' || kind === 'link') && bases.size < limits.bases) bases.add(path);
      }
    for (const name of names)
      for (const base of bases) {
        const path = scan.pathOf(name, base);
        if (path !== null && (await scan.kindOf(path)) !== null) await scan.take(path, false);
        if (!plain) await scan.takeProgram(name, base);
      }
    if (!plain) for (const base of bases) await scan.takeWellKnown(base);
    const isKnown = plain || (await scan.takeNamed([...bases]));
    if (opaque || !isKnown) await scan.take('', true);
    const { files, ...rest } = scan.all();
    return pinnedOf(files, rest);
  }

  /** Paths within the folder that an ACP agent's request names. */
  async function programPaths(agentId: AgentId, input: unknown): Promise<readonly string[]> {
    const own = workspaces.folderOf(agentId);
    const roots = [own, await realpath(own).catch(() => own)];
    const paths = new Set<string>();
    for (const { text, isPath } of textsIn(input)) {
      if (text === '' || text.length > limits.word || text.includes('\n')) continue;
      const inner = isAbsolute(text)
        ? roots.map((root) => relative(root, text).split(sep).join('/')).find((each) => !/^\.\.(?:\/|$)/.test(each))
        : text;
      if (inner === undefined || inner === '' || isAbsolute(inner)) continue;
      const lies = await workspaces
        .of(agentId)
        .lies(inner)
        .catch((error: unknown) => {
          if (error instanceof WorkspaceError) return null;
          throw error;
        });
      if (lies && (isPath || lies.kind !== 'none')) paths.add(inner);
    }
    return [...paths];
  }

  const reachOf: Pins['reachOf'] = async ({ agentId, tool }) =>
    tool === 'run_command' ? await commandReach(agentId) : tool === `${MIND_PREFIX}execute` ? UNBOUNDED : null;

  const pins: Pins = {
    reachOf,
    async of(call) {
      const { agentId, tool, input } = call;
      const [path, command] = [textIn(input, 'path'), textIn(input, 'command')];
      switch (tool) {
        case 'write_file':
        case 'edit_file':
        case 'delete_file':
          return path === null ? null : await liesAt(call, [path]);
        case 'wake_script':
        case 'accept_script': {
          const script = textIn(input, 'script_path');
          return script === null ? null : await liesAt(call, [script]);
        }
        case 'move_file': {
          const [from, to] = [textIn(input, 'from'), textIn(input, 'to')];
          return from === null || to === null ? null : await liesAt(call, [from, to]);
        }
      }
      const reach = await reachOf({ agentId, tool });
      if (reach !== null && command !== null) return await commandPinned(call, command, textIn(input, 'cwd'), reach);
      if (tool.startsWith(MIND_PREFIX)) return await liesAt(call, await programPaths(agentId, input));
      return null;
    },
    async hold(call, pinned) {
      const reach = await reachOf(call);
      // A bounded command is not locked, so that it and its agent can both go on working.
      const isHeld = reach !== null && !isBounded(reach);
      const paths = (pinned?.files ?? []).flatMap(({ path, leadsTo }) => [
        path,
        ...(leadsTo === null || isAbsolute(leadsTo) || leadsTo.startsWith('../') ? [] : [leadsTo]),
      ]);
      const release = isHeld ? await workspaceOf(call).hold(pinned && pinned.rest > 0 ? [''] : paths) : () => undefined;
      try {
        if ((await pins.of(call))?.pin === pinned?.pin) return release;
      } catch (error) {
        release();
        throw error;
      }
      release();
      return null;
    },
  };
  return pins;
}

/** Pins where agents have no folders: no call is about any content. */
export const NO_PINS: Pins = {
  of: () => Promise.resolve(null),
  hold: () => Promise.resolve(() => undefined),
  reachOf: () => Promise.resolve(null),
};

/**
 * The pins of one household, whose commands reach as far as its settings and its sandbox allow.
 * None where agents have no folders.
 */
export const createFolderPins = (
  folders: { readonly workspaces: Workspaces; readonly sandbox: Sandbox } | undefined,
  configs: Pick<Configs, 'agent'>,
): Pins =>
  folders
    ? createPins({
        workspaces: folders.workspaces,
        commandReach: async (agentId) => {
          const [{ available }, { effective }] = await Promise.all([folders.sandbox.status(), configs.agent(agentId)]);
          return { network: effective.coordination.network, sandboxed: available };
        },
      })
    : NO_PINS;
