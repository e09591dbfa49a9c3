/** Devices to test with. */
import type { DeviceView, SyncStatus } from '../../../../src/shared/protocol/sync/page.ts';
import { NOW } from './household.ts';

export type SharedStatus = Extract<SyncStatus, { kind: 'shared' }>;

export const device = (name: string, more: Partial<DeviceView> = {}): DeviceView => ({
  deviceId: `device-${name.toLowerCase()}`,
  name,
  self: false,
  addedAt: NOW - 3 * 86_400_000,
  lastSeen: NOW - 26 * 3_600_000,
  online: false,
  direct: false,
  came: { kind: 'let-in', by: 'Laptop', time: NOW - 3 * 86_400_000 },
  along: [],
  ...more,
});

export const LAPTOP = device('Laptop', { self: true, lastSeen: NOW, online: true, came: { kind: 'first' } });

export const sharedStatus = (more: Partial<SharedStatus> = {}): SharedStatus => ({
  kind: 'shared',
  household: 'household-1',
  deviceId: LAPTOP.deviceId,
  link: 'live',
  files: true,
  devices: [LAPTOP],
  toSend: 0,
  backlog: null,
  attachments: 0,
  arriving: [],
  phrase: false,
  newer: 0,
  ahead: null,
  refused: 0,
  trouble: null,
  ...more,
});

export const SIX = ['ladder', 'orbit', 'velvet', 'crane', 'mimic', 'sunset'];
export const OFFER = 'ROOST1.mVyZ0c3RhcnQtYS1rZXktb2YtYS1uZXctZGV2aWNl';
