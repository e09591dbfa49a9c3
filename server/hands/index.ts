/** What agents have hands for: the toolsets `files` and `shell`, over one folder each, and `web`. */
import type { TeamTool } from '../contracts.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { Web } from '../web/index.ts';
import { createWebTools } from '../web/tools.ts';
import type { Workspaces } from '../workspaces/index.ts';
import { createFileTools, type FileToolsDeps } from '../workspaces/tools.ts';
import { createShellTools } from '../shell/tools.ts';

/** Where agents work, and in what their commands run. */
export interface Hands {
  readonly workspaces: Workspaces;
  /** One for all homes: in it runs what agents run. */
  readonly sandbox: Sandbox;
  readonly web: Web;
}

export const createHandTools = (
  { workspaces, sandbox, web }: Hands,
  refuseForRoom: FileToolsDeps['refuseForRoom'],
  now: () => number,
): readonly TeamTool[] => [
  ...createFileTools({ workspaces, refuseForRoom }),
  ...createShellTools({ workspaces, sandbox, refuseForRoom }),
  ...createWebTools({ web, now }),
];
