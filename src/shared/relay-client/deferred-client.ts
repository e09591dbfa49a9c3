/**
 * The page's calls that the first paint does not need: inboxes, wakes and limits, the sleeping
 * flag, threads, projects, webhooks, credentials, costs, schedules. They are apart from
 * `page-client.ts`, so the first paint does not load them.
 */
import type { AgentId, ProjectId } from '../domain/ids.ts';
import { approvalEndpoints } from '../protocol/endpoints/approvals.ts';
import { mcpServerEndpoints } from '../protocol/endpoints/mcp.ts';
import { programEndpoints } from '../protocol/endpoints/programs.ts';
import { credentialEndpoints, deviceCodeEndpoints, tailnetEndpoints } from '../protocol/endpoints/access.ts';
import { costEndpoints } from '../protocol/endpoints/costs.ts';
import type { Endpoint } from '../protocol/endpoints/endpoint.ts';
import { historyEndpoints } from '../protocol/endpoints/history.ts';
import { notificationEndpoints } from '../protocol/endpoints/notifications.ts';
import { modelEndpoints } from '../protocol/endpoints/models.ts';
import {
  inboxEndpoints,
  pauseEndpoints,
  recordEndpoints,
  roomEndpoints,
  teamEndpoints,
  wakeEndpoints,
} from '../protocol/endpoints/team.ts';
import { projectWorkEndpoints } from '../protocol/endpoints/project-work.ts';
import { webhookEndpoints } from '../protocol/endpoints/webhooks.ts';
import { projectEndpoints } from '../protocol/endpoints/projects.ts';
import { obstacleEndpoints } from '../protocol/endpoints/obstacles.ts';
import { dreamEndpoints } from '../protocol/endpoints/dreams.ts';
import { examEndpoints } from '../protocol/endpoints/exams.ts';
import { forgetEndpoints } from '../protocol/endpoints/forgets.ts';
import { memoryEndpoints } from '../protocol/endpoints/memories.ts';
import { mappingEndpoints } from '../protocol/endpoints/routine-mappings.ts';
import { scheduleEndpoints } from '../protocol/endpoints/schedules.ts';
import { snapshotEndpoints } from '../protocol/endpoints/snapshots.ts';
import { threadEndpoints } from '../protocol/endpoints/threads.ts';
import { workspaceEndpoints } from '../protocol/endpoints/workspaces.ts';
import { createRelayClient, createSender, pathOf, type RelayClient, type SendDeps, type SentCall } from './client.ts';
import type { RelayResult } from './result.ts';
import { RELAY_TIMES } from './settings.ts';

const endpoints = {
  ...teamEndpoints,
  ...inboxEndpoints,
  ...roomEndpoints,
  ...wakeEndpoints,
  ...pauseEndpoints,
  ...threadEndpoints,
  ...projectEndpoints,
  ...projectWorkEndpoints,
  ...webhookEndpoints,
  ...obstacleEndpoints,
  ...mappingEndpoints,
  ...forgetEndpoints,
  ...memoryEndpoints,
  ...dreamEndpoints,
  ...examEndpoints,
  ...credentialEndpoints,
  ...costEndpoints,
  ...recordEndpoints,
  ...scheduleEndpoints,
  ...snapshotEndpoints,
  ...workspaceEndpoints,
  ...historyEndpoints,
  ...mcpServerEndpoints,
  ...modelEndpoints,
  ...programEndpoints,
  ...approvalEndpoints,
  ...notificationEndpoints,
  ...deviceCodeEndpoints,
  ...tailnetEndpoints,
};
const YAML = 'application/yaml';

/** The limits of an agent as YAML. With `agentId` null, the household's limits. */
interface ConfigYaml {
  /** The limits in force, with a mark on those that were set. */
  read(agentId: AgentId | null): Promise<RelayResult<string>>;
  write(agentId: AgentId | null, yaml: string): Promise<RelayResult<null>>;
}

/** Files of an agent's folder, unchanged. */
export interface AgentFiles {
  read(agentId: AgentId, path: string): Promise<RelayResult<Blob>>;
  /** A folder and everything in it, as a zip file. */
  zip(agentId: AgentId, path: string): Promise<RelayResult<Blob>>;
  put(agentId: AgentId, path: string, file: Blob): Promise<RelayResult<null>>;
}

/** Files of a project, unchanged. */
export interface FilesOfProject {
  read(projectId: ProjectId, path: string): Promise<RelayResult<Blob>>;
  put(projectId: ProjectId, path: string, file: Blob): Promise<RelayResult<null>>;
}

export type DeferredClient = RelayClient<typeof endpoints> & {
  readonly configYaml: ConfigYaml;
  readonly agentFiles: AgentFiles;
  readonly filesOfProject: FilesOfProject;
};

export function createDeferredClient(deps: SendDeps): DeferredClient {
  const sender = createSender(deps);
  const call = (endpoint: Endpoint, agentId: AgentId | null) => ({
    method: endpoint.method,
    path: pathOf(endpoint, { agentId }),
    timeout: RELAY_TIMES.call,
  });
  const { agentConfig, householdConfig, putAgentConfig, putHouseholdConfig } = wakeEndpoints;
  const { file, filesZip, putFile } = workspaceEndpoints;
  const at = (endpoint: Endpoint, agentId: AgentId, path: string): SentCall => ({
    method: endpoint.method,
    path: pathOf(endpoint, { agentId, path }),
    timeout: RELAY_TIMES.heavy,
  });
  const inProject = (endpoint: Endpoint, projectId: ProjectId, path: string): SentCall => ({
    method: endpoint.method,
    path: pathOf(endpoint, { projectId, path }),
    timeout: RELAY_TIMES.heavy,
  });
  return {
    ...createRelayClient(endpoints, deps),
    agentFiles: {
      read: (agentId, path) => sender.blob(at(file, agentId, path)),
      zip: (agentId, path) => sender.blob(at(filesZip, agentId, path)),
      put: (agentId, path, bytes) =>
        sender.done({ ...at(putFile, agentId, path), text: { type: 'application/octet-stream', body: bytes } }),
    },
    filesOfProject: {
      read: (projectId, path) => sender.blob(inProject(projectWorkEndpoints.projectFile, projectId, path)),
      put: (projectId, path, bytes) =>
        sender.done({
          ...inProject(projectWorkEndpoints.putProjectFile, projectId, path),
          text: { type: 'application/octet-stream', body: bytes },
        }),
    },
    configYaml: {
      read: (agentId) =>
        sender.words({ ...call(agentId === null ? householdConfig : agentConfig, agentId), accept: YAML }),
      write: (agentId, yaml) =>
        sender.done({
          ...call(agentId === null ? putHouseholdConfig : putAgentConfig, agentId),
          text: { type: YAML, body: yaml },
        }),
    },
  };
}
