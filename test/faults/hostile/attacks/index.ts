/**
 * Every kind of attack that is mixed. Each is a small file of its own; a further one needs its file
 * and a line here.
 */
import type { Attack } from '../attack.ts';
import { addresses } from './addresses.ts';
import { approvals } from './approvals.ts';
import { bodies } from './bodies.ts';
import { clients } from './clients.ts';
import { commands } from './commands.ts';
import { cookieAlone } from './cookie-alone.ts';
import { exportFiles } from './exports.ts';
import { folders } from './folders.ts';
import { forges } from './forges.ts';
import { guesses } from './guesses.ts';
import { imports } from './imports.ts';
import { models } from './models.ts';
import { otherHousehold } from './other-household.ts';
import { pairing } from './pairing.ts';
import {
  heavyWork,
  hostileRepository,
  manyDiffs,
  modelPaths,
  projectRecords,
  registeredClients,
  repositoryPlaces,
  scopes,
  spendingWebhooks,
} from './projects.ts';
import { routes } from './routes.ts';
import { sockets } from './sockets.ts';
import { streams } from './streams.ts';
import { toolServers } from './tool-servers.ts';

export const ATTACKS: readonly Attack[] = [
  addresses,
  approvals,
  bodies,
  clients,
  commands,
  cookieAlone,
  exportFiles,
  folders,
  forges,
  guesses,
  heavyWork,
  hostileRepository,
  imports,
  manyDiffs,
  modelPaths,
  models,
  otherHousehold,
  pairing,
  projectRecords,
  registeredClients,
  repositoryPlaces,
  routes,
  scopes,
  sockets,
  spendingWebhooks,
  streams,
  toolServers,
];
