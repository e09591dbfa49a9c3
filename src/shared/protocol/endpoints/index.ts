/** All endpoints of the relay. The relay starts only if each has a handler. */
import { mcpEndpoints, mcpServerEndpoints } from './mcp.ts';
import { programEndpoints } from './programs.ts';
import { credentialEndpoints, deviceCodeEndpoints, tailnetEndpoints } from './access.ts';
import { approvalEndpoints } from './approvals.ts';
import { costEndpoints } from './costs.ts';
import { dreamEndpoints } from './dreams.ts';
import { examEndpoints } from './exams.ts';
import type { Endpoints } from './endpoint.ts';
import { historyEndpoints } from './history.ts';
import { forgetEndpoints } from './forgets.ts';
import { webhookEndpoints } from './webhooks.ts';
import { memoryEndpoints } from './memories.ts';
import { modelEndpoints, proxyEndpoints } from './models.ts';
import { notificationEndpoints } from './notifications.ts';
import {
  inboxEndpoints,
  pauseEndpoints,
  recordEndpoints,
  roomEndpoints,
  teamEndpoints,
  wakeEndpoints,
} from './team.ts';
import { homeEndpoints, probeEndpoints, relayEndpoints, sessionEndpoints } from './session.ts';
import { obstacleEndpoints } from './obstacles.ts';
import { projectWorkEndpoints } from './project-work.ts';
import { projectEndpoints } from './projects.ts';
import { mappingEndpoints } from './routine-mappings.ts';
import { scheduleEndpoints } from './schedules.ts';
import { snapshotEndpoints } from './snapshots.ts';
import { searchEndpoints, threadEndpoints } from './threads.ts';
import { syncEndpoints } from './sync.ts';
import { workspaceEndpoints } from './workspaces.ts';

export const ENDPOINTS = {
  ...probeEndpoints,
  ...relayEndpoints,
  ...homeEndpoints,
  ...sessionEndpoints,
  ...roomEndpoints,
  ...teamEndpoints,
  ...inboxEndpoints,
  ...wakeEndpoints,
  ...threadEndpoints,
  ...searchEndpoints,
  ...pauseEndpoints,
  ...credentialEndpoints,
  ...mcpEndpoints,
  ...proxyEndpoints,
  ...costEndpoints,
  ...recordEndpoints,
  ...scheduleEndpoints,
  ...snapshotEndpoints,
  ...projectEndpoints,
  ...projectWorkEndpoints,
  ...obstacleEndpoints,
  ...webhookEndpoints,
  ...mappingEndpoints,
  ...forgetEndpoints,
  ...memoryEndpoints,
  ...dreamEndpoints,
  ...examEndpoints,
  ...workspaceEndpoints,
  ...historyEndpoints,
  ...approvalEndpoints,
  ...modelEndpoints,
  ...programEndpoints,
  ...mcpServerEndpoints,
  ...notificationEndpoints,
  ...syncEndpoints,
  ...deviceCodeEndpoints,
  ...tailnetEndpoints,
} satisfies Endpoints;
