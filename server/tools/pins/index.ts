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
import { isRecord } from '../../../src/shared/domain/platform/is-record.ts';
import { MIND_PREFIX } from '../../../src/shared/domain/toolsets.ts';
import type { CommandReach, PinnedFile } from '../../../src/shared/protocol/calls.ts';
import { WorkspaceError, type Workspaces } from '../workspaces/index.ts';
import { commandWords } from './command-words.ts';
import { createFolderLook } from './folder-look.ts';
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

export interface PinsDeps {
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
  async function liesAt(agentId: AgentId, paths: readonly string[]): Promise<Pinned | null> {
    const files = await Promise.all(
      paths.map(async (path): Promise<PinnedFile | null> => {
        try {
          const { kind, bytes, entries, mark, content } = await workspaces.of(agentId).lies(path);
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

  async function commandPinned(agentId: AgentId, command: string, cwd: string | null, reach: CommandReach) {
    const own = workspaces.folderOf(agentId);
    const folder = await realpath(own).catch(() => null);
    if (folder === null) return null;
    const { names, enters, opaque, plain } = commandWords(command);
    const look = createFolderLook(folder, [own], limits);
    if (isBounded(reach)) {
      for (const name of names) {
        const path = look.pathOf(name, '');
        if (path !== null && ['file', 'link'].includes((await look.kindOf(path)) ?? '')) await look.take(path, false);
      }
      const { files, ...rest } = look.all();
      return pinnedOf(files, rest);
    }
    const bases = new Set(['']);
    for (const name of [...(cwd === null ? [] : [cwd]), ...enters])
      for (const base of [...bases]) {
        const path = look.pathOf(name, base);
        const kind = path === null ? null : await look.kindOf(path);
        if (path !== null && (kind === 'folder' || kind === 'link') && bases.size < limits.bases) bases.add(path);
      }
    for (const name of names)
      for (const base of bases) {
        const path = look.pathOf(name, base);
        if (path !== null && (await look.kindOf(path)) !== null) await look.take(path, false);
        if (!plain) await look.takeProgram(name, base);
      }
    if (!plain) for (const base of bases) await look.takeWellKnown(base);
    const isKnown = plain || (await look.takeNamed([...bases]));
    if (opaque || !isKnown) await look.take('', true);
    const { files, ...rest } = look.all();
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
    async of({ agentId, tool, input }) {
      const [path, command] = [textIn(input, 'path'), textIn(input, 'command')];
      switch (tool) {
        case 'write_file':
        case 'edit_file':
        case 'delete_file':
          return path === null ? null : await liesAt(agentId, [path]);
        case 'wake_script':
        case 'accept_script': {
          const script = textIn(input, 'script_path');
          return script === null ? null : await liesAt(agentId, [script]);
        }
        case 'move_file': {
          const [from, to] = [textIn(input, 'from'), textIn(input, 'to')];
          return from === null || to === null ? null : await liesAt(agentId, [from, to]);
        }
      }
      const reach = await reachOf({ agentId, tool });
      if (reach !== null && command !== null) return await commandPinned(agentId, command, textIn(input, 'cwd'), reach);
      if (tool.startsWith(MIND_PREFIX)) return await liesAt(agentId, await programPaths(agentId, input));
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
      const release = isHeld
        ? await workspaces.of(call.agentId).hold(pinned && pinned.rest > 0 ? [''] : paths)
        : () => undefined;
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
