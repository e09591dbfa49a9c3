/** What agents have hands for: the toolsets `files` and `shell`, over one folder each. */
import type { TeamTool } from '../contracts.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { Workspaces } from '../workspaces/index.ts';
import { createFileTools, type FileToolsDeps } from '../workspaces/tools.ts';
import { createShellTools } from './tools.ts';

/** Where agents work, and in what their commands run. */
export interface Hands {
  readonly workspaces: Workspaces;
  readonly sandbox: Sandbox;
}

export const createHandTools = (
  { workspaces, sandbox }: Hands,
  refuseForRoom: FileToolsDeps['refuseForRoom'],
): readonly TeamTool[] => [
  ...createFileTools({ workspaces, refuseForRoom }),
  ...createShellTools({ workspaces, sandbox, refuseForRoom }),
];
