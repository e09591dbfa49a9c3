/**
 * What the parts of a device within its household tell upwards. Each takes only lower parts;
 * whoever stands above listens.
 */
import { createEvents, type Events } from '../../../shared/domain/platform/events.ts';
import type { Entry } from '../../../shared/protocol/sync/page.ts';

// A type: an interface has no index signature.
export type DeviceTold = {
  /** Who is of the household, or which keys there are, has changed. */
  members: [];
  /** Entries were stored: documents may have come. */
  stored: [];
  /** What other replicas have, or who of them is there, has changed. */
  peers: [];
  /** Something is known to be missing, or nothing more. */
  backlog: [];
  /** The connection to the relay is another one, or none. */
  link: [];
  /** Somebody has entries of this writer of ours that we never wrote. */
  ahead: [writer: string];
  /** Somebody has other bytes in this place. */
  conflict: [theirs: Entry];
};
export type DeviceEvents = Events<DeviceTold>;
export const createDeviceEvents = (): DeviceEvents => createEvents<DeviceTold>();

/** What happens to the device as a whole, for whoever opened it. */
export type SharedTold = {
  /** The status may have changed. */
  changed: [];
  /** Keys, devices or this device's part have changed. */
  mark: [];
  /** What was lost is here again, or was looked for in every place. */
  returned: [];
  /** Files had what the database did not. */
  found: [];
  /** This device was removed from its household. */
  removed: [];
  /** It is one of a household's devices now that it was not of before. */
  entered: [];
  /** A write into the files failed a while ago: they lack something. */
  lacking: [];
};
export type SharedEvents = Events<SharedTold>;
export const createSharedEvents = (): SharedEvents => createEvents<SharedTold>();
