/** Every endpoint of the relay. It starts only where each has its handler. */
import { attachedEndpoints } from './attached.ts';
import { credentialEndpoints, mcpEndpoints } from './clients.ts';
import { callEndpoints } from './calls.ts';
import { costEndpoints } from './costs.ts';
import { deviceCodeEndpoints } from './device-codes.ts';
import type { Endpoints } from './endpoint.ts';
import { modelEndpoints } from './models.ts';
import { notificationEndpoints } from './notifications.ts';
import { programEndpoints } from './programs.ts';
import { proxyEndpoints } from './proxy.ts';
import { recordEndpoints } from './records.ts';
import { homeEndpoints, relayEndpoints, sessionEndpoints } from './session.ts';
import { scheduleEndpoints } from './schedules.ts';
import { searchEndpoints } from './searches.ts';
import { pauseEndpoints } from './pauses.ts';
import { syncEndpoints } from './sync.ts';
import { inboxEndpoints, roomEndpoints, teamEndpoints } from './team.ts';
import { threadEndpoints } from './threads.ts';
import { wakeEndpoints } from './wakes.ts';
import { workspaceEndpoints } from './workspaces.ts';

export const ENDPOINTS = {
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
  ...workspaceEndpoints,
  ...callEndpoints,
  ...modelEndpoints,
  ...programEndpoints,
  ...attachedEndpoints,
  ...notificationEndpoints,
  ...syncEndpoints,
  ...deviceCodeEndpoints,
} satisfies Endpoints;
