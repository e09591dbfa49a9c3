/**
 * Runners are programs such as `npx` that fetch another program before they start it. This module
 * says what an MCP server started by one needs in the sandbox.
 */
import { z } from 'zod';
import { MCP_BOUNDS, type Attachment, type Box } from './mcp.ts';

/** The runners that a relay knows. */
export const RUNNERS = ['npx', 'bunx', 'uvx'] as const;

export const runnerSchema = z.object({
  command: z.enum(RUNNERS),
  hosts: z
    .array(z.string())
    .describe('address from which the runner fetches programs, as the relay’s machine sets it; empty: not known'),
  reads: z
    .array(z.string())
    .describe('folders of the machine with the runner’s own files, outside the system’s folders'),
  env: z.record(z.string(), z.string()).describe('variables that make the runner fetch from there in the sandbox too'),
});
export type Runner = z.infer<typeof runnerSchema>;

export interface Needs {
  readonly hosts: readonly string[];
  /** Folders in its arguments. The first is readable and writable, the others are read-only. */
  readonly folders: readonly string[];
  readonly reads: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A path that ends like a file name stands for that file's folder. */
const folderOf = (path: string) =>
  /\/[^/]*\.[a-zA-Z0-9]{1,8}$/.test(path) ? path.slice(0, path.lastIndexOf('/')) : path;
/**
 * Absolute paths among arguments, including those after a `=`. An argument never grants the whole
 * machine.
 */
const foldersIn = (args: readonly string[]) => [
  ...new Set(args.map((arg) => folderOf(arg.replace(/^--?[^=/]+=/, ''))).filter((arg) => /^\/[^/]/.test(arg))),
];

const runnerNameOf = (command: string) => (command.split('/').at(-1) ?? '').replace(/\.(?:cmd|exe)$/i, '');
/** Whether the program is fetched before it starts. */
export const isFetched = (command: string): boolean => RUNNERS.some((runner) => runner === runnerNameOf(command));

/**
 * What a program started by a runner needs. Null: nothing that is known. `mayFolders`: it may see
 * folders of the machine.
 */
export function needsOf(attachment: Attachment, runners: readonly Runner[], mayFolders: boolean): Needs | null {
  if (attachment.kind !== 'program') return null;
  const called = runnerNameOf(attachment.command);
  const runner = runners.find(({ command }) => command === called);
  if (!runner) return null;
  const folders = mayFolders ? foldersIn(attachment.args) : [];
  const reads = mayFolders ? runner.reads : [];
  const needs = { hosts: runner.hosts, folders, reads, env: runner.env };
  return needs.hosts.length + folders.length + reads.length === 0 ? null : needs;
}

/** The same program with its needs added to what the person has already granted. */
export function withNeeds(attachment: Attachment, needs: Needs | null): Attachment {
  if (!needs || attachment.kind !== 'program' || attachment.box === null) return attachment;
  const { box, env } = attachment;
  const [first = null, ...rest] = needs.folders.filter((folder) => folder !== box.folder);
  const others = box.folder === null ? rest : [...(first === null ? [] : [first]), ...rest];
  const reads = [...new Set([...box.reads, ...others, ...needs.reads])].slice(0, MCP_BOUNDS.folders);
  const network: Box['network'] =
    box.network === 'all' ? 'all' : [...new Set([...(box.network === 'none' ? [] : box.network), ...needs.hosts])];
  return {
    ...attachment,
    env: { ...needs.env, ...env },
    box: { folder: box.folder ?? first, reads, network: network.length === 0 ? 'none' : network },
  };
}
